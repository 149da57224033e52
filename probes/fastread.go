package probes

import (
	"net/http"

	"github.com/ratehammer/ratehammer/probes/wire"
	"github.com/ratehammer/ratehammer/results"
)

// reading is what an answer says, but for its Date.
type reading struct {
	status     int32
	outcome    results.Outcome
	retryAfter string
	headers    string
}

// readings reads heads, and keeps what it has read: answers of a server are few
// different ones, told apart by a status and the lines that matter.
type readings struct {
	gun   *Gun
	names map[string]bool     // by name as it was written: whether its lines matter
	named map[string]bool     // canonical names that the declared answers ask for
	known map[string]*reading // by status and lines

	last  *reading // of the head that was read last
	date  string   // of it
	lines []byte
}

// mostKnown is how many different answers, or names, are kept.
const mostKnown = 4096

func newReadings(g *Gun) *readings {
	r := &readings{gun: g, names: map[string]bool{}, named: map[string]bool{}, known: map[string]*reading{}}
	for _, m := range append(g.target.Answers.Admitted.Any, g.target.Answers.Limited.Any...) {
		r.named[m.Header] = m.Header != ""
	}
	return r
}

// read is what an answer says, and its Date.
func (r *readings) read(h *wire.Head) (*reading, string) {
	if h.Again && r.last != nil {
		return r.last, r.date
	}
	r.lines = append(r.lines[:0], byte(h.Status>>8), byte(h.Status))
	dated := false
	for name, value, rest, ok := wire.Next(h.Fields); ok; name, value, rest, ok = wire.Next(rest) {
		matters, seen := r.names[string(name)]
		if !seen {
			matters = r.matters(string(name))
		}
		switch {
		case matters:
			r.lines = append(append(append(append(r.lines, name...), ':'), value...), '\n')
		case !dated && len(name) == len("Date") && http.CanonicalHeaderKey(string(name)) == "Date":
			dated = true
			if r.date != string(value) {
				r.date = string(value)
			}
		}
	}
	if !dated {
		r.date = ""
	}
	if r.last = r.known[string(r.lines)]; r.last == nil {
		r.last = r.new(h.Status)
	}
	return r.last, r.date
}

// matters reports whether lines of this name are on record or decide what an answer means.
func (r *readings) matters(name string) bool {
	canonical := http.CanonicalHeaderKey(name)
	matters := canonical != "Date" && results.SpeaksOfLimits(canonical) || r.named[canonical]
	if len(r.names) >= mostKnown {
		clear(r.names)
	}
	r.names[name] = matters
	return matters
}

// new reads an answer as the full path does.
func (r *readings) new(status int) *reading {
	header := http.Header{}
	for name, value, rest, ok := wire.Next(r.lines[2:]); ok; name, value, rest, ok = wire.Next(rest) {
		header.Add(string(name), string(value))
	}
	var h results.Hit
	r.gun.Read(&h, &http.Response{StatusCode: status, Header: header})
	if len(r.known) >= mostKnown {
		clear(r.known)
	}
	made := &reading{status: h.Status, outcome: h.Outcome, retryAfter: h.RetryAfter, headers: h.Headers}
	r.known[string(r.lines)] = made
	return made
}
