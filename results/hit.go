package results

import (
	"fmt"
	"math"
)

// Outcome is what became of one request, as seen by the client.
type Outcome uint8

// The outcomes. The zero value is the one that proves nothing.
const (
	// Unknown: no answer, an answer that nobody declared, or a request that the
	// transport sent twice. It may have been admitted, and may have cost a token.
	Unknown Outcome = iota
	// Admitted: answered as the declared answers say for an admitted request.
	Admitted
	// Limited: refused by the limiter.
	Limited
	// Other: answered by something that is not the limiter, such as 413 or 401.
	// It may have cost a token all the same.
	Other
)

var outcomeNames = [...]string{"unknown", "admitted", "limited", "other"}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// ParseOutcome reads what String prints.
func ParseOutcome(s string) (Outcome, error) {
	for i, name := range outcomeNames {
		if s == name {
			return Outcome(i), nil
		}
	}
	return Unknown, fmt.Errorf("%q is not an outcome: unknown, admitted, limited or other", s)
}

// OutcomeOf is the outcome of a request whose answer had this status, by whether
// the declared answers count it among refusals and among admissions.
func OutcomeOf(status int, limited, admitted bool) Outcome {
	switch {
	case limited:
		return Limited
	case admitted:
		return Admitted
	case status >= 500:
		return Unknown // the limiter may have let it through to what failed
	}
	return Other
}

// Never is the end of a request that was not answered while the run lasted.
const Never = math.MaxInt64

// Hit is one request that was sent, as it was recorded. All times are in
// nanoseconds since the run's start on the monotonic clock. The decision of the
// limiter lies in the closed interval from Sent to First.
type Hit struct {
	Seq     int64 // place in the plan, from 1; follow-ups come behind the planned shots
	Phase   int32 // index of the phase in the plan
	Conn    int32 // id of the connection, from 1; 0: none was opened
	Key     string
	Peer    string // address that was connected to
	Cost    int64  // tokens asked for, at least 1
	Planned int64  // when it was due
	Sent    int64  // before its first byte could leave
	First   int64  // after the first byte of the answer; Never: not answered
	Done    int64  // after its last byte, or when it was given up
	Fresh   bool   // it was the connection's first request
	Outcome Outcome
	Status  int32 // HTTP status; 0: none
	Obeyed  int64 // Seq of the refusal whose Retry-After this request waited for; 0: none

	RetryAfter string // raw text of the header; empty: absent
	Date       string // raw text of the header; empty: absent
	Headers    string // other header lines about limits, "name: value", lower-case names, one a line
	Err        string // what went wrong; empty: nothing
}

// NoAnswer is the Err of a request that was given up after the target's timeout.
const NoAnswer = "no answer in time"

// GivenUp reports whether nobody had answered when the client gave up by itself.
func (h *Hit) GivenUp() bool { return !h.Answered() && h.Err == NoAnswer }

// Answered reports whether an answer came, so that First is a moment.
func (h *Hit) Answered() bool { return h.First != Never }

// Spends reports whether the request may have taken tokens: everything but a
// refusal.
func (h *Hit) Spends() bool { return h.Outcome != Limited }

// MarkKind is what a Mark tells of.
type MarkKind string

// The kinds of mark.
const (
	MarkPhase MarkKind = "phase"     // a phase began; Text is its name
	MarkStall MarkKind = "own-stall" // hammer itself did not run for Size
	MarkWall  MarkKind = "wall-jump" // the client's wall clock moved by Size against the monotonic one
	MarkSleep MarkKind = "suspended" // the client was suspended for Size, which its monotonic clock does not show
	MarkMiss  MarkKind = "missed"    // a shot was not sent in time; Seq is its place in the plan
	MarkStop  MarkKind = "stopped"   // firing ended before the plan did; Text says why
	MarkLost  MarkKind = "lost"      // requests that were sent from At on and had ended by To may be missing from the record
	MarkClock MarkKind = "clock"     // the server's wall clock, or its store's, was moved on purpose, by Size where it was a step
	MarkFault MarkKind = "fault"     // something else was done to the server or its store on purpose
	MarkUndo  MarkKind = "undone"    // what was done was taken back, as Text says
	MarkStuck MarkKind = "stuck"     // what was done was not taken back, or nobody knows, as Text says
)

// Mark is an event on the run's clock that is not a request.
type Mark struct {
	At    int64    `json:"at_ns"` // nanoseconds since the run's start: the last moment before it can have begun
	To    int64    `json:"to_ns"` // the first moment at which it was surely over
	Kind  MarkKind `json:"kind"`
	Size  int64    `json:"size_ns,omitempty"` // nanoseconds; 0: does not apply
	Seq   int64    `json:"seq,omitempty"`     // of the shot it belongs to; 0: none
	Text  string   `json:"text,omitempty"`    // for people
	Act   string   `json:"act,omitempty"`     // of a clock or a fault: what was done, as scenarios.Act names it
	On    string   `json:"on,omitempty"`      // to what it was done, as scenarios.Action says; empty: the server, all of it
	Free  string   `json:"free,omitempty"`    // of a fault: what may be another while it lasts and behind it, as scenarios.Expect names it; empty: nothing
	Back  bool     `json:"back,omitempty"`    // of a clock or a fault: it took back what another one did
	Doubt string   `json:"doubt,omitempty"`   // of what was done to a store: why it is not proven that it is the server's; empty: it is proven, or does not matter
}

// Tears reports whether the client's clock did not show all the time that
// passed: no window may reach across such a mark.
func (m Mark) Tears() bool {
	return m.Kind == MarkSleep || m.Kind == MarkWall && m.Size > 0
}

// Block is a piece of the record, as it is handed from the recorder to the
// writer and the judge. The blocks of a run together are its timeline. Hits
// come in the order of their ends; Low bounds how far back a later one can
// reach, which is what lets a judge work in one pass.
type Block struct {
	Hits  []Hit
	Marks []Mark
	Low   int64 // no hit of a later block was sent, and no mark of one began, before this moment
}
