package results

// StoppedByProof is why a run ended that was to end with the first proof.
const StoppedByProof = "what was sent is proof enough (--fail-fast)"

// Run is what the generator says of itself, beside the verdict on the limiter.
// Planned = Sent + Missed + InFlight, always.
type Run struct {
	Planned      int64    `json:"planned"`          // shots of the plan and follow-ups that came due: all, unless firing ended early
	Sent         int64    `json:"sent"`             // requests that left and came to an end
	Missed       int64    `json:"missed"`           // shots that were not sent within their tolerance, or not at all
	InFlight     int64    `json:"in_flight_at_end"` // requests that had left without an end on record
	Admitted     int64    `json:"admitted"`         // of Sent, by outcome
	Limited      int64    `json:"limited"`
	Other        int64    `json:"other"`
	Unknown      int64    `json:"unknown"`
	OfferedBurst float64  `json:"offered_burst"` // the smallest bucket that admits, at the promised rate, what was really sent on one key
	PlannedBurst float64  `json:"planned_burst"` // the same of the moments that were planned
	Lateness     Lateness `json:"lateness"`
	LastedNS     int64    `json:"lasted_ns"`         // from the first moment to the last
	Path         string   `json:"path"`              // how requests travelled, such as fast (epoll) or full (net/http)
	Stopped      string   `json:"stopped,omitempty"` // why firing ended before the plan did; empty: it did not
	Phases       []Count  `json:"phases,omitempty"`  // in the plan's order
}

// RecordedBy begins the Path of a record that another program made.
const RecordedBy = "recorded by "

// NotOnRecord is the Path of a run that never came to say how it went: its counts are
// those of what was recorded whole, and what else was sent is not known.
const NotOnRecord = "not on record"

// Lateness is how long after its moment a request was sent, in nanoseconds.
type Lateness struct {
	P50NS int64 `json:"p50_ns"`
	P99NS int64 `json:"p99_ns"`
	MaxNS int64 `json:"max_ns"`
}

// Count is how much of a phase was fired.
type Count struct {
	Name    string `json:"name"`
	Planned int64  `json:"planned"` // that came due
	Sent    int64  `json:"sent"`
	Lost    int64  `json:"lost"` // of Sent: answered by neither an admission nor a refusal, or not at all
}

// Add counts the outcome of a request.
func (r *Run) Add(o Outcome) {
	switch o {
	case Admitted:
		r.Admitted++
	case Limited:
		r.Limited++
	case Other:
		r.Other++
	default:
		r.Unknown++
	}
}
