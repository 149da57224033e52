package scenarios

import "time"

// Doubt is a question about where a breach comes from that a record left open,
// in words that follow 'not known is'.
type Doubt string

// The doubts.
const (
	DoubtOverlap  Doubt = "whether it takes requests that overlap"
	DoubtRouting  Doubt = "whether it depends on the connection"
	DoubtPeriods  Doubt = "when what was spent comes back"
	DoubtMoments  Doubt = "whether it happens to one key or to all at the same moment"
	DoubtCrowds   Doubt = "whether the traffic of other keys causes it"
	DoubtRecurs   Doubt = "whether it happens again"
	DoubtRefusals Doubt = "whether a refusal refuses what follows"
	DoubtSteps    Doubt = "how much comes back at a time, and how often"
	DoubtBeside   Doubt = "whether what one limit refuses costs another one"
)

// Doubts are all of them.
func Doubts() []Doubt {
	return []Doubt{DoubtOverlap, DoubtRouting, DoubtPeriods, DoubtMoments, DoubtCrowds, DoubtRecurs, DoubtRefusals, DoubtSteps, DoubtBeside}
}

// Suspicion is what a broken promise may come from, as far as its record tells.
type Suspicion struct {
	Doubts []Doubt
	Like   []Limit       // limits that explain the record; their periods are asked about
	Span   time.Duration // of a fault that comes and goes: the longest time between two of its moments; 0: there are no two
	Again  []Phase       // in which the promise was broken on one key; their Rest is since the first one's beginning
}

// What the keys of two experiments are called that differ in what was refused to them
// before they are asked for what a small limit has, which is named behind it. All that
// is asked for at last leaves within TwinVolley.
const (
	TwinSpared  = "nothing refused beside "
	TwinRefused = "refused beside "
	TwinVolley  = 20 * time.Millisecond
)
