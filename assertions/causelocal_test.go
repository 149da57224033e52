package assertions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// racing is a token bucket that decides before it has counted what it let in
// during the last gap.
type racing struct {
	burst, perSecond float64
	gap              int64
	keys             map[string]*bucketOfRace
}

type bucketOfRace struct {
	level, at float64
	admitted  []int64 // not counted yet
}

func (s *racing) Answer(r virtual.Request) virtual.Answer {
	k := s.keys[r.Key]
	if k == nil {
		k = &bucketOfRace{level: s.burst, at: float64(r.At)}
		s.keys[r.Key] = k
	}
	for len(k.admitted) > 0 && k.admitted[0] <= r.At-s.gap {
		k.level = max(k.level-1, 0)
		k.admitted = k.admitted[1:]
	}
	k.level = min(s.burst, k.level+(float64(r.At)-k.at)*s.perSecond/1e9)
	k.at = float64(r.At)
	if k.level+1e-6 < 1 {
		return virtual.Answer{Status: 429, RetryAfter: "1"}
	}
	k.admitted = append(k.admitted, r.At)
	return virtual.Answer{Status: 200}
}

// A promise that is kept but for something is not taken for another limit.
func TestWhatIsNoOtherLimit(t *testing.T) {
	l := asBucket(10, 2*time.Second) // 5/s
	stepped := func(by time.Duration) func(int64) int64 {
		return func(at int64) int64 {
			if at > int64(2500*time.Millisecond) {
				at += int64(by)
			}
			return int64(time.Hour) + at
		}
	}
	text := "token-bucket{burst=10,rate=5/1s}"
	tests := []struct {
		name   string
		server func() virtual.Server
		want   string
	}{
		{"a race", func() virtual.Server {
			return &racing{burst: 10, perSecond: 5, gap: int64(100 * time.Microsecond), keys: map[string]*bucketOfRace{}}
		}, CauseRace},
		{"a clock that is stepped forward, seen on one key", func() virtual.Server {
			return &virtual.Limited{Algorithm: algorithm(t, text), Now: stepped(10 * time.Second)}
		}, CauseMoment},
		{"nothing is limited", func() virtual.Server {
			return &virtual.Limited{Algorithm: algorithm(t, "token-bucket{burst=100000,rate=5/1s}")}
		}, CauseAbsent},
	}
	for _, tt := range tests {
		right := 0
		seeds := 6
		if raced {
			seeds = 1
		}
		for seed := range uint64(seeds) {
			v := suspected(t, tt.server(), l, virtual.LAN(), seed)
			if len(v.Causes) > 0 && v.Causes[0].ID == tt.want {
				right++
			} else if len(v.Causes) > 0 {
				t.Logf("%s, seed %d: %s: %s", tt.name, seed, v.Causes[0].ID, v.Causes[0].Text)
			} else {
				t.Logf("%s, seed %d: no cause of %q", tt.name, seed, broken(v))
			}
		}
		t.Logf("%s: %s named in %d of %d runs", tt.name, tt.want, right, seeds)
		if right*100 < seeds*95 {
			t.Errorf("%s: got %s in %d of %d runs", tt.name, tt.want, right, seeds)
		}
	}
}

// Keys that are polled at the same time, and did not begin together, show that
// a clock was stepped.
func TestSteppedClockIsSeenOnManyKeys(t *testing.T) {
	l := asBucket(10, 2*time.Second)
	plan := scenarios.Plan{Keys: []string{"a", "b", "c"}}
	var shots []scenarios.Shot
	for i := range int64(3000) {
		at := i * int64(2*time.Millisecond)
		if k := int32(i % 3); at >= int64(k)*int64(700*time.Millisecond) {
			shots = append(shots, scenarios.Shot{At: at, Key: k, Cost: 1})
		}
	}
	plan.Shots = scenarios.ShotsOf(shots)
	server := &virtual.Limited{Algorithm: algorithm(t, "token-bucket{burst=10,rate=5/1s}"), Now: func(at int64) int64 {
		if at > int64(4*time.Second) {
			at += int64(10 * time.Second)
		}
		return at
	}}
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack}, virtual.LAN(), server, 1) {
		j.Block(b)
	}
	v := j.Verdict(&results.Run{Planned: int64(len(shots)), Sent: int64(len(shots))})
	if len(v.Causes) == 0 || v.Causes[0].ID != CauseClock {
		t.Fatalf("got %+v, want %s", v.Causes, CauseClock)
	}
	t.Log(v.Causes[0].Text, v.Causes[0].Reasons)
}

// The faults of a bucket that the tests of the verdicts know, and their causes.
func TestCausesOfFaults(t *testing.T) {
	tests := []struct {
		name  string
		fault func(*server)
		want  string
	}{
		{"one token more", func(s *server) { s.burst++ }, CauseOffset},
		{"one token less", func(s *server) { s.burst-- }, CauseOffset},
		{"2 % too fast", func(s *server) { s.rate *= 1.02 }, CauseRate},
		{"2 % too slow", func(s *server) { s.rate *= 0.98 }, CauseRate},
		{"twice the budget", func(s *server) { s.rate *= 2; s.burst *= 2 }, CauseMultiple},
		{"half the budget", func(s *server) { s.rate /= 2; s.burst /= 2 }, CauseFraction},
		{"starts empty", func(s *server) { s.empty = true }, CauseEmpty},
		{"no limit", func(s *server) { s.burst = 1e9 }, CauseAbsent},
		{"one budget for all keys", func(s *server) { s.shared = true }, CauseShared},
	}
	for _, tt := range tests {
		for seed := range uint64(1) {
			w := newWorld(seed, promised(10, 5, time.Second), 300*time.Microsecond)
			w.limit.Slack = scenarios.DefaultSlack()
			tt.fault(&w.server)
			w.fire(w.standard())
			w.causes = true
			v := w.judge(t, Options{Fresh: true})
			if len(v.Causes) == 0 || v.Causes[0].ID != tt.want {
				t.Errorf("%s, seed %d: got %+v, want %s", tt.name, seed, v.Causes, tt.want)
				break
			}
			if seed == 0 {
				t.Logf("%s: %s %q", tt.name, v.Causes[0].Text, v.Causes[0].Reasons)
			}
		}
	}
}

// A breach is told without its cause where none is asked for, and a kept promise has none.
func TestCausesAreNotForced(t *testing.T) {
	w := newWorld(1, promised(10, 5, time.Second), 300*time.Microsecond)
	w.fire(w.standard())
	w.causes = true
	if v := w.judge(t, Options{Fresh: true}); v.Status != results.Kept || v.Causes != nil {
		t.Errorf("got %v with causes %v, want kept with none", v.Status, v.Causes)
	}
	w = newWorld(1, promised(10, 5, time.Second), 300*time.Microsecond)
	w.server.burst++
	w.fire(w.standard())
	w.causes = false
	if v := w.judge(t, Options{Fresh: true}); v.Status != results.Broken || v.Causes != nil {
		t.Errorf("got %v with causes %v, want broken with none", v.Status, v.Causes)
	}
}

// A promise of windows has causes as well: other windows, or a bucket.
func TestCausesOfWrongWindows(t *testing.T) {
	l := declared(scenarios.Limit{Contract: scenarios.FixedWindow, Rate: scenarios.Rate{Count: 10, Per: 2 * time.Second}})
	tests := []struct{ algorithm, want string }{
		{"fixed-window{rate=11/2s}", CauseOffset},
		{"fixed-window{rate=20/2s}", CauseMultiple},
		{"fixed-window{rate=13/2s}", CauseSize},
		{"token-bucket{burst=10,rate=10/2s}", "contract.token-bucket"},
		{"sliding-counter{rate=10/2s}", "contract.sliding-counter"},
	}
	for _, tt := range tests {
		for seed := range uint64(1) {
			v := suspected(t, &virtual.Limited{Algorithm: algorithm(t, tt.algorithm)}, l, virtual.LAN(), seed)
			if len(v.Causes) == 0 || v.Causes[0].ID != tt.want {
				t.Errorf("%s, seed %d: %v %q: got %+v, want %s", tt.algorithm, seed, v.Status, broken(v), v.Causes, tt.want)
			}
		}
	}
}

// With several limits a refusal may be any one's; the wrong one is named by what
// it lets through.
func TestCausesWithSeveralLimits(t *testing.T) {
	slow, fast := asBucket(40, 20*time.Second), asBucket(10, 2*time.Second)
	slow.Name, fast.Name = "slow", "fast"
	plan, err := standardPlan(fast)
	if err != nil {
		t.Fatal(err)
	}
	j, err := New([]scenarios.Limit{slow, fast}, Options{Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	server := &virtual.Limited{Algorithm: algorithm(t, "token-bucket{burst=11,rate=10/2s}")}
	for _, b := range virtual.Run(plan, virtual.Client{Answers: fast.Answers, Slack: fast.Slack}, virtual.LAN(), server, 1) {
		j.Block(b)
	}
	v := j.Verdict(&results.Run{Planned: 1, Sent: 1})
	for _, c := range v.Causes {
		if c.ID == causeUnknown {
			t.Fatal(c.Text)
		}
	}
	t.Logf("%v %q: %+v", v.Status, broken(v), v.Causes)
	if v.Status != results.Broken {
		t.Errorf("got %v, want broken", v.Status)
	}
}

func standardPlan(l scenarios.Limit) (scenarios.Plan, error) {
	s, _ := library.Standard(l, library.Circumstances{RTT: time.Millisecond, Seed: 1})
	return s.Plan(scenarios.Supply{})
}

// Where a larger limit explains what was admitted, and a race does as well, neither
// is told as if it were known. One request after the other tells them apart.
func TestARaceIsNamedBesideWhatExplainsAsMuch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		space time.Duration // from one request to the next, each of which takes 5 ms
		race  bool
	}{{"at once", 10 * time.Microsecond, true}, {"one after the other", 20 * time.Millisecond, false}} {
		j, err := New([]scenarios.Limit{asBucket(10, 10*time.Second)}, Options{Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		var hits []results.Hit
		for key := range 3 {
			for n := range 15 {
				at := int64(key)*int64(time.Second) + int64(n)*int64(tt.space)
				h := results.Hit{Seq: int64(len(hits) + 1), Key: string(rune('a' + key)), Cost: 1, Sent: at, First: at + int64(5*time.Millisecond), Done: at + int64(5*time.Millisecond), Outcome: results.Admitted}
				if n >= 12 {
					h.Outcome = results.Limited
				}
				hits = append(hits, h)
			}
		}
		j.Block(results.Block{Hits: hits, Low: results.Never})
		v := j.Verdict(&results.Run{})
		if len(v.Causes) == 0 || v.Causes[0].ID == CauseRace {
			t.Fatalf("%s: got %+v, want a larger limit first", tt.name, v.Causes)
		}
		race := slices.ContainsFunc(v.Causes, func(c results.Cause) bool { return c.ID == CauseRace })
		if race != tt.race || strings.HasPrefix(v.Causes[0].Text, "perhaps ") != tt.race || race && v.Causes[0].Only {
			t.Errorf("%s: a race beside it: %v, want %v: %s", tt.name, race, tt.race, v.Causes[0].Text)
		}
	}
}
