package assertions

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// lattice is all that a drifting bucket can be at whole moments: with the set of
// decided requests, T and the time. It is a brute force from one side: whatever
// it can be a drifting bucket can.
type lattice struct {
	tasks []task
	burst int64
	ramp  int64
	last  int64
	seen  map[latticeState]bool
}

type latticeState struct {
	set  uint8
	t, x int64 // T, and the time
}

func (l *lattice) possible(s latticeState) bool {
	if int(s.set) == 1<<len(l.tasks)-1 {
		return true
	}
	if s.x > l.last || l.seen[s] {
		return false
	}
	l.seen[s] = true
	for i, k := range l.tasks {
		if s.set>>i&1 == 1 || s.x < k.from || s.x > k.to {
			continue
		}
		next := latticeState{s.set | 1<<i, s.t, s.x}
		room := s.t <= s.x+l.burst-k.cost
		if !k.refused {
			next.t = max(s.t, s.x) + k.cost
		}
		if room != k.refused && l.possible(next) {
			return true
		}
	}
	return l.possible(latticeState{s.set, s.t, s.x + 1}) || l.possible(latticeState{s.set, s.t + 1, s.x + l.ramp})
}

func TestDriftingBucketAllowsEveryDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	histories, both, more := 20_000, 0, 0
	if raced {
		histories = 1000
	}
	histories = historiesOr(histories)
	for n := range histories {
		l := lattice{burst: int64(2 + rng.IntN(8)), ramp: int64(1 + rng.IntN(5)), seen: map[latticeState]bool{}}
		h := &history{start: fullAt(-1)}
		at := int64(0)
		for range 2 + rng.IntN(4) {
			at += int64(rng.IntN(5))
			h.sure = append(h.sure, task{from: at, to: at + int64(rng.IntN(8)), cost: 1 + rng.Int64N(l.burst), refused: rng.IntN(2) == 0})
			l.last = max(l.last, h.sure[len(h.sure)-1].to)
		}
		h.sort()
		l.tasks = h.sure
		o := ordering{driftingBucket: driftingBucket{burst: l.burst, ramp: l.ramp}, budget: 1_000_000}
		got := o.solve(h)
		want := l.possible(latticeState{t: -1})
		switch {
		case want && got != possible:
			t.Fatalf("history %d %+v, burst %d, ramp %d: got %d, but a drift explains it", n, h.sure, l.burst, l.ramp, got)
		case want:
			both++
		case got == possible:
			more++
		}
	}
	t.Logf("of %d histories %d are possible on the lattice, and %d more between its points", histories, both, more)
	if both < histories/10 || more > histories/5 {
		t.Errorf("%d possible, %d more: the histories try one side only, or the bucket allows too much", both, more)
	}
}

// drifter is a right limiter whose clock runs as fast as the slack allows, as
// slow, or something between, for a while; it shows in steps of the quantum.
type drifter struct {
	rng   *rand.Rand
	limit scenarios.Limit
	mode  int     // 0: fast, 1: slow, 2: changes
	speed float64 // now
	until int64   // then it changes
	own   float64 // ns on its clock
	at    int64   // ns
	keys  map[string]*level
}

func (d *drifter) clock(at int64) float64 {
	fast, slow := 1+float64(d.limit.Slack.Over)/1e6, 1-float64(d.limit.Slack.Under)/1e6
	if q := int64(d.limit.Slack.Quantum); q > 0 {
		at -= at % q
	}
	for d.at < at {
		if d.at >= d.until {
			d.speed = []float64{fast, slow, slow + d.rng.Float64()*(fast-slow)}[d.mode%3]
			if d.mode == 3 {
				d.speed = []float64{fast, slow}[d.rng.IntN(2)]
			}
			d.until = d.at + 1 + d.rng.Int64N(int64(d.limit.Rate.Time(3)))
		}
		next := min(at, d.until)
		d.own += float64(next-d.at) * d.speed
		d.at = next
	}
	return d.own
}

func (d *drifter) admits(key string, at, cost int64) bool {
	now, b := d.clock(at), float64(d.limit.Burst)
	l := d.keys[key]
	if l == nil {
		l = &level{tokens: b, at: now}
		d.keys[key] = l
	}
	l.tokens = min(b, l.tokens+(now-l.at)*d.limit.Rate.PerSecond()/1e9)
	l.at = now
	if l.tokens < float64(cost) {
		return false
	}
	l.tokens -= float64(cost)
	return true
}

// decider is a limiter in virtual time.
type decider interface {
	admits(key string, at, cost int64) bool
}

// fireAt sends the shots, with costs up to most, at a limiter.
func (w *world) fireAt(d decider, shots []shot, most int64) {
	arrives := make([]int64, len(shots))
	order := make([]int, len(shots))
	for i, s := range shots {
		arrives[i], order[i] = s.at+w.way(), i
		w.hits = append(w.hits, results.Hit{Seq: int64(i + 1), Key: s.key, Cost: 1 + w.rng.Int64N(most), Sent: s.at})
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(arrives[a], arrives[b]) })
	for _, i := range order {
		h := &w.hits[i]
		h.Outcome = results.Limited
		if d.admits(h.Key, arrives[i], h.Cost) {
			h.Outcome = results.Admitted
		}
		h.First = arrives[i] + w.way()
		h.Done = h.First
		if w.rng.Float64() < w.lost {
			h.Outcome, h.First, h.Done = results.Unknown, results.Never, h.Sent+int64(2*time.Second)
		}
	}
}

// A right limiter with a drifting clock, in steps, behind a network with a heavy
// tail that loses answers, is never accused by the exact check.
func TestExactCheckNeverAccusesADrifter(t *testing.T) {
	limits := []scenarios.Limit{promised(10, 5, time.Second), promised(1, 5, time.Second), promised(2, 100, time.Minute),
		promised(20, 1000, time.Second), promised(7, 333, time.Minute)}
	slacks := []scenarios.Slack{scenarios.DefaultSlack(), {Over: 100_000, Under: 200_000}, {Quantum: 50 * time.Millisecond}, {}, {Under: 2000}}
	requests, enough, kept, runs := 0, 200_000, 0, 0
	if raced {
		enough = 10_000
	}
	for seed := uint64(0); requests < enough; seed++ {
		l := limits[seed%5]
		l.Slack = slacks[seed/5%5]
		l.Contract = []scenarios.Contract{"", scenarios.Nginx}[seed%2]
		w := newWorld(seed, l, []time.Duration{200 * time.Microsecond, 10 * time.Millisecond, 75 * time.Millisecond}[seed%3])
		w.lost = float64(seed%2) / 50
		d := &drifter{rng: w.rng, limit: l, mode: int(seed / 25 % 4), keys: map[string]*level{}}
		w.fireAt(d, w.standard(), min(l.Burst, 1+int64(seed%3)))
		v := w.judge(t, Options{Fresh: seed%7 > 0})
		for _, f := range v.Findings {
			switch {
			case f.Status == results.Broken && (f.Check == CheckExact || f.Check == CheckUpper || f.Check == CheckLower):
				t.Fatalf("seed %d, %v, %+v, delay %v, mode %d: %s: %s %s %v", seed, l, l.Slack, w.delay, d.mode, f.Check, f.Text, f.Proof, f.Seqs)
			case f.Check == CheckExact && f.Status == results.Kept:
				kept++
			case f.Check == CheckExact:
				t.Logf("seed %d, %v, delay %v: %v: %s", seed, l, w.delay, f.Status, f.Text)
			}
		}
		requests += len(w.hits)
		runs++
	}
	t.Logf("%d requests in %d runs, no accusation, %d runs explained", requests, runs, kept)
	if kept < runs*9/10 {
		t.Errorf("%d of %d runs were explained", kept, runs)
	}
}

// racer is a right limiter whose requests read the clock before they wait for
// their turn: each decides with a reading older by up to a quantum, in any order.
type racer struct {
	rng         *rand.Rand
	token, full int64 // ns
	quantum     int64
	due         map[string]int64 // theoretical arrival times
}

func (r *racer) admits(key string, at, cost int64) bool {
	at -= r.rng.Int64N(r.quantum + 1)
	due, ok := r.due[key]
	if ok && due > at+r.full-cost*r.token {
		return false
	}
	r.due[key] = max(due, at) + cost*r.token
	return true
}

// Neither the exact check nor the bounds accuse it.
func TestExactCheckNeverAccusesARacer(t *testing.T) {
	runs := uint64(300)
	if raced {
		runs = 20
	}
	for seed := range runs {
		l := promised(int64(1+seed%5), 5, time.Second)
		l.Slack.Quantum = 50 * time.Millisecond
		w := newWorld(seed, l, []time.Duration{time.Millisecond, 20 * time.Millisecond}[seed%2])
		token := int64(200 * time.Millisecond)
		r := &racer{rng: w.rng, token: token, full: token * l.Burst, quantum: int64(l.Slack.Quantum), due: map[string]int64{}}
		w.fireAt(r, w.standard(), 1)
		s := &sample{scene: &scene{sweep: newSweep(1, l.Slack.Quantum, 0, time.Minute), fresh: true}}
		s.hear(s.block(results.Block{Hits: w.hits, Low: math.MaxInt64}))
		s.hear(s.close())
		c := newConsistency(s, []scenarios.Limit{l})
		for slot, of := range s.slots(l) {
			c.judge(slot, of)
		}
		for _, f := range w.judge(t, Options{Fresh: true}).Findings {
			if f.Status == results.Broken && (f.Check == CheckUpper || f.Check == CheckLower || f.Check == CheckExact) {
				t.Fatalf("seed %d, delay %v: %s: %s", seed, w.delay, f.Check, f.Text)
			}
		}
		if c.count.broken > 0 || c.count.open > 0 || c.count.requests != len(w.hits) {
			t.Fatalf("seed %d, delay %v: of %d requests %+v", seed, w.delay, len(w.hits), c.count)
		}
	}
}
