package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// ChargedApart is the kind of fault that only several limits can have.
const ChargedApart Kind = "requests that one limit refuses and another one counts"

// besides are the traps for the smaller limits that hold as well, one for each.
func (d *design) besides() (all []Trap) {
	for _, l := range d.c.Beside {
		if hasRate(l) && hasRate(d.limit) && l.Fill() < d.limit.Fill() {
			all = append(all, smaller(l))
		}
	}
	return all
}

// smaller spends all of the large limit, as fast as the small one lets it. A moment
// before the large one has something again it asks for more than the small one has,
// and all of that is refused by the large one; a moment behind it for what the small
// one has, of which nothing was spent. A small limit that counts what the large one
// refused has nothing left then. Polls of another pace meet that moment by chance.
func smaller(l scenarios.Limit) Trap {
	return Trap{
		Name: "beside " + l.Name, Says: "all of the large limit, and a volley before and behind the moment when it has something again",
		Finds: []Kind{ChargedApart}, Keys: 1, Asks: hasRate,
		unfit: func(d *design) string {
			if end, again := d.spends(l); again <= end {
				return "time: what is spent first comes back before all of the larger limit is spent"
			}
			return ""
		},
		phases: func(d *design) (t track) {
			small := newDesign(l, d.c)
			end, again := d.spends(l)
			n := d.share(3)
			keys, every := scenarios.Keys{Of: "spend beside " + l.Name}, small.fill*3/8
			add := func(name string, at time.Duration, size int) {
				t.phases = append(t.phases, scenarios.Phase{Name: name, Rest: at, Volley: size, Every: every, Keys: keys})
			}
			for at := time.Duration(0); at < end; at += small.fullAgain() {
				add(fmt.Sprintf("spend on beside %s, %d", l.Name, len(t.phases)+1), at, small.drain())
			}
			t.phases[0].Name, t.phases[0].Keys = keys.Of, scenarios.Keys{Fresh: n}
			add("before the end beside "+l.Name, max(end, again-small.fill/3), small.drain())
			granted := scale(again, max(d.limit.Slack.Over, d.limit.Slack.Under), 1_000_000)
			behind := again + granted + d.c.RTT + d.limit.Slack.Quantum + l.Slack.Quantum + 20*time.Millisecond
			add("behind the end beside "+l.Name, behind, int(min(small.size, d.size)))
			t.length = behind + time.Duration(n)*every + d.c.RTT
			return t
		},
	}
}

// fullAgain is the time between two volleys that each find the limit full.
func (d *design) fullAgain() time.Duration { return d.fill + d.fill/20 + d.after() }

// spends is how long it takes to spend all of a limit through a smaller one, and when
// the first of it is there again, both since the first request. A window and a log
// give back what is a period old, a bucket the next token.
func (d *design) spends(small scenarios.Limit) (end, again time.Duration) {
	s := newDesign(small, d.c)
	for got := int64(0); got < d.size+d.limit.Rate.Tokens(end) && end < d.limit.Rate.Per+d.fill; got += s.size {
		end += s.fullAgain()
	}
	if d.limit.Contract.Forgets() {
		return end, d.limit.Rate.Per
	}
	if has, _ := d.limit.Contract.Numbers(); has.Align {
		return end, d.limit.Rate.Per
	}
	return end, end + d.token
}
