package assertions

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// losses count why requests were neither admitted nor refused. The zero value is ready.
type losses struct {
	all    reasons
	phases []reasons // by phase
}

// reasons are how often something was the reason, for the first ones that came.
type reasons map[string]int64

// mostReasons bounds how many are told apart, and longestReason their bytes: a server
// may have something new to say each time.
const (
	mostReasons   = 64
	longestReason = 160
)

// ports are the two ends of a connection in an error of package net, of which our
// own has another port each time.
var ports = regexp.MustCompile(` [^ ]+:[0-9]+->[^ ]+:`)

func (l *losses) count(h *results.Hit) {
	if h.Outcome == results.Unknown || h.Outcome == results.Other {
		l.all.add(reasonOf(h))
	}
}

// inPhase counts a request that its phase misses.
func (l *losses) inPhase(h *results.Hit) {
	for int(h.Phase) >= len(l.phases) {
		l.phases = append(l.phases, nil)
	}
	l.phases[h.Phase].add(reasonOf(h))
}

func reasonOf(h *results.Hit) string {
	switch {
	case h.Err != "":
		text := ports.ReplaceAllString(h.Err, ":")
		if len(text) > longestReason {
			text = strings.ToValidUTF8(text[:longestReason], "") + "..."
		}
		return fmt.Sprintf("%q", text)
	case h.Status != 0:
		return fmt.Sprintf("status %d", h.Status)
	}
	return "no answer"
}

func (r *reasons) add(why string) {
	if *r == nil {
		*r = reasons{}
	}
	if _, known := (*r)[why]; known || len(*r) < mostReasons {
		(*r)[why]++
	}
}

// most says, behind what was lost, what was most often the reason; of equals, the
// first in the alphabet. It is empty where nothing was.
func (r reasons) most() string {
	var most string
	for why, n := range r {
		if n > r[most] || n == r[most] && why < most {
			most = why
		}
	}
	switch n := r[most]; n {
	case 0:
		return ""
	case 1:
		return "; most often " + most + " (once)"
	default:
		return fmt.Sprintf("; most often %s (%d times)", most, n)
	}
}

// of is the most frequent reason in a phase.
func (l *losses) of(phase int) string {
	if phase >= len(l.phases) {
		return ""
	}
	return l.phases[phase].most()
}
