package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Scenario is a promise and what is fired at it.
type Scenario struct {
	Name    string        // for people; empty: "scenario"
	Target  string        // URL; empty: given on the command line
	Request Request       // what each request is made of
	Limits  []Limit       // all of them hold; at least one
	Keys    []string      // values of the key that the server knows; empty: fresh ones are invented
	Phases  []Phase       // at least one
	Actions []Action      // what is done to the server meanwhile; empty: nothing
	Checks  []string      // ids of the assertions that count, or their first parts, such as retry-after; empty: all
	Seed    uint64        // of everything random in the plan
	Wanted  int64         // error in the rate that must be seen for a 'kept', in parts per million; 0: any
	LateBy  time.Duration // how much later than the truth a Retry-After may be on purpose; 0: only its rounding
	Draft   int           // version of the RateLimit fields that the server speaks, which from 11 on tell another t; 0: not known
	Timeout time.Duration // after which a request is given up; 0: DefaultTimeout
}

// DefaultTimeout is how long an answer is waited for where nothing was said.
const DefaultTimeout = 10 * time.Second

// Request is the template of every request.
type Request struct {
	Method  string   // empty: GET
	Headers []Header // sent as they are, in this order
	Body    string   // empty: none
}

// Header is one header line of a request.
type Header struct{ Name, Value string }

// Phase is one part of a scenario: a rest, a volley, a pace, arrivals, an attack or a
// saturation.
type Phase struct {
	Name   string
	At     *time.Duration // since the run's start; nil: when the phases before it have ended
	Rest   time.Duration  // silence before it
	Keys   Keys           // on which keys it is fired
	Volley int            // requests on each key at once; 0: it is no volley
	Every  time.Duration  // from one key's volley to the next one's; 0: all keys together
	Pace   Rate           // requests on each key, evenly spaced; zero: it has no pace
	Count  int            // of a pace: requests on each key; of a saturation the most there may be, 0: 50,000 a second
	Cost   int64          // tokens that each request asks for; 0: one
	// Arrivals are requests with a moment of their own; none: it has no such. Their
	// clients are the phase's keys, and Keys.Fresh is how many they name.
	Arrivals []Arrival
	Attack   Tactic // what is fired follows from the answers; none: it does not
	Rounds   int    // of an attack: how many edges are struck at on each key; 0: DefaultRounds
	Against  string // of an attack: name of the limit whose edges are looked for; empty: the one whose tokens come slowest
	// Saturate is how many connections of each key ask again as soon as they are answered,
	// For so long; 0: it is not that.
	Saturate int
	For      time.Duration
	Retry    Retry
	Tries    int  // how often a refused request comes back at most, by Retry; 0: once
	Apart    bool // each request opens a connection of its own; false: connections are used again
	Held     bool // of a volley: each request is sent but for its end, and the ends leave together
	Vary     Vary // what is another in each request of a key, and makes no difference to the limit
}

// Keys says which keys a phase is fired on.
type Keys struct {
	Fresh int    // so many keys that are full; 0: those of phase Of
	Of    string // name of an earlier phase; its keys are used as it left them
}

// Check gives all that is wrong with the scenario, joined, or nil.
func (s *Scenario) Check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.Limits) == 0 {
		fail("no limit is given: a scenario needs a promise")
	}
	for _, l := range s.Limits {
		if err := l.Check(); err != nil {
			fail("limit %q: %w", l.Name, err)
		}
		if l.Key != s.Limits[0].Key && l.Key.Kind != KeyNone {
			fail("limit %q is per %v and limit %q per %v: the requests of one scenario have one key", s.Limits[0].Name, s.Limits[0].Key, l.Name, l.Key)
		}
		if l.CostHeader != s.Limits[0].CostHeader || l.CostBody != s.Limits[0].CostBody {
			fail("limit %q reads costs from %q and limit %q from %q: the requests of one scenario cost the same under each", s.Limits[0].Name, s.Limits[0].CostHeader+s.Limits[0].CostBody, l.Name, l.CostHeader+l.CostBody)
		}
	}
	if len(s.Phases) == 0 {
		fail("no phase is given: nothing would be fired")
	}
	seen, named := map[string]bool{}, map[string][]string{}
	for i := range s.Phases {
		if err := s.Phases[i].check(seen); err != nil {
			fail("phase %q: %w", s.Phases[i].Name, err)
		}
		if err := s.Phases[i].strangers(named); err != nil {
			fail("phase %q: %w", s.Phases[i].Name, err)
		}
		if cost := s.Phases[i].dearest(); cost > 1 && !s.costs() {
			fail("phase %q: a cost of %d, and no limit says in which header a request states its cost: add cost-header: X-Cost to it", s.Phases[i].Name, cost)
		}
		for _, l := range s.Limits {
			if err := s.Phases[i].Vary.fits(l.Key); err != nil {
				fail("phase %q: %w", s.Phases[i].Name, err)
				break
			}
		}
		if s.Phases[i].Attack != TacticNone {
			if _, err := s.attacked(s.Phases[i].Against); err != nil {
				fail("phase %q: %w", s.Phases[i].Name, err)
			}
		}
	}
	for i, a := range s.Actions {
		if err := a.check(); err != nil {
			fail("action %d: %w", i+1, err)
		}
	}
	return errors.Join(errs...)
}

// costs reports whether a request can say that it asks for several tokens.
func (s *Scenario) costs() bool { return len(s.Limits) > 0 && s.Limits[0].HasCosts() }

// attacked is the limit whose edges an attack looks for: the one of the name, or of
// several the one whose tokens come slowest, since the others only hold it back.
func (s *Scenario) attacked(name string) (Limit, error) {
	var slowest Limit
	if name != "" && !slices.ContainsFunc(s.Limits, func(l Limit) bool { return l.Name == name }) {
		return slowest, fmt.Errorf("against %q: no limit has that name", name)
	}
	for _, l := range s.Limits {
		if l.Rate.Count > 0 && (name == "" || l.Name == name) && (slowest.Rate.Count == 0 || l.Rate.Cmp(slowest.Rate) < 0) {
			slowest = l
		}
	}
	switch {
	case slowest.Rate.Count == 0:
		return slowest, errors.New("an attack looks for the moment at which more is admitted again, and no limit has a rate")
	case slowest.Size() < 2:
		return slowest, errors.New("an attack needs a limit that admits two at once or more: where it admits one, a pace finds what there is to find")
	case slowest.Size() > MostAttacked:
		return slowest, fmt.Errorf("an attack fires volleys of all that is admitted at once, and %d are more than can leave together: the most is %d", slowest.Size(), MostAttacked)
	}
	return slowest, nil
}

// MostAttacked is how much a limit may admit at once that is attacked: that
// many requests leave within a second.
const MostAttacked = 10_000

// Prefixed is the phase under a longer name, on the keys of those that are renamed
// likewise.
func (p Phase) Prefixed(prefix string) Phase {
	p.Name = prefix + p.Name
	for _, of := range []*string{&p.Keys.Of, &p.Vary.Other} {
		if *of != "" {
			*of = prefix + *of
		}
	}
	return p
}

func (p *Phase) check(seen map[string]bool) error {
	fires := 0
	for _, has := range []bool{p.Volley > 0, p.Pace.Count > 0, len(p.Arrivals) > 0, p.Attack != TacticNone, p.Saturate > 0} {
		if has {
			fires++
		}
	}
	switch {
	case p.Name == "" || seen[p.Name]:
		return errors.New("each phase needs a name of its own")
	case fires > 1:
		return errors.New("volley, pace, arrivals, attack and saturate exclude each other: make two phases")
	case fires == 0 && p.Rest == 0:
		return errors.New("nothing to do: give a volley, a pace, arrivals, an attack, saturate or a rest")
	case p.Attack == TacticNone && p.Against != "":
		return errors.New("against is of an attack: add attack: boundary")
	case p.Attack == TacticNone && p.Rounds != 0:
		return errors.New("rounds are those of an attack: add attack: boundary, or leave them out")
	case p.Attack != TacticNone && p.Count != 0:
		return errors.New("an attack ends by itself: give rounds instead of count")
	case p.Attack != TacticNone && p.Retry != RetryNone:
		return errors.New("attack and retry exclude each other: an attack decides by itself what follows a refusal")
	case p.Cost != 0 && (fires == 0 || p.Attack != TacticNone):
		return errors.New("cost is that of the requests of a volley or a pace: an attack asks for one token at a time")
	case p.Cost < 0:
		return fmt.Errorf("cost %d: give 1 or more", p.Cost)
	case p.Tries < 0 || p.Tries > mostTries:
		return fmt.Errorf("tries %d: give 1 to %d", p.Tries, mostTries)
	case p.Tries > 0 && !p.Retry.comesBack():
		return errors.New("tries is how often a refused request comes back: add retry: obey, or another that does")
	case p.Held && p.Volley == 0 && len(p.Arrivals) == 0:
		return errors.New("release: last-byte is of a volley: the ends of its requests leave together")
	case !p.Vary.None() && (fires == 0 || p.Attack != TacticNone):
		return errors.New("vary is of the requests of a volley or a pace")
	case p.Vary.Part == PartConnection && (p.Apart || p.Volley > 0):
		return errors.New("vary: connections: takes some in turn, and needs a pace; connections: each is a connection for each request, as in a volley")
	case p.Attack != TacticNone && p.Apart:
		return errors.New("attack and connections: each exclude each other: an attack has no time to open them")
	case p.Pace.Count > 0 && p.Count < 1:
		return errors.New("a pace needs an end: give for or count")
	case fires > 0 && p.Keys.Of != "" && !seen[p.Keys.Of]:
		return fmt.Errorf("keys of phase %q: no earlier phase has that name", p.Keys.Of)
	case fires > 0 && p.Keys.Of == "" && p.Keys.Fresh < 1:
		return errors.New("it is fired on no key")
	}
	if err := p.checkArrivals(); err != nil {
		return err
	}
	if err := p.checkSaturation(); err != nil {
		return err
	}
	if err := p.Vary.check(seen); err != nil {
		return err
	}
	seen[p.Name] = true
	return nil
}

// mostTries keeps what a refused request may come to within what can be planned.
const mostTries = 100

// fires reports whether requests are sent.
func (p *Phase) fires() bool {
	return p.Volley > 0 || p.Pace.Count > 0 || len(p.Arrivals) > 0 || p.Attack != TacticNone || p.Saturate > 0
}
