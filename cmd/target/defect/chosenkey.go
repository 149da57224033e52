package defect

import (
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func chosenKey() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "chosen-key",
			Settings: "part=path|query:NAME|header:NAME|cookie:NAME",
			Example:  "chosen-key{part=query:code}",
			Text:     "The key has one part more, which callers may make up, such as the code in /verify/CODE that they are guessing: each value is a fresh budget.",
		},
		rows:    []string{"D57"},
		reports: []string{"steemit/wallet PR 319", "ruhex/BGPLite issue 423"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			text := r.TextOr("part", "")
			r.Require(text != "", "part", "is missing")
			part, err := key.Parse(text)
			r.Require(err == nil && text != "none", "part", "give path, query:NAME, header:NAME or cookie:NAME")
			if err := r.Done(); err != nil {
				return err
			}
			p.asks(func(r *http.Request, a *store.Ask) bool {
				if value, ok := part.Of(r); ok {
					a.Key += "|" + value
				}
				return true
			})
			return nil
		},
	}
}
