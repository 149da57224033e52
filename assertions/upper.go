package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckUpper is the id of the upper bound: in every closed window of length T
// at most b + rT is admitted. It is the arrival curve of a token bucket (Cruz,
// "A calculus for network delay", IEEE Trans. Inf. Theory 37(1), 1991).
const CheckUpper = "bound.upper"

// CheckEnforced is the id of the plainest question: whether the limiter is
// there at all.
const CheckEnforced = "limit.enforced"

// upper asserts the bound for one limit, key by key.
type upper struct {
	*scene
	limit   scenarios.Limit
	tempo   tempo
	slots   []staircase
	refused int64
}

func newUpper(sc *scene, l scenarios.Limit) *upper {
	return &upper{scene: sc, limit: l, tempo: newTempo(l.Rate, l.Slack.Over, sc.length(), l.Burst, roundUp)}
}

func (u *upper) check() string { return CheckUpper }
func (u *upper) trim(int64)    {}

func (u *upper) hear(events []event) {
	for _, e := range events {
		switch {
		case e.kind == tears:
			for i := range u.slots {
				u.slots[i].forget()
			}
		case e.f == nil || e.f.torn:
		case e.kind == starts:
			u.slot(slot(u.limit, e.f.key)).start(e.at)
		default:
			u.slot(slot(u.limit, e.f.key)).end(e.f.from, e.at, u.admitted(e.f.hit))
		}
	}
}

func (u *upper) slot(i int32) *staircase {
	for int(i) >= len(u.slots) {
		u.slots = append(u.slots, staircase{tempo: u.tempo})
	}
	return &u.slots[i]
}

// admitted is what a request was surely admitted for.
func (u *upper) admitted(h *results.Hit) int64 {
	switch h.Outcome {
	case results.Admitted:
		return h.Cost
	case results.Limited:
		u.refused++
	}
	return 0
}

func (u *upper) tell() []results.Finding {
	worst, over, used := -1, 0, 0
	for i := range u.slots {
		if !u.slots[i].any {
			continue
		}
		used++
		if u.excess(i) > 0 {
			over++
		}
		if worst < 0 || u.slots[i].load > u.slots[worst].load {
			worst = i
		}
	}
	if worst < 0 {
		return []results.Finding{{Check: CheckUpper, Limit: u.limit.Name, Text: "nothing was admitted, so nothing could be too much"}}
	}
	f := u.window(worst)
	if over == 0 {
		f.Status = results.Kept
		f.Text = fmt.Sprintf("in no window of length T were more than %d + %v x T admitted", u.limit.Burst, u.limit.Rate)
		return []results.Finding{u.enforced(f), f}
	}
	f.Status = results.Broken
	f.Text = fmt.Sprintf("%s admitted within %s, where burst %d and %v allow %s",
		plural(int64(f.Got), "request"), duration(f.ToNS-f.FromNS), u.limit.Burst, u.limit.Rate, number(f.Allowed))
	if used > 1 {
		f.Text += fmt.Sprintf("; too many on %d of %d keys", over, used)
	}
	return []results.Finding{u.enforced(f), f}
}

func (u *upper) excess(slot int) int64 { return u.slots[slot].load - u.tempo.weigh(u.limit.Burst) }

// window is the finding about the heaviest window of a slot.
func (u *upper) window(slot int) results.Finding {
	k := &u.slots[slot]
	gain := u.tempo.gain(k.to - k.from)
	f := results.Finding{Check: CheckUpper, Limit: u.limit.Name, Key: u.name(u.limit, slot), Unit: "requests"}
	f.FromNS, f.ToNS = u.clock(k.from, k.to)
	f.Got = u.tempo.tokens(k.load + gain)
	f.Allowed = float64(u.limit.Burst) + u.tempo.tokens(gain)
	relation := "<="
	if u.excess(slot) > 0 {
		relation = ">"
	}
	f.Proof = fmt.Sprintf("%s %s %d + %v x %s = %s", number(f.Got), relation,
		u.limit.Burst, u.limit.Rate, duration(f.ToNS-f.FromNS), number(f.Allowed))
	if s := u.limit.Slack; s != (scenarios.Slack{}) {
		f.Proof += fmt.Sprintf(", a clock step of %s and %d ppm granted", duration(int64(s.Quantum)), s.Over)
	}
	return f
}

// enforced answers, from the bound's finding, whether anything is limited.
func (u *upper) enforced(bound results.Finding) results.Finding {
	f := results.Finding{Check: CheckEnforced, Limit: u.limit.Name}
	switch {
	case u.refused > 0:
		f.Status, f.Text = results.Kept, "it refuses ("+plural(u.refused, "refusal")+")"
	case bound.Status == results.Broken:
		f = bound
		f.Check, f.Status = CheckEnforced, results.Broken
		f.Text = fmt.Sprintf("no request was ever limited, although %s were admitted within %s and burst %d and %v allow %s",
			number(f.Got), duration(f.ToNS-f.FromNS), u.limit.Burst, u.limit.Rate, number(f.Allowed))
	default:
		f.Text = "no request was limited, and none had to be: the limiter was not pushed"
	}
	return f
}
