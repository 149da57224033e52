package library

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Disturbance is something that happens to a server, with what is fired meanwhile. A
// right limiter shows nothing of it: what is promised holds all the same.
type Disturbance struct {
	Name    string
	Says    string // what is done
	OfClock bool   // it is done to a clock; else to a process or a store
	// actions are what is done, counted from when the load has settled, and the time
	// in which it can be seen, behind the last of them.
	actions func(*design) (actions []scenarios.Action, seen time.Duration)
}

// Disturbances are all of them, those of clocks first.
func Disturbances() []Disturbance {
	return []Disturbance{clockBack(), clockForward(), strobe(), freezeResume(), drift(), awayAndBack(), wsl(6*time.Second, 30*time.Second), skewedNodes(),
		pause(), restart(), rollingRestart(), reload(), storeOutage(), storeSlow()}
}

// ParseDisturbance reads one by its name, or what is done to a clock as ParseClock
// reads it. wsl=-6s/30s says by how much and how often.
func ParseDisturbance(text string, ofClock bool) (Disturbance, error) {
	var names []string
	for _, d := range Disturbances() {
		if d.OfClock != ofClock {
			continue
		}
		if d.Name == text {
			return d, nil
		}
		names = append(names, d.Name)
	}
	if d, ok := parseWSL(text); ok && ofClock {
		return d, nil
	}
	if !ofClock {
		return Disturbance{}, fmt.Errorf("%q is not known: there are %v", text, names)
	}
	a, err := scenarios.ParseClock(text)
	if err != nil {
		return Disturbance{}, fmt.Errorf("%w; or one of %v", err, names)
	}
	return given(text, a), nil
}

// given is a disturbance that somebody thought of.
func given(text string, a scenarios.Action) Disturbance {
	return Disturbance{Name: text, Says: a.String(), OfClock: true, actions: func(d *design) ([]scenarios.Action, time.Duration) {
		if a.Act == scenarios.ClockStrobe && a.Times == 0 {
			a.Times = int(min(max(5*time.Second/a.Every, 1), 1000))
		}
		seen := d.watch() + min(max(-a.By, 0), 20*time.Second) + a.For
		if a.Act == scenarios.ClockSlew {
			seen += max(5*time.Second, min(30*d.token, 30*time.Second))
		}
		return []scenarios.Action{a}, seen
	}}
}

// watch is how long something takes to be seen: until a drained bucket would be full.
func (d *design) watch() time.Duration { return min(max(d.fill, time.Second), 8*time.Second) }

// settle is when the load has settled: drained keys are refused, others have spent.
func (d *design) settle() time.Duration {
	return d.after() + min(max(d.fill/2, 500*time.Millisecond), 4*time.Second)
}

// Disturb is a scenario of disturbances, one after the other, each on keys of its
// own: drained ones that are polled, clients that stay inside the rate, and, where
// keys can be invented, newcomers, to whom nothing that happened before them matters.
func Disturb(l scenarios.Limit, c Circumstances, chosen []Disturbance) (s scenarios.Scenario, left []Omission) {
	d := newDesign(l, c)
	s = scenarios.Scenario{Name: "disturbed", Limits: []scenarios.Limit{l}, Seed: c.Seed, Wanted: c.Wanted} // what nobody asked for need not be seen
	at := d.first()
	for _, x := range chosen {
		actions, seen := x.actions(d)
		length := d.settle() + ends(actions) + seen
		if c.Budget > 0 && longer(at, length) > c.Budget {
			left = append(left, Omission{Track: x.Name, Why: "time", Loses: string(Lockout), Needs: longer(at, length)})
			continue
		}
		for _, a := range actions {
			a.At += at + d.settle()
			s.Actions = append(s.Actions, a)
		}
		s.Phases = append(s.Phases, d.meanwhile(x.Name, at, length)...)
		if at += length + 200*time.Millisecond; c.Keys > 0 {
			at += d.fill + d.fill/20
		}
	}
	return s, left
}

// ends is when the last of the actions is over.
func ends(actions []scenarios.Action) (end time.Duration) {
	for _, a := range actions {
		last := time.Duration(max(a.Times, 1)-1) * a.Every
		if a.Act == scenarios.ClockStrobe {
			last = time.Duration(2*a.Times) * a.Every
		}
		end = max(end, a.At+last+a.For)
	}
	return end
}

// most is so many requests a second as a small server bears, of clients together.
const most = 300

// meanwhile is what is fired while something happens.
func (d *design) meanwhile(name string, at, length time.Duration) (phases []scenarios.Phase) {
	moment := func(t time.Duration) *time.Duration { return &t }
	gap := 100 * time.Millisecond // where nothing comes back with time
	if hasRate(d.limit) {
		gap = min(max(min(d.token/4, gap), 5*time.Millisecond, d.c.RTT/underWay), d.token*2/3)
	}
	phases = append(phases,
		scenarios.Phase{Name: name + ": drain", At: moment(at), Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
		scenarios.Phase{Name: name + ": pressure", At: moment(at + d.after()), Keys: scenarios.Keys{Of: name + ": drain"},
			Pace: scenarios.Rate{Count: 1, Per: scale(gap, 987, 1013)}, Count: int((length-d.after())/scale(gap, 987, 1013)) + 1})
	pace := d.limit.Rate.Times(4, 5)
	if clients := d.insiders(); clients > 0 && hasRate(d.limit) {
		phases = append(phases, scenarios.Phase{Name: name + ": within", At: moment(at), Keys: scenarios.Keys{Fresh: clients},
			Every: max(d.token/time.Duration(clients), time.Millisecond), Pace: pace, Count: int(pace.Tokens(length)) + 1})
	}
	if d.c.Keys == 0 {
		phases = append(phases, scenarios.Phase{Name: name + ": newcomers", At: moment(at), Keys: scenarios.Keys{Fresh: 40}, Volley: 1, Every: length / 40})
	}
	return phases
}

// insiders are how many clients stay inside the rate: six, where that is not too much.
func (d *design) insiders() int {
	n := int(min(max(most*d.token/time.Second, 1), 6))
	if d.c.Keys > 0 {
		n = min(n, d.c.Keys-1)
	}
	return n
}

// steps are how far a clock is stepped: from half of what a token takes on, to an hour.
func (d *design) steps() []time.Duration {
	all := []time.Duration{d.token / 2, d.token, d.fill / 2, d.fill, 2 * d.fill, d.limit.Rate.Per, time.Minute, time.Hour}
	for i := range all {
		all[i] = all[i].Round(time.Millisecond)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(t time.Duration) bool { return t < time.Millisecond })
}

// stairs are steps in one direction, each with time to be seen.
func (d *design) stairs(sign time.Duration) (actions []scenarios.Action, seen time.Duration) {
	seen = min(max(d.fill/2, time.Second), 3*time.Second)
	for i, t := range d.steps() {
		actions = append(actions, scenarios.Action{At: time.Duration(i) * seen, Act: scenarios.ClockStep, By: sign * t})
	}
	return actions, seen
}
