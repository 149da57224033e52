package library

import (
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// spoof makes addresses up in the headers in which proxies write whom they speak
// for. Where clients are told apart by their addresses, one of them also writes
// down another's, who has to find all that is left to it afterwards.
//
// Behind proxies of which so many are trusted, a client may write what it likes in
// front of what those write: that needs no word of anybody.
func spoof() Trap {
	return Trap{
		Name: "spoof", Says: "addresses that are made up in X-Forwarded-For and the like: they bring no budget, and another's address spends none of its",
		Finds: []Kind{Spoofed}, Keys: 1, Asks: identified,
		unfit: func(d *design) string {
			if len(spoofed(d)) > 0 {
				return ""
			}
			return "a word that it makes no difference (--same header:X-Forwarded-For, or --identity for all that can be guessed)"
		},
		called: func(d *design) bool { return len(spoofed(d)) > 0 },
		phases: func(d *design) track {
			parts := spoofed(d)
			t := d.varied("spoof", parts)
			if !d.limit.Key.IsAddress() || d.size < 2 || d.c.Keys == 1 || len(parts) == 0 {
				return t
			}
			// The victim has spent one token of its own, and no more than it has left is
			// asked for on it again.
			next := d.after() + 2*d.c.RTT
			t.phases = append(t.phases, scenarios.Phase{Name: "victim", Rest: t.length, Volley: 1, Keys: scenarios.Keys{Fresh: 1}})
			for i, v := range parts {
				v.Other = "victim"
				v.Values = []string{strings.ReplaceAll(v.Values[0], "{ip}", "{other}")}
				if v.Name == "Forwarded" && d.limit.Key.Kind == scenarios.KeyHeader { // {other} is an element of it
					v.Values[0] = strings.ReplaceAll(v.Values[0], "for={other}", "{other}")
				}
				t.phases = append(t.phases, scenarios.Phase{Name: label("thief", v, i), Rest: t.length + next, Volley: d.over(), Keys: scenarios.Keys{Fresh: 1}, Vary: v})
			}
			t.phases = append(t.phases, scenarios.Phase{Name: "victim-after", Rest: t.length + 2*next + time.Duration(len(parts)*d.over())*scenarios.RequestTime,
				Volley: int(min(d.size-1, scenarios.VolleySize)), Keys: scenarios.Keys{Of: "victim"}})
			t.length += 3*next + time.Duration(len(parts)*d.over())*scenarios.RequestTime
			if d.c.Keys > 0 {
				t.length = longer(t.length, time.Duration(len(parts)+1)*(d.fill+d.fill/20))
			}
			return t
		},
	}
}

// spoofed are the headers that addresses are made up in, each with what is written
// there.
func spoofed(d *design) (parts []scenarios.Vary) {
	k := d.limit.Key
	if k.Trusted > 0 {
		parts = append(parts, scenarios.Vary{Part: scenarios.PartHeader, Name: k.Name, Values: []string{written(k.Name) + ", {key}"}})
	}
	for _, v := range d.declared(forwarding) {
		v.Values = []string{written(v.Name)}
		parts = append(parts, v)
	}
	return parts
}

// written is an address as a header has it.
func written(header string) string {
	if strings.EqualFold(header, "Forwarded") {
		return "for={ip}"
	}
	return "{ip}"
}
