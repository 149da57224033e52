package assertions

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckHerd is the id of what becomes of many clients that all do as they are
// told. It is only told: the most exact Retry-After may be the one that brings all
// of them back at once, so that honest and spread are two things.
const CheckHerd = "retry-after.herd"

// herd follows the clients that come back after a refusal, phase by phase.
type herd struct {
	phases []scenarios.Phase
	crowds map[int32]*throng // by phase
}

// throng are the clients of one phase.
type throng struct {
	refused  []int64        // ends of first refusals, nanoseconds
	back     []int64        // when who had been refused left again
	again    int64          // of these, refused again
	admitted int64          // of these, admitted
	known    map[int32]bool // keys that were asked on, where each is one client
}

// fewestBack are the clients that are a crowd.
const fewestBack = 10

func newHerd(phases []scenarios.Phase) *herd {
	return &herd{phases: phases, crowds: map[int32]*throng{}}
}

func (o *herd) check() string { return CheckHerd }
func (o *herd) trim(int64)    {}

func (o *herd) hear(events []event) {
	for _, e := range events {
		if e.kind != ends || !e.f.hit.Answered() {
			continue
		}
		h := e.f.hit
		obeys, alone := o.obeys(h.Phase), o.alone(h.Phase)
		if h.Obeyed == 0 && !obeys && !alone {
			continue
		}
		c := o.crowds[h.Phase]
		if c == nil {
			c = &throng{known: map[int32]bool{}}
			o.crowds[h.Phase] = c
		}
		c.hear(e.f, h.Obeyed != 0 || alone && !obeys && c.known[e.f.key])
	}
}

// alone reports whether each key of a phase is one client that comes back.
func (o *herd) alone(phase int32) bool {
	if phase < 0 || int(phase) >= len(o.phases) {
		return false
	}
	p := &o.phases[phase]
	return p.Returns() > 0 && p.Count+p.Volley == 1
}

// obeys reports whether a request that came back says so itself.
func (o *herd) obeys(phase int32) bool {
	if phase < 0 || int(phase) >= len(o.phases) {
		return false
	}
	p := o.phases[phase].Retry
	return p == scenarios.RetryObey || p == scenarios.RetryJitterUp
}

func (c *throng) hear(f *flight, back bool) {
	limited := f.hit.Outcome == results.Limited
	switch {
	case len(c.back)+len(c.refused) >= sampleSize:
	case !back:
		c.known[f.key] = true
		if limited {
			c.refused = append(c.refused, f.hit.First)
		}
	default:
		c.back = append(c.back, f.hit.Sent)
		switch {
		case limited:
			c.again++
		case f.hit.Outcome == results.Admitted:
			c.admitted++
		}
	}
}

func (o *herd) tell() []results.Finding {
	f := results.Finding{Check: CheckHerd, Level: results.Info}
	var phases []int32
	for i := range o.crowds {
		phases = append(phases, i)
	}
	slices.Sort(phases)
	for _, i := range phases {
		c := o.crowds[i]
		if len(c.back) < fewestBack {
			continue
		}
		factor, text := c.tell(o.policy(i))
		if f.Text == "" || factor > f.Got {
			f.Got, f.Unit = factor, "times"
			f.FromNS, f.ToNS = slices.Min(c.back), slices.Max(c.back)
		}
		if f.Text != "" {
			f.Text += "; "
		}
		f.Text += text
	}
	if f.Text == "" {
		f.Text = fmt.Sprintf("not asked: fewer than %d clients came back in one phase", fewestBack)
	}
	return []results.Finding{f}
}

// policy is what clients of a phase do about a refusal.
func (o *herd) policy(phase int32) scenarios.Retry {
	if phase < 0 || int(phase) >= len(o.phases) {
		return scenarios.RetryObey
	}
	return o.phases[phase].Retry
}

// herdSlot is the time in which those count as one crowd that come back.
const herdSlot = 100 * time.Millisecond

// tell is the herd factor, how many more come back in the fullest 100 ms than if
// they had come evenly over as long a time as they were refused in, and says so.
func (c *throng) tell(policy scenarios.Retry) (factor float64, text string) {
	n := int64(len(c.back))
	text = fmt.Sprintf("%s that %s came back within %s, at most %d in 100 ms", plural(n, "client"), clientWords[policy], duration(reach(c.back)), fullest(c.back))
	if len(c.refused) > 0 {
		slots := max(1, float64(reach(c.refused))/float64(herdSlot))
		factor = float64(fullest(c.back)) * slots / float64(n)
		text += fmt.Sprintf(", %s times as many as if they had come evenly over the %s in which they were refused", digits3(factor), duration(reach(c.refused)))
	}
	text += fmt.Sprintf("; %d of %d were refused again", c.again, n)
	if c.again > 0 && c.admitted > 0 {
		text += fmt.Sprintf(", so that one was admitted for %s that came", digits3(float64(n)/float64(c.admitted)))
	}
	return factor, text
}

// clientWords say what clients do about a refusal.
var clientWords = map[scenarios.Retry]string{
	scenarios.RetryNone:       "waited as told",
	scenarios.RetryObey:       "waited as told",
	scenarios.RetryEarly:      "came a quarter of the wait too early",
	scenarios.RetryJitterUp:   "waited as told and up to half as long again",
	scenarios.RetryJitterDown: "waited for half of it to all of it",
	scenarios.RetryIgnore:     "did not care what they were told",
}

func reach(at []int64) int64 { return slices.Max(at) - slices.Min(at) }

// fullest is how many moments lie within one slot at most, wherever it begins.
func fullest(at []int64) (most int) {
	at = slices.Sorted(slices.Values(at))
	from := 0
	for to := range at {
		for at[to]-at[from] >= int64(herdSlot) {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}
