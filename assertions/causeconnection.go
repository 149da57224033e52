package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// byConnection tells what depends on the connection from what does not.
func (d *diagnosis) byConnection([]results.Cause) (c results.Cause, ok bool) {
	alone, apart := d.inquire(aloneTrials), d.inquire(apartTrials)
	if alone.n == 0 || apart.n == 0 {
		return c, false
	}
	most, beyond := slices.Max(alone.got), d.beyond(apartTrials)
	if beyond <= most { // what came back while connections were opened explains it
		return c, false
	}
	saw := fmt.Sprintf("one request after the other admitted %s over one connection, and %s over a connection for each, where %d are promised", alone.counts(), apart.counts(), d.limit().Size())
	switch {
	case alone.all && alone.excess == 0: // it was asked for no more than it had
		return c, false
	case alone.excess == 0 && 2*apart.excess > apart.n && apart.all:
		c = results.Cause{ID: CauseConnection, Text: "each connection has a budget of its own: whoever opens another one begins anew"}
	case alone.excess == 0 && 2*apart.excess > apart.n:
		m := d.times(apartTrials)
		c = results.Cause{ID: CauseMultiple, Factor: float64(m), Text: fmt.Sprintf("%d limiters side by side, such as one for each instance, have a budget of their own, and the connection decides which of them is asked", m)}
	case 2*alone.wrong > alone.n && 3*most <= 2*beyond && most > 0:
		m := float64(d.limit().Size()) / float64(most)
		c = results.Cause{ID: CauseFraction, Factor: 1 / m, Text: fmt.Sprintf("the budget is divided, about by %s, among limiters side by side, and a connection reaches one of them", number(m))}
	default:
		return c, false
	}
	c.Reasons = []string{saw}
	return c, true
}

// beyond is what each trial admitted at least beside what came back while it lasted.
func (d *diagnosis) beyond(match func(*attempt) bool) int64 {
	least := int64(-1)
	for i := range d.trials {
		if t := &d.trials[i]; t.lost == 0 && match(t) {
			if got := max(0, t.got-d.came(t)); least < 0 || got < least {
				least = got
			}
		}
	}
	return least
}

// times is how many budgets explain what the trials admitted.
func (d *diagnosis) times(match func(*attempt) bool) int64 {
	most := int64(2)
	for i := range d.trials {
		if t := &d.trials[i]; t.lost == 0 && match(t) {
			one := d.limit().Size() + d.came(t)
			most = max(most, (t.got+one-1)/one)
		}
	}
	return most
}

// came is how many tokens of one budget came while a trial lasted, rounded up.
func (d *diagnosis) came(t *attempt) int64 {
	var end int64
	for i := range t.hits {
		end = max(end, t.hits[i].to)
	}
	return d.limit().Rate.Tokens(d.duration(end-t.hits[0].from)) + 1
}
