package library

import (
	"regexp"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Drawn reports whether a scenario of this name was drawn here.
func Drawn(name string) bool { return name == "check" || name == "thorough" }

var numbered = regexp.MustCompile(`-\d+$`)

// Meaning is what a phase of a scenario that is drawn here is for, in the words of the
// trap that it belongs to; empty: it belongs to none.
func Meaning(l scenarios.Limit, phase string) string {
	d, stem := newDesign(l, Circumstances{}), numbered.ReplaceAllString(phase, "")
	for _, t := range Traps() {
		if !t.Asks(l) {
			continue
		}
		for _, p := range d.fit(t).phases {
			if numbered.ReplaceAllString(p.Name, "") == stem {
				return t.Says
			}
		}
	}
	return ""
}
