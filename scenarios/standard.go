package scenarios

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Circumstances are what the standard scenario is fitted to.
type Circumstances struct {
	RTT    time.Duration // measured from request to answer; 0: a millisecond
	Keys   int           // how many keys there are; 0: any number can be invented
	Budget time.Duration // how long the run may take; 0: as long as the promise needs
	Wanted int64         // error in the rate that must be seen, in parts per million; 0: DefaultWanted
	Seed   uint64
}

// DefaultWanted is the error in the rate that a check must be able to see: 1 %.
const DefaultWanted = 10_000

// Omission is a part of the standard scenario that did not fit.
type Omission struct {
	Track string        // its name
	Why   string        // what it lacks
	Loses string        // which faults go unseen
	Needs time.Duration // how long the run would have to take; 0: time is not what it lacks
}

// track is one question: phases that follow each other on keys of their own.
type track struct {
	name   string
	loses  string
	keys   int // that it wants
	phases []Phase
	length time.Duration
	atOnce int // requests that it begins with
}

// requestTime is what a request at once takes of a small machine, generously:
// the next question waits until the volleys of the one before are dealt with.
const requestTime = 200 * time.Microsecond

// Standard is the scenario that asks a limit everything a client can ask of it:
// a volley at rest, pressure for as long as the resolution takes, a rest and
// a volley again, a pace just below and just above the rate, obedience to
// Retry-After, a pair of keys, and an attack on the edges that there should not
// be. Where any number of keys can be invented the
// questions are asked side by side, else one after the other with waits for
// full buckets between them. What does not fit is told.
func Standard(l Limit, c Circumstances) (Scenario, []Omission) {
	if c.Wanted == 0 {
		c.Wanted = DefaultWanted
	}
	if c.RTT == 0 {
		c.RTT = time.Millisecond
	}
	s := Scenario{Name: "check", Limits: []Limit{l}, Seed: c.Seed, Wanted: c.Wanted}
	d := designer{limit: l, size: l.Size(), c: c, token: l.Token(), fill: l.Fill(), rng: rand.New(rand.NewPCG(c.Seed, 1))}
	tracks := d.tracks()
	for i := range tracks {
		for _, p := range tracks[i].phases {
			if p.Keys.Of == "" {
				tracks[i].atOnce += p.Volley * p.Keys.Fresh
			}
			if p.Attack == TacticBoundary {
				tracks[i].atOnce += d.drain() * p.Keys.Fresh
			}
		}
	}
	left := d.left
	if c.Keys == 0 {
		left = append(left, d.sideBySide(&s, tracks)...)
	} else {
		left = append(left, d.inTurn(&s, tracks)...)
	}
	return s, left
}

// tracks are the questions that the limit can be asked, the most telling first.
func (d *designer) tracks() []track {
	if d.token == 0 { // there is no rate to ask about
		return []track{d.volley(), d.twins()}
	}
	tracks := []track{d.volley(), d.pressure(), d.obey(), d.rest(), d.twins(), d.below(), d.above(), d.idle()}
	return append(tracks, d.edges()...)
}

type designer struct {
	limit Limit
	size  int64 // that is admitted at once
	c     Circumstances
	token time.Duration // how long one takes
	fill  time.Duration // how long a bucket takes
	rng   *rand.Rand
	left  []Omission // that no budget would bring back
}

// sideBySide starts the tracks shortly after each other, each on fresh keys.
func (d *designer) sideBySide(s *Scenario, tracks []track) (left []Omission) {
	at := 100 * time.Millisecond
	for _, t := range tracks {
		start := at + time.Duration(d.rng.Int64N(int64(min(max(d.token, 1), 200*time.Millisecond))))
		if d.c.Budget > 0 && start+t.length > d.c.Budget {
			left = append(left, Omission{t.name, "time", t.loses, start + t.length})
			continue
		}
		at += 150*time.Millisecond + time.Duration(t.atOnce)*requestTime
		for i := range t.phases {
			if i == 0 {
				t.phases[i].At = &start
			} else {
				next := start + t.phases[i].Rest
				t.phases[i].At, t.phases[i].Rest = &next, 0
			}
			s.Phases = append(s.Phases, t.phases[i])
		}
	}
	return left
}

// inTurn lets each track wait until the keys before it are full again.
func (d *designer) inTurn(s *Scenario, tracks []track) (left []Omission) {
	at := d.fill
	for _, t := range tracks {
		if t.keys > d.c.Keys {
			left = append(left, Omission{t.name, fmt.Sprintf("a second key; %d given", d.c.Keys), t.loses, 0})
			continue
		}
		if d.c.Budget > 0 && at+t.length > d.c.Budget {
			left = append(left, Omission{t.name, "time", t.loses, at + t.length})
			continue
		}
		at += t.length + d.fill + d.fill/20
		var before time.Duration
		for i := range t.phases {
			rest := t.phases[i].Rest
			t.phases[i].Rest = max(0, rest-before)
			before = rest
			s.Phases = append(s.Phases, t.phases[i])
		}
	}
	return left
}

// Within a track, Rest is the time since the track's start.

// drain is enough requests at once to empty a bucket, whatever refills meanwhile.
func (d *designer) drain() int {
	b := d.size
	spread := 30*time.Millisecond + d.c.RTT + time.Duration(b/volleySize)*volleyPause
	return int(min(b+2+d.limit.Rate.Tokens(spread), 1_000_000))
}

// over is a volley that a bucket has to refuse a good part of.
func (d *designer) over() int { return d.drain() + int(min(max(d.size, 3), 20)) }

// share is how many keys a question is asked on: fewer when each costs much.
func (d *designer) share(most int) int {
	switch {
	case d.size > 500:
		most = 1
	case d.size > 50:
		most = (most + 1) / 2
	}
	if d.c.Keys > 0 {
		most = min(most, d.c.Keys)
	}
	return most
}

func (d *designer) volley() track {
	n := d.share(3)
	return track{
		name: "volley", loses: "a burst that is off by one; a race",
		keys: 1, length: time.Duration(n)*150*time.Millisecond + d.c.RTT,
		phases: []Phase{{Name: "volley", Volley: d.over(), Every: 150 * time.Millisecond, Keys: Keys{Fresh: n}}},
	}
}

// pressure polls a drained key so densely, and for so long, that an error of
// the wanted size in the rate moves an admission by more than the time between
// two polls, the round trip and the limiter's clock step together.
func (d *designer) pressure() track {
	length, gap := d.polls()
	return track{
		name: "pressure", loses: "a rate that is off; windows; refills in lumps; refusals that cost",
		keys: 1, length: length + 100*time.Millisecond,
		phases: []Phase{
			{Name: "drain", Volley: d.drain(), Keys: Keys{Fresh: d.polled()}},
			{Name: "pressure", Rest: d.after(), Pace: Rate{1, gap}, Count: int(length / gap), Keys: Keys{Of: "drain"}},
		},
	}
}

// polled is how many keys are put under pressure. An answer that is lost may
// have cost a token, which one key can hide an error behind; through a network,
// where that happens, there are several.
func (d *designer) polled() int {
	if d.c.Keys == 0 && d.c.RTT >= 2*time.Millisecond {
		return 3
	}
	return 1
}

// polls is how long the pressure lasts, and the time from one poll to the next.
func (d *designer) polls() (length, gap time.Duration) {
	wanted := max(d.c.Wanted-max(d.limit.Slack.Over, d.limit.Slack.Under), d.c.Wanted/4)
	unsharp := d.c.RTT + d.limit.Slack.Quantum
	least := 4 * time.Second // long enough to meet what happens once a second
	if d.token < 5*time.Millisecond {
		least = 2 * time.Second
	}
	length = max(least, 4*scale(unsharp, 1_000_000, wanted), 3*d.token)
	// What an error adds up over: all of it, or, where a limiter remembers no
	// more than a period, that.
	lever := length
	switch has, _ := d.limit.Contract.Numbers(); {
	case d.limit.Contract.Forgets():
		length = max(length, 4*d.limit.Rate.Per)
		lever = d.limit.Rate.Per
	case has.Align: // both ends of a period are blurred by the polls
		length = max(length*3/2, 4*d.limit.Rate.Per)
		lever = length
	}
	if d.size == 1 { // each token is a trial of its own, see below
		length = max(length, min(40*d.token, 10*time.Second))
	}
	if room := d.room(); room > 0 && length > room {
		length = max(room, time.Second)
	}
	gap = min(scale(min(lever, length), wanted, 2_000_000)-unsharp, d.token*2/3)
	if d.size == 1 {
		// A bucket of one is full as soon as it has a token, and what comes
		// then is lost: every single token has to be asked for in time.
		gap = min(gap, max(d.token/100, unsharp/2))
	}
	// Not a round part of a token's time: the polls shall meet every phase of it.
	return length, max(scale(gap, 987, 1013), unsharp/4, 50*time.Microsecond, length/20_000)
}

// room is how long the pressure may last within the budget.
func (d *designer) room() time.Duration {
	switch {
	case d.c.Budget == 0:
		return 0
	case d.c.Keys == 0:
		return d.c.Budget - 700*time.Millisecond
	}
	return d.c.Budget - 2*d.fill - time.Second
}

// scale is t*num/den without overflow for what is sensible here.
func scale(t time.Duration, num, den int64) time.Duration {
	return time.Duration(float64(t) * float64(num) / float64(den))
}

// after is when a drain is over.
func (d *designer) after() time.Duration {
	return time.Duration(d.drain()/volleySize)*volleyPause + 20*time.Millisecond + d.c.RTT
}

func (d *designer) rest() track {
	half := d.after() + d.fill/2
	return track{
		name: "rest", loses: "a refill that comes in whole seconds or not at all at rest",
		keys: 1, length: half + 100*time.Millisecond,
		phases: []Phase{
			{Name: "spend", Volley: d.drain(), Keys: Keys{Fresh: 1}},
			{Name: "rested", Rest: half, Volley: d.over(), Keys: Keys{Of: "spend"}},
		},
	}
}

func (d *designer) idle() track {
	long := d.after() + d.fill + d.fill/2
	return track{
		name: "idle", loses: "a bucket that overfills while idle",
		keys: 1, length: long + 100*time.Millisecond,
		phases: []Phase{
			{Name: "empty", Volley: d.drain(), Keys: Keys{Fresh: 1}},
			{Name: "idled", Rest: long, Volley: d.over(), Keys: Keys{Of: "empty"}},
		},
	}
}

// paced drains a key and then sends at num/den of the rate.
func (d *designer) paced(name, drained, loses string, num, den int64) track {
	pace := d.limit.Rate.Times(num, den)
	n := int(min(max(d.limit.Rate.Tokens(4*time.Second), 6), 200))
	length := d.after() + d.token + pace.Time(int64(n))
	return track{
		name: name, loses: loses, keys: 1, length: length,
		phases: []Phase{
			{Name: drained, Volley: d.drain(), Keys: Keys{Fresh: 1}},
			{Name: name, Rest: d.after() + d.token, Pace: pace, Count: n, Keys: Keys{Of: drained}},
		},
	}
}

func (d *designer) below() track {
	return d.paced("below", "before-below", "refusals of a client that stays inside its rate", 24, 25)
}

func (d *designer) above() track {
	return d.paced("above", "before-above", "a client just above its rate that is never refused", 27, 25)
}

// obey drains keys and asks on each once more, at another part of the time a
// token takes, then as Retry-After says.
func (d *designer) obey() track {
	n := d.share(5)
	t := track{name: "obey", loses: "a Retry-After that is too early", keys: 1}
	for i := range n {
		drained, name := fmt.Sprintf("before-obey-%d", i+1), fmt.Sprintf("obey-%d", i+1)
		start := time.Duration(i) * (40*time.Millisecond + time.Duration(d.drain())*requestTime)
		if d.c.Keys > 0 {
			start = 0
		}
		ask := start + d.after() + d.token*time.Duration(2*i+1)/time.Duration(2*n)
		t.phases = append(t.phases,
			Phase{Name: drained, Rest: start, Volley: d.drain(), Keys: Keys{Fresh: 1}},
			Phase{Name: name, Rest: ask, Pace: d.limit.Rate, Count: 1, Retry: RetryObey, Keys: Keys{Of: drained}})
		t.length = max(t.length, ask+d.limit.Longest()+2*time.Second)
	}
	if d.c.Keys > 0 { // each pair of phases counts its own time
		t.length *= time.Duration(n)
	}
	return t
}

// twins drains one key and, at the same moment, asks another for all it has.
func (d *designer) twins() track {
	return track{
		name: "twins", loses: "keys that share a budget",
		keys: 2, length: 200 * time.Millisecond,
		phases: []Phase{
			{Name: "twin-greedy", Volley: d.over(), Keys: Keys{Fresh: 1}},
			{Name: "twin-modest", Rest: 50 * time.Millisecond, Volley: int(min(d.size, volleySize)), Keys: Keys{Fresh: 1}},
		},
	}
}
