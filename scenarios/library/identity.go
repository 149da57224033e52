package library

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Who a client is, a limit says by its key. The traps of identity keep the key as
// it is and make one other thing of each request another: the promise is the same
// as ever then, and the same bounds judge it. A budget that is new with each value
// shows as too much on the key, one that somebody else has spent as a refusal of
// its owner. Since a limiter may well be right to tell clients apart by more than
// its key, such as one with a limit for each path, nothing is varied that was not
// declared to make no difference.

// Identity is all that makes no difference where the key and nothing else tells
// clients apart, as far as names can be guessed: what proxies write of whom they
// speak for, and what callers may invent.
func Identity(k scenarios.Key) (all []scenarios.Vary) {
	for _, v := range []scenarios.Vary{
		{Part: scenarios.PartHeader, Name: "X-Forwarded-For"},
		{Part: scenarios.PartHeader, Name: "X-Real-IP"},
		{Part: scenarios.PartHeader, Name: "Forwarded"},
		{Part: scenarios.PartHeader, Name: "X-Api-Key"},
		{Part: scenarios.PartHeader, Name: "User-Agent"},
		{Part: scenarios.PartQuery, Name: "code"},
		{Part: scenarios.PartCookie, Name: "session"},
		{Part: scenarios.PartConnection},
	} {
		if !own(k, v) {
			all = append(all, v)
		}
	}
	return all
}

// own reports whether it is the very thing that clients are told apart by.
func own(k scenarios.Key, v scenarios.Vary) bool {
	switch v.Part {
	case scenarios.PartHeader:
		return k.Kind == scenarios.KeyHeader && strings.EqualFold(k.Name, v.Name)
	case scenarios.PartQuery:
		return k.Kind == scenarios.KeyQuery && k.Name == v.Name
	case scenarios.PartCookie:
		return k.Kind == scenarios.KeyCookie && k.Name == v.Name
	}
	return false
}

// identified: clients are told apart.
func identified(l scenarios.Limit) bool { return l.Key.Kind != scenarios.KeyNone }

// forwarding are headers in which proxies write whom they speak for.
func forwarding(v scenarios.Vary) bool {
	return v.Part == scenarios.PartHeader && scenarios.Key{Kind: scenarios.KeyHeader, Name: v.Name}.IsAddress()
}

// declared are the parts that make no difference and that a trap is for.
func (d *design) declared(wanted func(scenarios.Vary) bool) (parts []scenarios.Vary) {
	for _, v := range d.c.Same {
		if wanted(v) && !own(d.limit.Key, v) && !slices.ContainsFunc(parts, v.Equal) {
			parts = append(parts, v)
		}
	}
	return parts
}

// calls reports whether there are any.
func calls(wanted func(scenarios.Vary) bool) func(*design) bool {
	return func(d *design) bool { return len(d.declared(wanted)) > 0 }
}

// undeclared says so where there are none.
func undeclared(wanted func(scenarios.Vary) bool, example string) func(*design) string {
	return func(d *design) string {
		if calls(wanted)(d) {
			return ""
		}
		return "a word that it makes no difference (" + example + ")"
	}
}

// varied is a trap's track: for each part a volley that a bucket has to refuse a
// good part of, on keys of its own.
func (d *design) varied(name string, parts []scenarios.Vary) (t track) {
	n, every := d.share(2), 150*time.Millisecond+time.Duration(d.over())*scenarios.RequestTime
	if d.c.Keys > 0 {
		n = 1
	}
	for i, v := range parts {
		t.phases = append(t.phases, scenarios.Phase{Name: label(name, v, i), Rest: t.length, Volley: d.over(), Every: every,
			Keys: scenarios.Keys{Fresh: n}, Vary: v})
		t.length += time.Duration(n) * every
		if d.c.Keys > 0 { // each waits until its key is full again
			t.length = longer(t.length, d.fill+d.fill/20)
		}
	}
	t.length = longer(t.length, d.c.RTT)
	return t
}

// label names a phase, and so the keys of the phase on the wire.
func label(trap string, v scenarios.Vary, i int) string {
	if v.Name == "" {
		return fmt.Sprintf("%s-%d", trap, i+1)
	}
	return trap + "-" + strings.ToLower(v.Name)
}
