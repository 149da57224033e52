package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// refused tells what refusals do to what comes behind them. Keys spend all they have:
// some are refused nothing, some are and are left alone then, and some are polled.
// When something is due on all of them they are asked again. A limit that is too
// small or too slow makes no difference between them.
//
// Of several limits the smallest is asked: the others have room meanwhile.
func refused(l scenarios.Limit, c Circumstances) experiment {
	all := append([]scenarios.Limit{l}, c.Beside...)
	for _, o := range all {
		if hasRate(o) && (!hasRate(l) || o.Size() < l.Size()) {
			l = o
		}
	}
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtRefusals}, Trap: Trap{
		Name: "refused", Says: "keys that have spent as much: refused nothing, refused and left alone, and polled, all asked again when something is due",
		Keys: 3, Asks: hasRate,
		unfit: func(d *design) string {
			if d.c.Keys > 0 {
				return "keys: it takes any number of them"
			}
			return ""
		},
		phases: func(f *design) (t track) {
			d := newDesign(l, f.c)
			d.most = f.most
			due := d.due()
			late := due*8/5 + d.after()
			last := due
			if longer(late, due/10+d.c.RTT) < d.most { // by then a block is likely to be over
				last = late
			}
			n := scenarios.Keys{Fresh: d.share(3)}
			add := func(name string, volley int, again time.Duration) {
				t.phases = append(t.phases,
					scenarios.Phase{Name: name, Volley: volley, Keys: n},
					scenarios.Phase{Name: name + ", again", Rest: again, Volley: 1, Keys: scenarios.Keys{Of: name}})
			}
			add("refused nothing", int(d.size), due)
			add("refused and left alone", d.drain()+1, due)
			if last > due {
				add("refused and left alone for longer", d.drain()+1, last)
			}
			t.length = last + d.c.RTT
			polls := d.pollsBeside(all)
			if polls < 5 {
				return t
			}
			gap := max(last/time.Duration(polls), d.bearable())
			t.phases = append(t.phases,
				scenarios.Phase{Name: "refused and polled: drained", Volley: d.drain() + 1, Keys: n},
				scenarios.Phase{Name: "refused and polled", Rest: d.after(), Keys: scenarios.Keys{Of: "refused and polled: drained"},
					Pace: scenarios.Rate{Count: 1, Per: gap}, Count: int((last-d.after())/gap) + 2})
			t.length = last + 2*gap + d.c.RTT
			return t
		},
	}}
}

// pollsRefused is about how often a key is polled that is to be refused all the time.
const pollsRefused = 60

// pollsBeside is how often a key is polled without that other limits come to the end of
// what they have, if each request were charged to them.
func (d *design) pollsBeside(all []scenarios.Limit) int {
	polls := pollsRefused
	for _, o := range all {
		if o.Name != d.limit.Name {
			polls = min(polls, int(o.Size())-d.drain()-4)
		}
	}
	return polls
}

// due is when something has come back for certain to who has spent all, with some time
// to spare in which a refusal that blocks is likely to go on.
func (d *design) due() time.Duration {
	return d.after() + max(d.limit.Longest(), time.Second)*23/20
}
