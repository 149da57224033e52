package scenarios

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Plan is every request of a scenario with its moment, and the bounds of those
// that answers will direct. It follows from the scenario and the supply of keys
// alone: the same two give the same plan, byte for byte.
type Plan struct {
	Phases []string // names, in the scenario's order
	Varied []Vary   // by phase: what differs between the requests of a key
	Keys   []string // labels, such as pressure/1, or the values that were given
	Shots  Shots    // in the order of their moments
	// Attacks are what is fired as answers direct, in the order of their
	// beginnings. Their requests are numbered behind the shots.
	Attacks []Attack
	// Floods are what is fired as fast as is answered, in the order of their beginnings.
	// Their requests are numbered behind the shots as well.
	Floods  []Saturation
	Waits   []Wait        // silences in which buckets fill
	Actions []Action      // what is done to the server, in the order of their moments
	Length  time.Duration // after which no shot is due and every attack is over
}

// Most is how many requests the plan can come to: its shots, what of them may come
// back when it is refused, and all that its attacks may send.
func (p Plan) Most() int {
	n := p.Shots.Len() + p.Shots.Returns()
	for _, a := range p.Attacks {
		n += a.Most()
	}
	for _, s := range p.Floods {
		n += s.Most
	}
	return n
}

// Shot is one planned request.
type Shot struct {
	Seq      int64         // from 1
	At       int64         // nanoseconds since the run's start
	Phase    int32         // index into Plan.Phases
	Key      int32         // index into Plan.Keys
	Cost     int64         // tokens asked for
	Volley   int32         // shots with the same number leave together; 0: it leaves by itself
	Retry    Retry         // what it does about a refusal
	Tries    int32         // how often it comes back at most
	Share    int64         // of the wait that it is told it waits for so much, in parts per million
	Turn     int32         // of a phase that varies something: its number among those of the key, from 1; 0: nothing is varied
	Other    int32         // index into Plan.Keys: the client that {other} stands for
	Apart    bool          // it opens a connection of its own
	Held     bool          // its end is kept back until the volley is to leave
	Patience time.Duration // how long a retry may be put off at most; 0: it has none
	Late     time.Duration // sent later than this it counts as missed and is not sent
}

// Wait is a silence before a phase.
type Wait struct {
	Phase  int32 // index into Plan.Phases
	From   int64 // nanoseconds since the run's start
	Length time.Duration
	Why    string
}

// Supply is which keys a run has.
type Supply struct {
	// Given are the only keys there are; empty: any number of fresh ones.
	Given []string
	// Full: the given keys' buckets are known to be full at the start.
	Full bool
}

// VolleySize is the largest volley that is fired at once, and VolleyPause the
// pause behind it when there are more: each of its requests takes a connection.
const (
	VolleySize  = 250
	VolleyPause = 20 * time.Millisecond
)

// RequestTime is what a request at once takes of a small machine, generously:
// another question waits until the volleys of the one before are dealt with.
const RequestTime = 200 * time.Microsecond

// Plan lays out the scenario on the time axis. Given keys are used again only
// when their buckets must be full. It errs when a phase wants more keys than
// there are.
func (s *Scenario) Plan(supply Supply) (Plan, error) {
	p := &planner{scenario: s, supply: supply, byPhase: map[string][]int32{}, named: map[string][]string{}, source: rand.NewPCG(s.Seed, 2)}
	p.chance = rand.New(p.source)
	for _, l := range s.Limits {
		p.fill = max(p.fill, l.Fill())
		p.longest = max(p.longest, l.Longest())
	}
	p.plan.Keys = slices.Clone(supply.Given)
	p.ready = make([]int64, len(supply.Given))
	if !supply.Full {
		for i := range p.ready {
			p.ready[i] = int64(p.fill)
		}
	}
	for i := range s.Phases {
		if err := p.phase(int32(i), &s.Phases[i]); err != nil {
			return Plan{}, fmt.Errorf("phase %q: %w", s.Phases[i].Name, err)
		}
	}
	plan := p.finish()
	if err := late(s.Actions, plan.Length); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

type planner struct {
	source *rand.PCG  // of clients that come back by chance
	chance *rand.Rand // what is drawn from it

	scenario *Scenario
	supply   Supply
	fill     time.Duration // how long the slowest bucket takes to be full
	longest  time.Duration // how long a true Retry-After can be at most
	plan     Plan
	ready    []int64 // by key: when its bucket is full if nothing more is sent
	byPhase  map[string][]int32
	named    map[string][]string // by phase: the names of its keys
	end      int64               // of the phases so far
	volleys  int32
	shots    int   // planned so far
	turn     int32 // of the last shot on the key that is being planned
	other    int32 // key that {other} stands for on it
}

func (p *planner) phase(i int32, ph *Phase) error {
	p.plan.Phases = append(p.plan.Phases, ph.Name)
	p.plan.Varied = append(p.plan.Varied, ph.Vary)
	at := p.end + int64(ph.Rest)
	if ph.At != nil {
		at = int64(*ph.At + ph.Rest)
	}
	if !ph.fires() {
		p.end = max(p.end, at)
		return nil
	}
	if err := p.fits(ph); err != nil {
		return err
	}
	if err := ph.strangers(p.named); err != nil {
		return err
	}
	keys, full, err := p.keys(ph)
	if err != nil {
		return err
	}
	if full > at {
		p.plan.Waits = append(p.plan.Waits, Wait{i, at, time.Duration(full - at), "until the key has all it may be asked for at once"})
		at = full
	}
	p.byPhase[ph.Name] = keys
	each := byName(ph.Arrivals)
	for n, key := range keys {
		var last int64
		p.turn, p.other = 0, 0
		if all := p.byPhase[ph.Vary.Other]; len(all) > 0 {
			p.other = all[n%len(all)]
		}
		switch at := at + int64(n)*int64(ph.Every); {
		case ph.Volley > 0:
			last = p.together(i, ph, key, at)
		case len(ph.Arrivals) > 0:
			last = p.arrivals(i, ph, each[p.named[ph.Name][n]], key, at)
		case ph.Attack != TacticNone:
			if last, err = p.attack(i, ph, n, key, at); err != nil {
				return err
			}
		case ph.Saturate > 0:
			s := ph.saturation(i, key, at)
			p.plan.Floods = append(p.plan.Floods, s)
			last = s.Until()
		default:
			last = p.pace(i, ph, key, at)
		}
		last = int64(longer(time.Duration(last), p.comingBack(ph)))
		p.ready[key] = last + int64(p.fill) + int64(p.fill/50) + int64(100*time.Millisecond)
		p.end = max(p.end, last)
	}
	return nil
}

// mostShots is how many requests can be planned, and mostStrands on how many keys of
// phases, or at how many moments of their own: those are held in memory.
const (
	mostShots   = 500_000_000
	mostStrands = 5_000_000
)

// fits is an error where a phase comes to more than can be planned.
func (p *planner) fits(ph *Phase) error {
	keys := int64(ph.Keys.Fresh)
	if ph.Keys.Of != "" {
		keys = int64(len(p.byPhase[ph.Keys.Of]))
	}
	each, held := max(int64(ph.Volley), int64(ph.Count), 1), 1+int64(ph.Volley)/VolleySize
	if len(ph.Arrivals) > 0 {
		each, held, keys = 0, 0, 1
		for _, a := range ph.Arrivals {
			each += int64(a.size())
			held += 1 + int64(a.size())/VolleySize
		}
	}
	keys = max(keys, 1)
	if each > (mostShots-int64(p.shots))/keys || held > (mostStrands-int64(len(p.plan.Shots.strands)))/keys {
		return fmt.Errorf("%d requests on each of %d keys are more than can be planned in one run: at most %d, on at most %d keys", each, keys, mostShots, mostStrands)
	}
	return nil
}

// keys are the keys of a phase, and when all of them are full.
func (p *planner) keys(ph *Phase) (keys []int32, full int64, err error) {
	if ph.Keys.Of != "" {
		return p.byPhase[ph.Keys.Of], 0, nil
	}
	if len(p.supply.Given) == 0 {
		for _, name := range p.named[ph.Name] {
			keys = append(keys, int32(len(p.plan.Keys)))
			p.plan.Keys = append(p.plan.Keys, ph.Name+"/"+name)
			p.ready = append(p.ready, 0)
		}
		return keys, 0, nil
	}
	if ph.Keys.Fresh > len(p.supply.Given) {
		return nil, 0, fmt.Errorf("it wants %d keys and there are %d", ph.Keys.Fresh, len(p.supply.Given))
	}
	order := make([]int32, len(p.supply.Given))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.ready[a], p.ready[b]) })
	keys = order[:ph.Keys.Fresh]
	return keys, p.ready[keys[len(keys)-1]], nil
}

// together plans requests on a key that leave at once and gives the moment of the
// last one.
func (p *planner) together(phase int32, ph *Phase, key int32, at int64) int64 {
	groups := p.volley(nil, at, ph.Volley, max(1, ph.Cost))
	p.add(strand{like: Shot{Phase: phase, Key: key}, groups: groups, n: ph.Volley}, ph)
	return groups[len(groups)-1].at
}

// volley adds the groups of so many that leave at once.
func (p *planner) volley(groups []group, at int64, n int, cost int64) []group {
	for ; n > 0; n -= VolleySize {
		p.volleys++
		groups = append(groups, group{at: at, n: int32(min(n, VolleySize)), volley: p.volleys, late: time.Second, cost: cost})
		at += int64(VolleyPause)
	}
	return groups
}

// pace plans a key's evenly spaced shots and gives the moment of the last one.
func (p *planner) pace(phase int32, ph *Phase, key int32, at int64) int64 {
	t := strand{like: Shot{At: at, Phase: phase, Key: key, Cost: max(1, ph.Cost)}, n: ph.Count}
	t.num, t.den = ph.Pace.Units()
	t.like.Late = min(max(time.Duration(t.den/t.num), time.Millisecond), latestSingle)
	p.add(t, ph)
	return t.last()
}

// attack plans the attack on a phase's n-th key and gives the moment by which it
// is over.
func (p *planner) attack(phase int32, ph *Phase, n int, key int32, at int64) (int64, error) {
	l, err := p.scenario.attacked(ph.Against)
	if err != nil {
		return 0, err
	}
	a := Attack{At: at, Phase: phase, Key: key, Tactic: ph.Attack, Rounds: ph.Rounds, Turn: n, Size: l.Size(), Token: l.Token()}
	if a.Rounds == 0 {
		a.Rounds = DefaultRounds
	}
	p.plan.Attacks = append(p.plan.Attacks, a)
	return int64(longer(time.Duration(at), a.Longest())), nil
}

// add plans the shots of a strand, with what those of a phase have in common.
func (p *planner) add(t strand, ph *Phase) {
	s := &t.like
	s.Retry, s.Apart, s.Held, s.Tries = ph.Retry, ph.Apart, ph.Held, int32(ph.Returns())
	if s.Tries > 0 {
		s.Patience = p.patience(ph)
		now := *p.source
		t.chance = &now
		for range t.n { // as many as are drawn when the shots are read
			p.chance.Int64N(whole)
		}
	}
	if !ph.Vary.None() {
		s.Turn, s.Other = p.turn+1, p.other
		p.turn += int32(t.n)
	}
	p.shots += t.n
	p.plan.Shots.strands = append(p.plan.Shots.strands, t)
}

// comingBack is how long a refused request of a phase may go on at most.
func (p *planner) comingBack(ph *Phase) (t time.Duration) {
	for range ph.Returns() {
		if ph.Retry == RetryIgnore {
			t = longer(t, IgnorePause)
			continue
		}
		each := p.patience(ph)
		if ph.Retry == RetryJitterUp {
			each = longer(each, each/2)
		}
		t = longer(t, each)
	}
	return t
}

// patience is how long a true Retry-After can be at most, which no wait for
// several tokens is longer than the fill: rounded up to a second, and one second
// more that a cautious server adds.
func (p *planner) patience(ph *Phase) time.Duration {
	if ph.Cost > 1 {
		return longer(max(p.longest, p.fill), 2*time.Second)
	}
	return longer(p.longest, 2*time.Second)
}

func (p *planner) finish() Plan {
	slices.SortStableFunc(p.plan.Attacks, func(a, b Attack) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(p.plan.Floods, func(a, b Saturation) int { return cmp.Compare(a.At, b.At) })
	p.plan.Length = time.Duration(p.end)
	p.plan.Actions = slices.DeleteFunc(timeline(p.scenario.Actions), func(a Action) bool { return a.At > p.plan.Length })
	return p.plan
}
