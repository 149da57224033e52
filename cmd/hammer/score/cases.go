package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Group is what a case has to come out as.
type Group string

// The groups.
const (
	Defect Group = "defect" // has to be called broken
	Twin   Group = "twin"   // the same server without its defect: must not be
	Trap   Group = "trap"   // right, and taken for wrong in public: must not be
	Right  Group = "right"  // an algorithm as it should be: must not be
)

// Case is a subject with what it is.
type Case struct {
	Name    string   // as it would be given to target serve
	Group   Group    //
	Rows    []string // of docs/defects.md; nil: it has none
	Defect  string   // its name without settings; empty: it is none
	Unseen  string   // why no client can see it; empty: one can
	Subject Subject
}

// Cases are every defect that the reference server can have, in its forms, each with
// its twin, unless that was there before; every trap; and every algorithm as it
// should be.
func Cases() ([]Case, error) {
	var all []Case
	known := map[string]bool{} // what is right
	right := func(g Group, f form) error {
		name := on(f.on)
		if f.nodes {
			name += twoNodes
		}
		if known[name] {
			return nil
		}
		known[name] = true
		s, err := f.subject()
		all = append(all, Case{Name: name, Group: g, Subject: s})
		return err
	}
	for _, e := range defect.Catalogue() {
		for _, f := range formsOf(e) {
			wrong, err := f.subject(f.mode)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.mode, err)
			}
			name := f.mode
			if f.nodes {
				name += twoNodes
			}
			all = append(all, Case{Name: name, Group: Defect, Rows: e.Rows, Defect: e.Name, Unseen: e.Unseen, Subject: wrong})
			if err := right(Twin, f); err != nil {
				return nil, fmt.Errorf("twin of %s: %w", f.mode, err)
			}
		}
	}
	for _, t := range defect.Traps() {
		s, err := trap(t)
		if err != nil {
			return nil, fmt.Errorf("trap %s: %w", t.Name, err)
		}
		all = append(all, Case{Name: t.Name, Group: Trap, Rows: t.Rows, Subject: s})
	}
	for _, d := range limiter.List() {
		if err := right(Right, form{on: defect.On{Limit: d.Example}}); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	return all, nil
}

// twoNodes is said of a server of two nodes.
const twoNodes = " 2 nodes 1s apart"

// subject is the server that a form is seen on, with the defects that are given.
func (f form) subject(defects ...string) (Subject, error) {
	s, err := shown(f.on, defects...)
	if err == nil && f.nodes {
		s.Config.Nodes = 2
		s.Config.Clock, err = clock.ParseScript("node 2 step -1s")
	}
	return s, err
}

// trap is a server that is right and looks wrong, of at most two limits.
func trap(t defect.Trap) (Subject, error) {
	o := defect.On{Limit: t.Limits[0], Fields: t.Fields, Deeds: t.Deeds}
	if len(t.Limits) > 1 {
		o.Beside = t.Limits[1]
	}
	s, err := shown(o)
	for i := range s.Config.Limits {
		s.Config.Limits[i].BestEffort = t.BestEffort
	}
	return s, err
}

// on is where a defect is seen, in words that can be put together. Of what is the
// same there is one way to write it.
func on(o defect.On) string {
	words := []string{cmp.Or(o.Limit, server.DefaultLimit)}
	for _, w := range []string{o.Key, o.Beside, o.CostHeader, o.CostBody, o.Mode, o.RetryAfter, o.Fields, o.Store, strings.Join(o.Deeds, " ")} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.ReplaceAll(strings.Join(words, " "), "/1s", "/s")
}

// defaultKey is what clients are told apart by where nothing else is said.
const defaultKey = "header:X-Api-Key"

// shown is the server that a defect is seen on, with the defects that are given.
func shown(o defect.On, defects ...string) (Subject, error) {
	var r reader
	text := cmp.Or(o.Key, defaultKey)
	k := r.key(text)
	l := server.Limit{Name: server.DefaultName, Algorithm: r.mode(cmp.Or(o.Limit, server.DefaultLimit)), Key: k, CostHeader: o.CostHeader, CostBody: o.CostBody}
	if o.Store != "" {
		l.Store = r.mode(o.Store)
	}
	for _, d := range defects {
		l.Defects = append(l.Defects, r.mode(d))
	}
	cfg := server.Config{Limits: []server.Limit{l}}
	rt := server.Route{Limits: []string{l.Name}, Answers: dialect.Settings{RetryAfter: o.RetryAfter}}
	if o.Beside != "" {
		cfg.Limits = append(cfg.Limits, server.Limit{Name: "beside", Algorithm: r.mode(o.Beside), Key: k, CostHeader: o.CostHeader, CostBody: o.CostBody})
		rt.Limits = append(rt.Limits, "beside")
	}
	if o.Mode != "" {
		rt.Mode = r.mode(o.Mode)
	}
	if o.Fields != "" {
		rt.Answers.Fields = strings.Split(o.Fields, ",")
	}
	cfg.Routes = []server.Route{rt}
	s := Subject{Config: cfg, Key: asSeen(text), Deeds: o.Deeds, Keeps: o.Keeps}
	if strings.Contains(o.Mode, "early=counted") {
		s.Counts, s.Same = true, []scenarios.Vary{{Part: scenarios.PartBody, Values: []string{"{"}}}
	}
	return s, r.err
}

// alignOf is what a user would say of the windows that the promise speaks of: that
// each key opens its own is part of it, where a common grid lies is not known.
func alignOf(m mode.Mode) scenarios.Align {
	for _, s := range m.Settings {
		if s.Key == "align" && s.Value == string(scenarios.AlignFirstHit) {
			return scenarios.AlignFirstHit
		}
	}
	return ""
}

// asSeen is what hammer would be told the clients are told apart by.
func asSeen(text string) scenarios.Key {
	word, _, _ := strings.Cut(text, "{")
	if word == "none" || word == "path" {
		return scenarios.Key{}
	}
	k, err := scenarios.ParseKey(text)
	if err != nil {
		k, _ = scenarios.ParseKey(word) // with settings of the server's own
	}
	if k.Trusted > 0 && k.IPv6 == 0 {
		k.IPv6 = serverPrefix
	}
	return k
}

// serverPrefix is by how many bits of an IPv6 address the reference server tells
// clients apart, unless it was told otherwise.
const serverPrefix = 64

// reader keeps the first error of texts that are in the program.
type reader struct{ err error }

func (r *reader) mode(s string) mode.Mode {
	m, err := mode.Parse(s)
	r.err = cmp.Or(r.err, err)
	return m
}

func (r *reader) key(s string) key.Key {
	k, err := key.Parse(s)
	r.err = cmp.Or(r.err, err)
	return k
}

// Named are the cases whose name begins with one of the words, or whose row or group
// is one of them; all, if there are none.
func Named(all []Case, words []string) []Case {
	if len(words) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Case) bool {
		return !slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(c.Name, w) || string(c.Group) == w || slices.Contains(c.Rows, w)
		})
	})
}
