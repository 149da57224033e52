package assertions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// culprit is a kind of limiter that is not what it is declared to be: a token
// bucket of n at n per window.
type culprit struct {
	name  string
	make  func(t *testing.T, rng *rand.Rand, n int64, w time.Duration) (virtual.Server, scenarios.Limit)
	right func(c results.Cause, n int64, w time.Duration) bool
}

// alone is the server of an algorithm, whose clock began at another moment than
// the run, has millisecond steps, and runs a little wrong.
func alone(a limiter.Algorithm, rng *rand.Rand) *virtual.Limited {
	offset, skew := rng.Int64N(int64(time.Hour)), rng.Int64N(7)-3
	return &virtual.Limited{Algorithm: a, Now: func(at int64) int64 {
		now := offset + at + at/10_000*skew
		return now - now%int64(time.Millisecond)
	}}
}

func rate(n int64, w time.Duration) string { return fmt.Sprintf("%d/%v", n, w) }

// asBucket is what everything is declared as.
func asBucket(n int64, w time.Duration) scenarios.Limit {
	return declared(scenarios.Limit{Burst: n, Rate: scenarios.Rate{Count: n, Per: w}})
}

// window is a culprit that is so many in a window by some algorithm.
func window(name, text string, right func(results.Cause) bool) culprit {
	return culprit{name: name,
		make: func(t *testing.T, rng *rand.Rand, n int64, w time.Duration) (virtual.Server, scenarios.Limit) {
			return alone(algorithm(t, fmt.Sprintf(text, rate(n, w))), rng), asBucket(n, w)
		},
		right: func(c results.Cause, n int64, w time.Duration) bool {
			r, err := scenarios.ParseRate(c.Rate)
			return err == nil && right(c) && r.Count == n && math.Abs(float64(r.Per-w)) <= float64(w)/100
		}}
}

func is(id, align string) func(results.Cause) bool {
	return func(c results.Cause) bool { return c.ID == id && c.Align == align }
}

// shards are so many buckets, each with the whole budget, that requests go to in
// turn or at random.
type shards struct {
	each []*virtual.Limited
	next func(n int) int
}

func (s *shards) Answer(r virtual.Request) virtual.Answer {
	return s.each[s.next(len(s.each))].Answer(r)
}

func sharded(name string, next func(rng *rand.Rand) func(int) int) culprit {
	var m int
	return culprit{name: name,
		make: func(t *testing.T, rng *rand.Rand, n int64, w time.Duration) (virtual.Server, scenarios.Limit) {
			m = 2 + rng.IntN(3)
			s := &shards{next: next(rng)}
			for range m {
				s.each = append(s.each, alone(algorithm(t, fmt.Sprintf("token-bucket{burst=%d,rate=%s}", n, rate(n, w))), rng))
			}
			return s, asBucket(n, w)
		},
		right: func(c results.Cause, n int64, w time.Duration) bool {
			return c.ID == CauseMultiple && c.Factor == float64(m)
		}}
}

func culprits() []culprit {
	var bucket scenarios.Limit
	var lump scenarios.Limit
	return []culprit{
		{name: "token-bucket, other numbers",
			make: func(t *testing.T, rng *rand.Rand, n int64, w time.Duration) (virtual.Server, scenarios.Limit) {
				l := asBucket(n, w)
				per := time.Duration(float64(w) * []float64{1, 1, 0.5 + rng.Float64()}[rng.IntN(3)]).Round(time.Millisecond)
				b := n
				if per == w {
					b = max(1, n+[]int64{1, -1, n, rng.Int64N(n) - n/2}[rng.IntN(4)])
				}
				bucket = scenarios.Limit{Burst: b, Rate: scenarios.Rate{Count: n, Per: per}}
				return alone(algorithm(t, fmt.Sprintf("token-bucket{burst=%d,rate=%s}", b, rate(n, per))), rng), l
			},
			right: func(c results.Cause, n int64, w time.Duration) bool {
				r, err := scenarios.ParseRate(c.Rate)
				return err == nil && c.Contract == "token-bucket" && c.Burst == bucket.Burst && math.Abs(r.PerSecond()/bucket.Rate.PerSecond()-1) <= 0.01
			}},
		{name: "lumps",
			make: func(t *testing.T, rng *rand.Rand, n int64, w time.Duration) (virtual.Server, scenarios.Limit) {
				k := 1 + rng.Int64N(n-1)
				lump = scenarios.Limit{Burst: n, Rate: scenarios.Rate{Count: k, Per: w}}
				align := []string{"epoch", "start", "first-hit"}[rng.IntN(3)]
				return alone(algorithm(t, fmt.Sprintf("lumps{burst=%d,rate=%s,align=%s}", n, rate(k, w), align)), rng), declared(scenarios.Limit{Burst: n, Rate: lump.Rate})
			},
			right: func(c results.Cause, n int64, w time.Duration) bool {
				r, err := scenarios.ParseRate(c.Rate)
				return err == nil && c.Contract == "lumps" && c.Burst == n && r.Count == lump.Rate.Count && math.Abs(float64(r.Per-w)) <= float64(w)/100
			}},
		window("fixed-window, epoch", "fixed-window{rate=%s,align=epoch}", is("contract.fixed-window", "grid")),
		window("fixed-window, start", "fixed-window{rate=%s,align=start}", is("contract.fixed-window", "grid")),
		window("fixed-window, first-hit", "fixed-window{rate=%s,align=first-hit}", is("contract.fixed-window", "first-hit")),
		window("sliding-log", "sliding-log{rate=%s}", is("contract.sliding-log", "")),
		window("sliding-counter", "sliding-counter{rate=%s}", is("contract.sliding-counter", "grid")),
		sharded("shards in turn", func(*rand.Rand) func(int) int {
			i := 0
			return func(n int) int { i++; return i % n }
		}),
		sharded("shards at random", func(rng *rand.Rand) func(int) int { return rng.IntN }),
	}
}

// suspected fires the standard scenario at a server, and what follows a breach
// whose cause is not known yet or may be another, and gives the verdict.
func suspected(t *testing.T, server virtual.Server, l scenarios.Limit, n virtual.Network, seed uint64) results.Verdict {
	t.Helper()
	c := library.Circumstances{RTT: 2 * n.OneWay, Seed: seed}
	s, _ := library.Standard(l, c)
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	client := virtual.Client{Answers: l.Answers, Slack: l.Slack, Jitter: 300 * time.Microsecond}
	record := virtual.Run(plan, client, n, server, seed)
	v := concluded(t, l, s.Wanted, len(s.Phases), record)
	if v.Status != results.Broken {
		return v
	}
	after := library.After(l, c, Suspect(v, l, nil), library.Means{Requests: 10_000, Length: 30 * time.Second})
	if len(after.Phases) == 0 {
		return v
	}
	both := s.FollowedBy(after.Phases, plan.Length+100*time.Millisecond)
	if plan, err = both.Plan(scenarios.Supply{}); err != nil {
		t.Fatal(err)
	}
	later := plan.FollowUps(len(s.Phases))
	later.Shots = later.Shots.Behind(1_000_000)
	followed := virtual.Run(later, client, n, server, seed+1)
	for _, b := range followed {
		for i := range b.Hits {
			if h := &b.Hits[i]; !both.Phases[h.Phase].Apart {
				h.Conn = 1 // one after the other they go over one connection
			}
		}
	}
	return concluded(t, l, s.Wanted, len(s.Phases), append(record, followed...))
}

// concluded is the verdict on a record, of which so many phases ask for it.
func concluded(t *testing.T, l scenarios.Limit, wanted int64, asked int, record []results.Block) results.Verdict {
	t.Helper()
	return concludedAll(t, []scenarios.Limit{l}, wanted, asked, record)
}

func concludedAll(t *testing.T, limits []scenarios.Limit, wanted int64, asked int, record []results.Block) results.Verdict {
	t.Helper()
	j, err := New(limits, Options{Fresh: true, Wanted: wanted, Asked: asked})
	if err != nil {
		t.Fatal(err)
	}
	run := results.Run{}
	for _, b := range record {
		run.Sent += int64(len(b.Hits))
		j.Block(b)
	}
	run.Planned = run.Sent
	return j.Verdict(&run)
}

// lineup is what was named as the cause of what a kind of limiter did wrong.
type lineup struct {
	broken, named, among int            // runs; those whose first cause is right, and those in which a right one is among all that fit
	said                 map[string]int // by the first cause
}

// draw is a random size and window, of 3 to 40 in 1 s to 20 s.
func draw(seed uint64) (*rand.Rand, int64, time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 4711))
	return rng, 3 + rng.Int64N(38), time.Duration(1000+rng.Int64N(19_001)) * time.Millisecond
}

// add takes in a run's verdict.
func (x *lineup) add(t *testing.T, k culprit, v results.Verdict, n int64, w time.Duration) {
	if v.Status != results.Broken {
		return
	}
	x.broken++
	first := "nothing"
	if len(v.Causes) > 0 {
		first = strings.TrimSpace(v.Causes[0].ID + " " + v.Causes[0].Align)
	}
	x.said[first]++
	at := slices.IndexFunc(v.Causes, func(c results.Cause) bool { return k.right(c, n, w) })
	if at >= 0 {
		x.among++
	}
	if at == 0 {
		x.named++
		return
	}
	text := fmt.Sprintf("no cause of %q", broken(v))
	if len(v.Causes) > 0 {
		text = v.Causes[0].Text
	}
	t.Logf("    %s, %d per %v: %s", k.name, n, w, text)
}

// The right cause is named of limiters of all kinds that were declared as token
// buckets. HAMMER_CAUSES is how many limiters of each kind are tried.
func TestCausesAreNamed(t *testing.T) {
	seeds := uint64(2)
	if raced {
		seeds = 1
	}
	if n, err := strconv.ParseUint(os.Getenv("HAMMER_CAUSES"), 10, 32); err == nil {
		seeds = n
	}
	near := virtual.Network{OneWay: 500 * time.Microsecond, Spread: 0.4, Tail: 0.01, TailBy: 30}
	for _, k := range culprits() {
		t.Run(k.name, func(t *testing.T) {
			for i, net := range []virtual.Network{near, virtual.WAN()} {
				x := lineup{said: map[string]int{}}
				for seed := range seeds {
					if i > 0 && os.Getenv("HAMMER_CAUSES") == "" && seed > 0 {
						break // every day one is enough
					}
					rng, n, w := draw(seed)
					server, l := k.make(t, rng, n, w)
					x.add(t, k, suspected(t, server, l, net, seed), n, w)
				}
				t.Logf("%-28s %-6v %3d broken, %3d named, %3d among those that fit: %v", k.name, net.OneWay, x.broken, x.named, x.among, x.said)
				if x.named*100 < x.broken*95 {
					t.Errorf("%s, %v: got %d of %d named, want 95 of 100", k.name, net.OneWay, x.named, x.broken)
				}
			}
		})
	}
}
