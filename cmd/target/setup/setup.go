// Package setup reads a file that says which server to start, for a reader who
// wants all of its mistakes at once. It stands behind server, whose Config it
// gives, and in front of the program.
package setup

import (
	"math"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios/document"
)

// reading is a file on its way to a Config.
type reading struct {
	cfg     server.Config
	answers dialect.Settings // of routes that do not say
	store   mode.Mode        // of limits that do not say
	routed  bool             // whether routes are given

	limits, listeners []string // names
	parts             []func() // what has to know the defaults
	later             []func() // what has to know all names
}

// Parse reads a file. name is what problems call it. The error holds every
// mistake with its line and column.
func Parse(name string, src []byte) (server.Config, error) {
	doc, err := document.Parse(name, src)
	if err != nil {
		return server.Config{}, err
	}
	var r reading
	root := doc.Root()
	root.Fields(r.fields())
	for _, read := range r.parts {
		read()
	}
	for _, resolve := range r.later {
		resolve()
	}
	if doc.Problems() == 0 && len(r.cfg.Limits) == 0 {
		root.Fail("add limits: [{name: default, algorithm: 'token-bucket{burst=10,rate=5/s}'}]", "no limit is given")
	}
	if err := doc.Err(); err != nil {
		return server.Config{}, err
	}
	if !r.routed {
		r.cfg.Routes = []server.Route{{Limits: r.limits, Answers: r.answers}}
	}
	if err := r.cfg.Check(); err != nil {
		root.Fail("", "%v", err)
	}
	return r.cfg, doc.Err()
}

// fields are those of the file. Its parts are read after its defaults, wherever
// they stand.
func (r *reading) fields() map[string]func(document.Value) {
	part := func(read func(document.Value)) func(document.Value) {
		return func(v document.Value) { r.parts = append(r.parts, func() { read(v) }) }
	}
	return map[string]func(document.Value){
		"admin":           func(v document.Value) { r.cfg.Admin = v.Text() },
		"admin-token":     func(v document.Value) { r.cfg.AdminToken = v.Text() },
		"truth-keep":      func(v document.Value) { r.cfg.TruthKeep = int(v.Int(1, math.MaxInt32)) },
		"max-connections": func(v document.Value) { r.cfg.MaxConns = int(v.Int(1, 1<<20)) },
		"max-waiting":     func(v document.Value) { r.cfg.MaxWaiting = int(v.Int(1, 1<<20)) },
		"nodes":           func(v document.Value) { r.cfg.Nodes = int(v.Int(1, 64)) },
		"node-store":      func(v document.Value) { r.cfg.NodeStore = readMode(v, checkNodeStore) },
		"front":           func(v document.Value) { r.cfg.Front = readMode(v, checkFront) },
		"clock":           r.readClock,
		"answers":         func(v document.Value) { r.answers = readAnswers(v, dialect.Settings{}) },
		"store":           func(v document.Value) { r.store = readMode(v, checkStore) },
		"listeners":       part(r.readListeners),
		"limits":          part(r.readLimits),
		"routes":          part(r.readRoutes),
	}
}

// read hands a value's text to a parser and puts its error at the value, which is
// then read as the zero value.
func read[T any](v document.Value, parse func(string) (T, error)) (x T) {
	before := v.Problems()
	text := v.Text()
	if v.Problems() > before {
		return x
	}
	parsed, err := parse(text)
	if err != nil {
		v.Fail("", "%v", err)
		return x
	}
	return parsed
}

// readMode reads what is written as name{key=value,...}, and checks it. In a
// flow mapping such a text has to be in quotation marks.
func readMode(v document.Value, check func(mode.Mode) error) mode.Mode {
	return read(v, func(s string) (mode.Mode, error) {
		m, err := mode.Parse(s)
		if err != nil {
			return m, err
		}
		return m, check(m)
	})
}

// readText reads a text and checks it.
func readText(v document.Value, check func(string) error) string {
	return read(v, func(s string) (string, error) { return s, check(s) })
}

// readTexts reads a list, or a single text as a list of one, and checks each.
func readTexts(v document.Value, check func(string) error) []string {
	if !v.IsList() {
		return []string{readText(v, check)}
	}
	texts := []string{}
	for _, item := range v.List() {
		texts = append(texts, readText(item, check))
	}
	return texts
}

// anything is the check of a text that can be any.
func anything(string) error { return nil }

// checked puts what is wrong with a whole part at its beginning, unless one of
// its fields is in trouble already.
func checked(v document.Value, before int, check func() error) {
	if v.Problems() > before {
		return
	}
	if err := check(); err != nil {
		v.Fail("", "%v", err)
	}
}
