package results

// Cause is what probably made a limiter break its promise: a conjecture beside
// the proof, never a part of it. Another limit, or a kind of fault, was held
// against the record and explains it. Numbers that do not apply are zero.
type Cause struct {
	ID       string   `json:"cause"`              // stable dotted id, such as contract.fixed-window
	Text     string   `json:"text"`               // one sentence
	Limit    string   `json:"limit"`              // name of the broken limit
	Contract string   `json:"contract,omitempty"` // that the limiter behaves like; empty: the cause is none
	Burst    int64    `json:"burst,omitempty"`    // tokens, of a contract that has one
	Rate     string   `json:"rate,omitempty"`     // tokens per time, or how many in a window, such as 10/2s
	Align    string   `json:"align,omitempty"`    // of windows or lumps: grid, or first-hit; empty: they have none
	PhaseNS  *int64   `json:"phase_ns,omitempty"` // of a grid: the first edge since the run's start, nanoseconds; absent: no grid
	Factor   float64  `json:"factor,omitempty"`   // by which the promised numbers are multiplied, where a multiple explains it
	AtNS     []int64  `json:"at_ns,omitempty"`    // when it happened, nanoseconds since the run's start; absent: all along
	Explains float64  `json:"explains"`           // share of the run's requests that it was held against and explains, 0 to 1
	Tried    int      `json:"tried"`              // explanations that were tried, this one included
	Only     bool     `json:"only"`               // none of the others explains the record
	Reasons  []string `json:"reasons,omitempty"`  // what else speaks for it, a sentence each
}
