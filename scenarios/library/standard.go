package library

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Omission is a trap that did not fit.
type Omission struct {
	Track string        // its name
	Why   string        // what it lacks
	Loses string        // which faults go unseen
	Needs time.Duration // how long the run would have to take; 0: time is not what it lacks
}

// Standard is the scenario that asks a limit, and those beside it, what a client can ask of it in
// little more time than the promise takes to be seen. Where any number of keys
// can be invented the questions are asked side by side, else one after the other
// with waits for full buckets between them. What does not fit is told.
func Standard(l scenarios.Limit, c Circumstances) (scenarios.Scenario, []Omission) {
	d := newDesign(l, c)
	return d.lay("check", slices.DeleteFunc(Traps(), func(t Trap) bool { return !d.regular(t) }))
}

// regular reports whether a trap is part of the standard scenario.
func (d *design) regular(t Trap) bool { return t.Regular || t.called != nil && t.called(d) }

// Fires are the names of the traps of the standard scenario that the contract allows
// to be asked.
func Fires(l scenarios.Limit, c Circumstances) map[string]bool {
	d := newDesign(l, c)
	all := map[string]bool{}
	for _, t := range Traps() {
		all[t.Name] = t.Asks(l) && d.regular(t)
	}
	return all
}

// Thorough is the least set of traps that finds every kind of fault the contract
// allows to be asked for, and that fits: of several that find the same the one
// that costs fewer requests.
func Thorough(l scenarios.Limit, c Circumstances) (scenarios.Scenario, []Omission) {
	d := newDesign(l, c)
	var fitting, left []Trap
	for _, t := range Traps() {
		switch {
		case !t.Asks(l):
		case d.omits(t, d.first(), d.fit(t)) != nil:
			left = append(left, t)
		default:
			fitting = append(fitting, t)
		}
	}
	chosen := d.cover(fitting)
	for _, t := range left { // what nothing else finds is told
		if len(missing(t.Finds, chosen)) > 0 {
			chosen = append(chosen, t)
		}
	}
	return d.lay("thorough", chosen)
}

// cover is a least set of traps that finds all that the traps find, in their order.
func (d *design) cover(traps []Trap) []Trap {
	var chosen []Trap
	for {
		best, price := -1, 0.0
		for i, t := range traps {
			if n := len(missing(t.Finds, chosen)); n > 0 {
				if p := float64(d.price(d.fit(t)).Requests+1) / float64(n); best < 0 || p < price {
					best, price = i, p
				}
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, traps[best])
	}
	// A later one may find all that an earlier one was taken for.
	for i := 0; i < len(chosen); {
		if others := slices.Delete(slices.Clone(chosen), i, i+1); len(missing(chosen[i].Finds, others)) == 0 {
			chosen = others
		} else {
			i++
		}
	}
	return slices.DeleteFunc(slices.Clone(traps), func(t Trap) bool {
		return !slices.ContainsFunc(chosen, func(c Trap) bool { return c.Name == t.Name })
	})
}

// missing are the kinds that none of the traps finds.
func missing(kinds []Kind, traps []Trap) (none []Kind) {
	for _, k := range kinds {
		if !slices.ContainsFunc(traps, func(t Trap) bool { return slices.Contains(t.Finds, k) }) {
			none = append(none, k)
		}
	}
	return none
}

// Prices are what the traps cost at most that the contract allows to be asked,
// by name.
func Prices(l scenarios.Limit, c Circumstances) map[string]Price {
	d := newDesign(l, c)
	all := map[string]Price{}
	for _, t := range Traps() {
		if t.Asks(l) {
			all[t.Name] = d.price(d.fit(t))
		}
	}
	return all
}

// lay makes a scenario of the traps that the contract allows to be asked, and of the
// regular ones for each limit that holds beside it.
func (d *design) lay(name string, traps []Trap) (s scenarios.Scenario, left []Omission) {
	s = scenarios.Scenario{Name: name, Limits: append([]scenarios.Limit{d.limit}, d.c.Beside...), Seed: d.c.Seed, Wanted: d.c.Wanted}
	at := d.first()
	s.Phases, left, at = d.inOrder(append(slices.Clone(traps), d.besides()...), at)
	for _, o := range d.others() {
		phases, without, end := o.inOrder(slices.DeleteFunc(Traps(), func(t Trap) bool { return !o.regular(t) }), at)
		for i := range phases {
			phases[i] = phases[i].Prefixed(o.limit.Name + ": ")
		}
		for i := range without {
			without[i].Track = o.limit.Name + ": " + without[i].Track
		}
		s.Phases, left, at = append(s.Phases, phases...), append(left, without...), end
	}
	return s, left
}

// inOrder are the phases of traps from a moment on, what had to be left out, and when
// the next one begins.
func (d *design) inOrder(traps []Trap, at time.Duration) (phases []scenarios.Phase, left []Omission, next time.Duration) {
	for _, t := range traps {
		if !t.Asks(d.limit) {
			continue
		}
		f := d.fit(t)
		start := at
		if d.c.Keys == 0 && len(f.phases) > 0 {
			start += time.Duration(d.rng.Int64N(int64(min(max(d.token, 1), 200*time.Millisecond))))
		}
		for i := range f.phases {
			if f.phases[i].Attack != scenarios.TacticNone && len(d.c.Beside) > 0 {
				f.phases[i].Against = d.limit.Name
			}
		}
		switch o := d.omits(t, start, f); {
		case o != nil:
			left = append(left, *o)
		case len(f.phases) == 0:
		case d.c.Keys == 0:
			phases = append(phases, beside(f, start)...)
			at += 150*time.Millisecond + time.Duration(f.atOnce)*scenarios.RequestTime
		default:
			phases = append(phases, inTurn(f)...)
			at = longer(at, f.length+d.full()+d.full()/20)
		}
	}
	return phases, left, at
}

// first is when the first trap begins.
func (d *design) first() time.Duration {
	if d.c.Keys == 0 {
		return 100 * time.Millisecond
	}
	return d.full()
}

// omits says why a trap cannot be fired at start; nil: it can.
func (d *design) omits(t Trap, start time.Duration, f track) *Omission {
	o := Omission{Track: t.Name, Loses: finds(t)}
	if t.unfit != nil {
		if o.Why = t.unfit(d); o.Why != "" {
			return &o
		}
	}
	switch {
	case d.c.Keys > 0 && t.Keys > d.c.Keys:
		o.Why = fmt.Sprintf("keys: it takes %d, %d given", t.Keys, d.c.Keys)
	case d.c.Budget > 0 && longer(start, f.length) > d.c.Budget:
		o.Why, o.Needs = "time", longer(start, f.length)
	default:
		return nil
	}
	return &o
}

func finds(t Trap) string {
	var kinds []string
	for _, k := range t.Finds {
		kinds = append(kinds, string(k))
	}
	return strings.Join(kinds, "; ")
}

// beside are the phases of a trap that starts at a moment, whatever else goes on.
func beside(f track, start time.Duration) []scenarios.Phase {
	for i := range f.phases {
		at := start
		if i > 0 {
			at += f.phases[i].Rest
			f.phases[i].Rest = 0
		}
		f.phases[i].At = &at
	}
	return f.phases
}

// inTurn are those of one that waits until the keys before it are full again.
func inTurn(f track) []scenarios.Phase {
	var before time.Duration
	for i := range f.phases {
		rest := f.phases[i].Rest
		f.phases[i].Rest = max(0, rest-before)
		before = rest
	}
	return f.phases
}
