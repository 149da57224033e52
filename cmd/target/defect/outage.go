package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func outage() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "outage",
			Settings: "policy=open|closed",
			Example:  "outage{policy=open}",
			Text:     "While the store cannot decide everything is admitted (open) or refused (closed), whatever the store is said to do when it is down.",
		},
		rows:    []string{"D24"},
		on:      On{Store: "memory{down=closed}", Deeds: []string{"/store/cut", "/store/restore"}},
		reports: []string{"SweetSophia/noosphere issue 242", "Emp1500/Code2Flow PR 11"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			word := r.Choice("policy", "open", "open", "closed")
			if err := r.Done(); err != nil {
				return err
			}
			policy, err := store.ParsePolicy(word)
			p.Down = policy
			return err
		},
	}
}
