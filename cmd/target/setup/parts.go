package setup

import (
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios/document"
)

// A field is checked as if it were the only one, so that what is wrong with it is
// told at its place; how fields go together is checked with the whole.

func checkAlgorithm(m mode.Mode) error { return server.Limit{Algorithm: m}.Check() }

func checkStore(m mode.Mode) error { return server.CheckStore(m) }

func checkNodeStore(m mode.Mode) error { return server.Config{NodeStore: m}.Check() }

func checkFront(m mode.Mode) error { return server.Config{Front: m}.Check() }

func checkMode(m mode.Mode) error { return server.Route{Mode: m}.Check() }

func checkPath(s string) error { return server.Route{Path: s}.Check() }

func checkOrigin(s string) error { return server.Route{Origins: []string{s}}.Check() }

// readClock reads a script, or a list of them.
func (r *reading) readClock(v document.Value) {
	items := []document.Value{v}
	if v.IsList() {
		items = v.List()
	}
	for _, item := range items {
		r.cfg.Clock = append(r.cfg.Clock, read(item, clock.ParseScript)...)
	}
}

func (r *reading) readListeners(v document.Value) {
	for _, item := range v.List() {
		var l server.Listener
		before, name := item.Problems(), item
		item.Fields(map[string]func(document.Value){
			"name": func(v document.Value) { l.Name, name = v.Text(), v },
			"address": func(v document.Value) {
				l.Address, name = readText(v, func(s string) error { return server.Listener{Address: s}.Check() }), v
			},
			"tls": func(v document.Value) { l.TLS = v.Bool() },
			"http": func(v document.Value) {
				l.HTTP = readText(v, func(s string) error { return server.Listener{HTTP: s}.Check() })
			},
		})
		checked(item, before, l.Check)
		called := l.Name
		if called == "" {
			called = l.Address
		}
		r.listeners = unique(name, called, r.listeners)
		r.cfg.Listeners = append(r.cfg.Listeners, l)
	}
}

func (r *reading) readLimits(v document.Value) {
	for _, item := range v.List() {
		l := server.Limit{Store: r.store}
		before, name, algorithm := item.Problems(), item, false
		item.Fields(map[string]func(document.Value){
			"name":        func(v document.Value) { l.Name, name = v.Text(), v },
			"algorithm":   func(v document.Value) { l.Algorithm, algorithm = readMode(v, checkAlgorithm), true },
			"key":         func(v document.Value) { l.Key = read(v, key.Parse) },
			"cost-header": func(v document.Value) { l.CostHeader = v.Text() },
			"cost-body":   func(v document.Value) { l.CostBody = v.Text() },
			"store":       func(v document.Value) { l.Store = readMode(v, checkStore) },
			"best-effort": func(v document.Value) { l.BestEffort = v.Bool() },
			"fallback":    func(v document.Value) { l.Fallback = readMode(v, checkAlgorithm) },
			"defects": func(v document.Value) {
				for _, item := range v.List() {
					l.Defects = append(l.Defects, readMode(item, func(mode.Mode) error { return nil }))
				}
			},
		})
		switch {
		case item.Problems() > before: // what is missing may only be misspelt
		case l.Name == "":
			item.Fail("add name: default, by which routes and answers call it", "the limit has no name")
		case !algorithm:
			item.Fail("add algorithm: 'token-bucket{burst=10,rate=5/s}'", "the limit has no algorithm")
		}
		checked(item, before, l.Check)
		r.limits = unique(name, l.Name, r.limits)
		r.cfg.Limits = append(r.cfg.Limits, l)
	}
}

func (r *reading) readRoutes(v document.Value) {
	r.routed = true
	for _, item := range v.List() {
		rt := server.Route{Answers: r.answers}
		before, limited := item.Problems(), false
		item.Fields(map[string]func(document.Value){
			"path":    func(v document.Value) { rt.Path = readText(v, checkPath) },
			"listen":  func(v document.Value) { rt.Listeners = r.readNames(v, "listener", &r.listeners) },
			"limits":  func(v document.Value) { rt.Limits, limited = r.readNames(v, "limit", &r.limits), true },
			"mode":    func(v document.Value) { rt.Mode = readMode(v, checkMode) },
			"answers": func(v document.Value) { rt.Answers = readAnswers(v, r.answers) },
			"exempt":  func(v document.Value) { rt.Exempt = readTexts(v, checkPath) },
			"head": func(v document.Value) {
				rt.Head = readText(v, func(s string) error { return server.Route{Head: s}.Check() })
			},
			"options": func(v document.Value) {
				rt.Options = readText(v, func(s string) error { return server.Route{Options: s}.Check() })
			},
			"origins": func(v document.Value) { rt.Origins = readTexts(v, checkOrigin) },
		})
		if item.Problems() == before && !limited {
			item.Fail("add limits: [NAME], or limits: [] for a route without any", "the route names no limits")
		}
		checked(item, before, rt.Check)
		r.cfg.Routes = append(r.cfg.Routes, rt)
	}
}

// readAnswers reads how answers are worded; what is not said stays.
func readAnswers(v document.Value, s dialect.Settings) dialect.Settings {
	before := v.Problems()
	v.Fields(map[string]func(document.Value){
		"status": func(v document.Value) { s.Status = int(v.Int(400, 599)) },
		"retry-after": func(v document.Value) {
			s.RetryAfter = readText(v, func(f string) error { return dialect.Settings{RetryAfter: f}.Check() })
		},
		"fields": func(v document.Value) {
			s.Fields = readTexts(v, func(f string) error { return dialect.Settings{Fields: []string{f}}.Check() })
		},
	})
	checked(v, before, s.Check)
	return s
}

// unique adds a name, which must not be taken. One that could not be read is
// empty and has its problem.
func unique(v document.Value, name string, taken []string) []string {
	if name != "" && slices.Contains(taken, name) {
		v.Fail("names must differ", "%q is taken already", name)
	}
	return append(taken, name)
}

// readNames reads the names of other parts of the file, which all have to be
// there once it has been read.
func (r *reading) readNames(v document.Value, what string, all *[]string) []string {
	texts := readTexts(v, anything)
	items := []document.Value{v}
	if v.IsList() {
		items = v.List()
	}
	r.later = append(r.later, func() {
		for i, item := range items {
			if texts[i] != "" && !slices.Contains(*all, texts[i]) {
				item.Fail(document.Nearest(texts[i], *all), "%s %q is not known", what, texts[i])
			}
		}
	})
	return texts
}
