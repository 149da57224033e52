package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// cost asks for several tokens at a time, where the promise says how. In turn:
// more at once than there is, which a limiter that counts requests lets in; what
// fits for certain, so that any refusal is one too many; then the whole burst,
// which has to be refused, then what must be left, token by token; and on other
// keys more than any waiting would bring, which may be refused in any words, and
// after it as much as a full key holds. A drained key at last asks for several
// tokens as Retry-After says.
//
// With a burst of 20 that is 5 + 5 of 20, then 20, which are not there, then ten
// times 1; and on other keys 21, then 5 four times.
func cost() Trap {
	return Trap{
		Name: "cost", Says: "requests of several tokens: as many are let in as the tokens they ask for, a refused one takes none, and one that is too large for any bucket neither",
		Finds: []Kind{WrongCost, CostlyTooMuch}, Keys: 1, Asks: hasCosts, Regular: true,
		phases: func(d *design) (t track) {
			each := max(2, d.size/4)
			fit := max(1, d.size/2/each)
			left := d.size - fit*each
			small := (left + scenarios.VolleySize - 1) / scenarios.VolleySize // 1, but for large bursts
			n := d.share(3)
			every := 150*time.Millisecond + time.Duration(d.drain())*scenarios.RequestTime
			add := func(name string, rest time.Duration, on scenarios.Keys, volley, tokens int64) {
				p := scenarios.Phase{Name: name, Rest: rest, Keys: on, Every: every, Volley: int(volley)}
				if tokens > 1 {
					p.Cost = tokens
				}
				t.phases = append(t.phases, p)
			}
			fresh := func(n int) scenarios.Keys { return scenarios.Keys{Fresh: n} }
			next := d.after() + 2*d.c.RTT

			add("cost-volley", 0, fresh(n), int64(d.over())/each+2, each)
			t.phases = append(t.phases, scenarios.Phase{Name: "cost-obey", Rest: next, Keys: scenarios.Keys{Of: "cost-volley"}, Every: every,
				Volley: 1, Cost: each, Retry: scenarios.RetryObey})
			add("cost-fits", 0, fresh(n), fit, each)
			add("cost-refused", next, scenarios.Keys{Of: "cost-fits"}, 2, d.size)
			add("cost-left", 2*next, scenarios.Keys{Of: "cost-fits"}, left/small, small)
			// At most two keys: a phase is not fit in which more is answered by neither
			// an admission nor a refusal.
			add("cost-oversize", 0, fresh(min(n, 2)), 1, d.size+1)
			add("cost-after", next, scenarios.Keys{Of: "cost-oversize"}, d.size/each, each)

			t.length = time.Duration(n)*every + 3*next + d.fill + 2*time.Second
			if d.c.Keys > 0 { // each of the three waits until its keys are full
				t.length = longer(t.length, 3*(d.fill+d.fill/20+time.Duration(n)*every+2*next))
			}
			return t
		},
	}
}

// hasCosts: the promise says how a request asks for several tokens,
// and there are enough to ask for a part of them.
func hasCosts(l scenarios.Limit) bool {
	has, _ := l.Contract.Numbers()
	return l.HasCosts() && has.Costs && l.Size() >= 4
}
