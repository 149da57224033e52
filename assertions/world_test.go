package assertions

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// world is a client, a network and a server in virtual time. Its bucket is
// written for the tests alone, in nanotokens, and shares nothing with the judge.
type world struct {
	rng    *rand.Rand
	delay  time.Duration // median of one way
	lost   float64       // share of answers that get lost
	limit  scenarios.Limit
	server server
	hits   []results.Hit
	causes bool // whether they are searched for, which takes most of the time
}

// server is a token bucket a key, with the faults the tests ask for.
type server struct {
	burst   float64 // tokens
	rate    float64 // tokens a second
	skew    float64 // its clock runs faster by this share
	quantum int64   // ns: step of its clock
	shared  bool    // one bucket for all keys
	empty   bool    // new keys have nothing
	charges bool    // refusals cost too
	floors  bool    // Retry-After is rounded down
	window  bool    // Retry-After is the time to fill the bucket
	keys    map[string]*level
}

type level struct{ tokens, at float64 }

// decide is the server's answer at a moment of the client's clock.
func (s *server) decide(key string, now int64, cost int64) (admitted bool, wait float64) {
	if s.shared {
		key = ""
	}
	at := float64(now) * (1 + s.skew)
	if s.quantum > 0 {
		at = math.Floor(at/float64(s.quantum)) * float64(s.quantum)
	}
	l := s.keys[key]
	if l == nil {
		l = &level{tokens: s.burst, at: at}
		if s.empty {
			l.tokens = 0
		}
		s.keys[key] = l
	}
	l.tokens = min(s.burst, l.tokens+max(0, at-l.at)*s.rate/1e9)
	l.at = at
	// A millionth of a token makes up for the rounding of float64.
	if l.tokens+1e-6 >= float64(cost) {
		l.tokens -= float64(cost)
		return true, 0
	}
	wait = (float64(cost) - l.tokens) / s.rate
	if s.charges {
		l.tokens = max(0, l.tokens-0.5)
	}
	return false, wait
}

// way is one delay of the network: log-normal, now and then fifty times as long.
func (w *world) way() int64 {
	d := float64(w.delay) * math.Exp(w.rng.NormFloat64()*0.5)
	if w.rng.IntN(100) == 0 {
		d *= 50
	}
	return int64(d)
}

// shot is one request to send.
type shot struct {
	at  int64
	key string
}

// fire sends the shots and records what came back.
func (w *world) fire(shots []shot) {
	type arrival struct {
		hit int
		at  int64
	}
	var arrivals []arrival
	for i, s := range shots {
		h := results.Hit{Seq: int64(len(w.hits) + 1), Key: s.key, Cost: 1, Planned: s.at, Sent: s.at, Done: results.Never}
		w.hits = append(w.hits, h)
		arrivals = append(arrivals, arrival{len(w.hits) - 1, shots[i].at + w.way()})
	}
	slices.SortFunc(arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	for _, a := range arrivals {
		h := &w.hits[a.hit]
		admitted, wait := w.server.decide(h.Key, a.at, h.Cost)
		h.First = a.at + w.way()
		h.Done = h.First
		if w.rng.Float64() < w.lost {
			h.First, h.Done = results.Never, h.Sent+int64(2*time.Second)
			continue
		}
		if admitted {
			h.Outcome, h.Status = results.Admitted, 200
			continue
		}
		h.Outcome, h.Status, h.RetryAfter = results.Limited, 429, w.server.retryAfter(wait)
	}
}

func (s *server) retryAfter(wait float64) string {
	switch {
	case s.floors:
		return strconv.Itoa(int(wait))
	case s.window:
		return strconv.Itoa(int(math.Ceil(s.burst / s.rate)))
	}
	return strconv.Itoa(max(1, int(math.Ceil(wait))))
}

// judge gives the record to a judge as a recorder would: in the order of ends,
// in blocks, each as low as is true.
func (w *world) judge(t *testing.T, opts Options) results.Verdict {
	t.Helper()
	return w.judgeWith(t, opts)
}

// judgeWith also tells of marks, before everything else.
func (w *world) judgeWith(t *testing.T, opts Options, marks ...results.Mark) results.Verdict {
	t.Helper()
	opts.NoCauses = !w.causes
	j, err := New([]scenarios.Limit{w.limit}, opts)
	if err != nil {
		t.Fatal(err)
	}
	hits := slices.Clone(w.hits)
	slices.SortFunc(hits, func(a, b results.Hit) int { return cmp.Compare(a.Done, b.Done) })
	lows := make([]int64, len(hits)+1)
	lows[len(hits)] = math.MaxInt64
	for i := len(hits) - 1; i >= 0; i-- {
		lows[i] = min(lows[i+1], hits[i].Sent)
	}
	j.Block(results.Block{Marks: marks, Low: 0})
	for i := 0; i < len(hits); i += 1000 {
		n := min(i+1000, len(hits))
		j.Block(results.Block{Hits: hits[i:n], Low: lows[n]})
	}
	run := results.Run{Planned: int64(len(hits)), Sent: int64(len(hits))}
	return j.Verdict(&run)
}

func newWorld(seed uint64, l scenarios.Limit, delay time.Duration) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 99)), delay: delay, limit: l,
		server: server{burst: float64(l.Burst), rate: l.Rate.PerSecond(), keys: map[string]*level{}}}
}

// standard is a load that asks a bucket everything: volleys at rest, pressure,
// rests, a pace just below the rate, and a request after each wait.
func (w *world) standard() []shot {
	b, token := int(w.limit.Burst), int64(w.limit.Rate.Time(1))
	var shots []shot
	add := func(at int64, key string) { shots = append(shots, shot{at, key}) }
	for k := range 3 {
		for range 2*b + 3 {
			add(int64(k)*1000, fmt.Sprintf("volley%d", k))
		}
	}
	for i := range 600 {
		add(int64(i)*token/4+w.rng.Int64N(token/8+1), "pressure")
	}
	for r := range 6 {
		for range b + 5 {
			add(int64(r)*token*int64(b+2)*int64(r+1)/4, "rests")
		}
	}
	for i := range 60 {
		add(int64(i)*(token+token/50), "below")
	}
	return shots
}

func promised(b int64, count int64, per time.Duration) scenarios.Limit {
	return scenarios.Limit{Burst: b, Rate: scenarios.Rate{Count: count, Per: per}, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "K"}}
}

func broken(v results.Verdict) (checks []string) {
	for _, f := range v.Findings {
		if f.Status == results.Broken {
			checks = append(checks, f.Check+": "+f.Text)
		}
	}
	return checks
}

func TestRightLimiterIsNeverAccused(t *testing.T) {
	limits := []scenarios.Limit{promised(10, 5, time.Second), promised(1, 5, time.Second), promised(2, 100, time.Minute),
		promised(100, 1000, time.Second), promised(3, 1, 7*time.Second), promised(20, 9999, time.Second)}
	requests, kept := 0, 0
	enough := 1_000_000
	if raced {
		enough = 100_000
	}
	for seed := uint64(0); requests < enough; seed++ {
		l := limits[seed%uint64(len(limits))]
		w := newWorld(seed, l, []time.Duration{200 * time.Microsecond, 10 * time.Millisecond, 75 * time.Millisecond}[seed/6%3])
		if seed%2 == 1 {
			w.lost = 0.01
		}
		if seed%3 == 1 { // a millisecond clock, 400 ppm off
			w.limit.Slack = scenarios.DefaultSlack()
			w.server.quantum, w.server.skew = int64(time.Millisecond), []float64{4e-4, -4e-4}[seed%2]
		}
		w.fire(w.standard())
		v := w.judge(t, Options{Fresh: true})
		if v.Status == results.Broken {
			t.Fatalf("seed %d, %v, delay %v: a right limiter was accused: %q", seed, l, w.delay, broken(v))
		}
		if v.Status == results.Kept {
			kept++
		}
		requests += len(w.hits)
	}
	t.Logf("%d requests, no accusation, %d runs kept", requests, kept)
	if kept == 0 {
		t.Errorf("no run was kept")
	}
}

func TestFaultsAreFound(t *testing.T) {
	tests := []struct {
		name  string
		fault func(*server)
		check string
	}{
		{"one token more", func(s *server) { s.burst++ }, CheckUpper},
		{"one token less", func(s *server) { s.burst-- }, CheckLower},
		{"2 % too fast", func(s *server) { s.rate *= 1.02 }, CheckUpper},
		{"2 % too slow", func(s *server) { s.rate *= 0.98 }, CheckLower},
		{"starts empty", func(s *server) { s.empty = true }, CheckLower},
		{"charges refusals", func(s *server) { s.charges = true }, CheckLower},
		{"no limit", func(s *server) { s.burst = 1e9 }, CheckEnforced},
		{"one budget for all keys", func(s *server) { s.shared = true }, CheckIsolation},
		{"Retry-After rounded down", func(s *server) { s.floors = true }, CheckPositive},
		{"Retry-After of a window", func(s *server) { s.window = true }, CheckTight},
	}
	few := uint64(100)
	if raced {
		few = 5
	}
	for _, tt := range tests {
		for seed := range few {
			w := newWorld(seed, promised(10, 5, time.Second), 300*time.Microsecond)
			tt.fault(&w.server)
			w.fire(w.standard())
			v := w.judge(t, Options{Fresh: true})
			found := false
			for _, f := range v.Findings {
				found = found || f.Check == tt.check && f.Status == results.Broken
			}
			if !found || v.Status != results.Broken {
				t.Errorf("%s, seed %d: %s was not broken: %v %q", tt.name, seed, tt.check, v.Status, broken(v))
				break
			}
		}
	}
}
