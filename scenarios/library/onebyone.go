package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// oneByOne asks for what a volley asks for, no two requests at the same time: they
// all go over one connection then. A limiter that decides before it has counted
// is right here, and one that cannot count is as wrong as ever.
func oneByOne() experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtOverlap, scenarios.DoubtRouting}, Trap: Trap{
		Name: "one by one", Says: "what a volley asks for, one request after the other over one connection",
		Keys: 1, Asks: hasRate,
		unfit:  func(d *design) string { return d.tooFast(d.alone()) },
		phases: func(d *design) track { return d.sequence("one by one", d.share(3), d.size+3, d.alone(), false) },
	}}
}

// apart asks the same with a connection for each request: where each instance
// behind a balancer has a budget of its own, or a part of one, connections tell
// them apart. It asks for enough to see four whole budgets.
func apart() experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtRouting}, Trap: Trap{
		Name: "apart", Says: "the same, each request on a connection of its own",
		Keys: 1, Asks: hasRate,
		unfit: func(d *design) string { return d.tooFast(d.connected()) },
		phases: func(d *design) track {
			return d.sequence("apart", d.share(2), min(4*d.size, d.size+300)+3, d.connected(), true)
		},
	}}
}

// alone is the time from one request to the next that does not overlap with it,
// also on a busy machine where there is time for it; connected is the same with a
// connection to be opened.
func (d *design) alone() time.Duration {
	return max(3*d.c.RTT+2*time.Millisecond, min(12*time.Millisecond, d.token/4))
}

func (d *design) connected() time.Duration {
	return max(6*d.c.RTT+3*time.Millisecond, min(20*time.Millisecond, d.token/4))
}

// tooFast says so where a bucket cannot be emptied by one request after the other.
func (d *design) tooFast(gap time.Duration) string {
	if d.token >= 2*gap {
		return ""
	}
	return fmt.Sprintf("time: one more is admitted every %v, and one request after the other takes %v", d.token, gap)
}

// sequence asks for n tokens and those that come meanwhile, a request every gap.
func (d *design) sequence(name string, keys int, n int64, gap time.Duration, apart bool) track {
	// Of count requests count*gap/token are for tokens that came meanwhile.
	count := int(float64(n)/(1-float64(gap)/float64(d.token))) + 1
	each := time.Duration(count) * gap
	p := scenarios.Phase{Name: name, Pace: scenarios.Rate{Count: 1, Per: gap}, Count: count, Keys: scenarios.Keys{Fresh: keys}, Every: each + gap, Apart: apart}
	return track{phases: []scenarios.Phase{p}, length: time.Duration(keys)*(each+gap) + d.c.RTT}
}

// atOnce repeats the volley, larger by far: of a race more of it passes, and not
// the same each time; of several budgets the same.
func atOnce() experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtOverlap}, Trap: Trap{
		Name: "at once", Says: "volleys that are larger by far",
		Keys: 1, Asks: always,
		phases: func(d *design) track {
			n, size := d.share(3), min(max(2*d.over(), int(4*d.size)+10), 2*scenarios.VolleySize)
			every := 150*time.Millisecond + time.Duration(size)*scenarios.RequestTime
			return track{
				length: time.Duration(n)*every + d.c.RTT,
				phases: []scenarios.Phase{{Name: "at once", Volley: size, Every: every, Keys: scenarios.Keys{Fresh: n}}},
			}
		},
	}}
}
