package results

import (
	"fmt"
)

// Status is the answer to one question about a limiter.
type Status uint8

// The statuses. The zero value claims nothing.
const (
	Inconclusive Status = iota
	Kept
	Broken
)

var statusNames = [...]string{"inconclusive", "kept", "broken"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText gives the name of the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText gives.
func (s *Status) UnmarshalText(b []byte) error {
	for i, name := range statusNames {
		if string(b) == name {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a status: inconclusive, kept or broken", b)
}

// Merge is the status of two questions taken together: broken wins over
// inconclusive, and inconclusive over kept.
func (s Status) Merge(t Status) Status {
	rank := [...]int{Inconclusive: 1, Kept: 0, Broken: 2}
	if rank[t] > rank[s] {
		return t
	}
	return s
}

// Level is how much a finding weighs in the verdict.
type Level uint8

// The levels. The zero value weighs in full.
const (
	Must   Level = iota // part of the promise
	Should              // advice of a specification: weighs in only under --strict
	Info                // does not weigh in; says what was not asked, and why
)

var levelNames = [...]string{"must", "should", "info"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// MarshalText gives the name of the level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText gives.
func (l *Level) UnmarshalText(b []byte) error {
	for i, name := range levelNames {
		if string(b) == name {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a level: must, should or info", b)
}

// Finding is the answer of one assertion about one limit, with its evidence.
type Finding struct {
	Check   string  `json:"check"`             // stable dotted id, such as bound.upper
	Status  Status  `json:"status"`            //
	Level   Level   `json:"level"`             //
	Limit   string  `json:"limit,omitempty"`   // name of the limit; empty: the run itself
	Key     string  `json:"key,omitempty"`     // the client concerned; empty: all of them
	FromNS  int64   `json:"from_ns"`           // start of the window, nanoseconds since the run's start
	ToNS    int64   `json:"to_ns"`             // its end; both 0: no window
	Got     float64 `json:"got"`               // what was seen, in Unit; rounded for people, the verdict was exact
	Allowed float64 `json:"allowed"`           // what was promised, in Unit; likewise
	Unit    string  `json:"unit,omitempty"`    // of Got and Allowed: requests, tokens, s; empty: neither applies
	Seqs    []int64 `json:"seqs,omitempty"`    // the requests that prove it, in the order they were sent
	Text    string  `json:"text"`              // the answer in one sentence
	Proof   string  `json:"proof,omitempty"`   // the inequality with its numbers
	Recheck string  `json:"recheck,omitempty"` // command that judges the saved record again
}

// Resolution is the smallest error that a run would have caught: every bucket
// outside the four bounds is refuted by the record. A bound that is absent was
// not refuted at any value tried.
type Resolution struct {
	Limit     string   `json:"limit"`
	BurstLow  *int64   `json:"burst_low"`         // a bucket of this burst or less is refuted
	BurstHigh *int64   `json:"burst_high"`        // a bucket of this burst or more is refuted
	RateLow   *float64 `json:"rate_low"`          // tokens a second: this rate or less is refuted
	RateHigh  *float64 `json:"rate_high"`         // this rate or more is refuted
	RatePct   *float64 `json:"rate_pct"`          // the larger distance of the two from the promised rate, in percent; absent: one side is open
	WantedPct float64  `json:"wanted_pct"`        // what was asked for
	Refuted   bool     `json:"refuted,omitempty"` // the promise itself is, so that no error in it can be looked for
	Unbound   bool     `json:"unbound,omitempty"` // nothing is promised, so that there is nothing to be in error
}

// Verdict is the conclusion of a run: what its findings come to.
type Verdict struct {
	Status      Status       `json:"verdict"`
	Headline    string       `json:"headline"` // the answer in one line
	Findings    []Finding    `json:"findings"`
	Resolutions []Resolution `json:"resolution"`
	Causes      []Cause      `json:"causes,omitempty"` // of what is broken, the likeliest first; a conjecture
}

// Merge gives the status of findings taken together. Nothing checked is
// inconclusive. With strict, advice weighs as much as the promise.
func Merge(findings []Finding, strict bool) Status {
	status, asked := Kept, false
	for _, f := range findings {
		if f.Level == Info || f.Level == Should && !strict {
			continue
		}
		asked = true
		status = status.Merge(f.Status)
	}
	if !asked {
		return Inconclusive
	}
	return status
}
