package assertions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// layered are several limits that all have to admit.
type layered struct {
	each   []*virtual.Limited
	apart  bool // each is charged by itself, also for what another one refuses
	states map[string][]limiter.State
}

func (s *layered) Answer(r virtual.Request) virtual.Answer {
	if s.states == nil {
		s.states = map[string][]limiter.State{}
	}
	known := s.states[r.Key]
	if known == nil {
		for _, l := range s.each {
			known = append(known, l.Algorithm.Fresh(l.Now(r.At)))
		}
	}
	next, admitted, wait := make([]limiter.State, len(known)), true, int64(0)
	for i, l := range s.each {
		next[i] = known[i].Clone()
		d, _ := l.Algorithm.Decide(next[i], l.Now(r.At), r.Cost)
		if admitted = admitted && d.Admitted; !d.Admitted {
			wait = max(wait, d.RetryAfter())
		}
	}
	if s.states[r.Key] = known; admitted || s.apart {
		s.states[r.Key] = next
	}
	if admitted {
		return virtual.Answer{Status: 200}
	}
	return virtual.Answer{Status: 429, RetryAfter: strconv.FormatInt(wait, 10)}
}

// pair are two limits on the same keys, the small one first.
func pair(small, large scenarios.Limit) []scenarios.Limit {
	small, large = declared(small), declared(large)
	small.Name, large.Name = "small", "large"
	return []scenarios.Limit{small, large}
}

func pairs() [][]scenarios.Limit {
	per := func(n int64, w time.Duration) scenarios.Rate { return scenarios.Rate{Count: n, Per: w} }
	return [][]scenarios.Limit{
		pair(scenarios.Limit{Contract: scenarios.FixedWindow, Align: scenarios.AlignFirstHit, Rate: per(5, time.Second)},
			scenarios.Limit{Contract: scenarios.FixedWindow, Align: scenarios.AlignFirstHit, Rate: per(20, 15*time.Second)}),
		pair(scenarios.Limit{Contract: scenarios.TokenBucket, Burst: 5, Rate: per(5, time.Second)}, scenarios.Limit{Contract: scenarios.SlidingLog, Rate: per(20, 15*time.Second)}),
		pair(scenarios.Limit{Contract: scenarios.TokenBucket, Burst: 4, Rate: per(8, time.Second)}, scenarios.Limit{Contract: scenarios.TokenBucket, Burst: 24, Rate: per(2, time.Second)}),
	}
}

func layeredOf(t *testing.T, limits []scenarios.Limit, rng *rand.Rand) *layered {
	s := &layered{}
	for _, l := range limits {
		s.each = append(s.each, alone(algorithmOf(t, l), rng))
	}
	return s
}

// asksAll is the standard scenario for several limits.
func asksAll(limits []scenarios.Limit, n virtual.Network, seed uint64) (sc scenarios.Scenario, most scenarios.Limit, c library.Circumstances) {
	most, beside := library.Lead(limits)
	c = library.Circumstances{RTT: 2 * n.OneWay, Seed: seed, Beside: beside}
	sc, _ = library.Standard(most, c)
	sc.Limits = limits
	return sc, most, c
}

// fired is what came of a plan at a server.
func fired(plan scenarios.Plan, l scenarios.Limit, s virtual.Server, n virtual.Network, seed uint64) []results.Block {
	return virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack, Jitter: 300 * time.Microsecond}, n, s, seed)
}

// layeredVerdict fires the standard scenario, and what follows a breach, at a server of
// several limits, and gives the verdict.
func layeredVerdict(t *testing.T, s virtual.Server, limits []scenarios.Limit, n virtual.Network, seed uint64) results.Verdict {
	t.Helper()
	sc, most, c := asksAll(limits, n, seed)
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	record := fired(plan, most, s, n, seed)
	v := concludedAll(t, limits, sc.Wanted, len(sc.Phases), record)
	if v.Status != results.Broken {
		return v
	}
	after := library.After(most, c, Suspect(v, most, nil), library.Means{Requests: 10_000, Length: 30 * time.Second})
	if len(after.Phases) == 0 {
		return v
	}
	both := sc.FollowedBy(after.Phases, plan.Length+100*time.Millisecond)
	if plan, err = both.Plan(scenarios.Supply{}); err != nil {
		t.Fatal(err)
	}
	later := plan.FollowUps(len(sc.Phases))
	later.Shots = later.Shots.Behind(1_000_000)
	return concludedAll(t, limits, sc.Wanted, len(sc.Phases), append(record, fired(later, most, s, n, seed+1)...))
}

// Whichever of several limits is wrong, and in whatever way, is told from limits that
// are charged one by one. HAMMER_CAUSES is how many seeds are tried.
func TestLimitsChargedApartAreNamed(t *testing.T) {
	many, _ := strconv.ParseUint(os.Getenv("HAMMER_CAUSES"), 10, 32)
	networks := nearAndFar()
	if many == 0 {
		networks = networks[:1]
	}
	change := func(i int, f func(l *scenarios.Limit)) func(limits []scenarios.Limit) {
		return func(limits []scenarios.Limit) { f(&limits[i]) }
	}
	smaller := func(l *scenarios.Limit) { *sizeOf(l) -= 1 }
	slower := func(l *scenarios.Limit) { l.Rate.Per = l.Rate.Per * 5 / 4 }
	tests := []struct {
		name   string
		apart  bool
		change func([]scenarios.Limit)
		daily  []int // the pairs that are tried where HAMMER_CAUSES says nothing
	}{
		{"charged one by one", true, func([]scenarios.Limit) {}, []int{0, 1}},
		{"all or nothing", false, func([]scenarios.Limit) {}, []int{0}},
		{"the small one is smaller", false, change(0, smaller), []int{2}},
		{"the small one is slower", false, change(0, slower), nil},
		{"the large one is smaller", false, change(1, smaller), []int{1}},
		{"the large one is slower", false, change(1, slower), nil},
		{"a refusal blocks", false, func([]scenarios.Limit) {}, []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			named, all := 0, 0
			for p, limits := range pairs() {
				if many == 0 && !slices.Contains(tt.daily, p) {
					continue
				}
				for seed := range max(many, 1) {
					for _, net := range networks {
						really := slices.Clone(limits)
						tt.change(really)
						s := layeredOf(t, really, rand.New(rand.NewPCG(seed, 5)))
						s.apart = tt.apart
						var server virtual.Server = s
						if tt.name == "a refusal blocks" {
							server = &barring{Server: s, bar: 2 * time.Second, until: map[string]int64{}}
						}
						v := layeredVerdict(t, server, limits, net, seed)
						id, text := "nothing", ""
						if len(v.Causes) > 0 {
							id, text = v.Causes[0].ID, fmt.Sprint(v.Causes[0].Limit, ": ", v.Causes[0].Text, v.Causes[0].Reasons)
						}
						right := (id == CauseApart) == tt.apart
						if tt.name == "all or nothing" {
							right = v.Status != results.Broken
						}
						if all++; right {
							named++
						} else {
							t.Logf("pair %d, %v, seed %d: %v %v %s: %s", p, net.OneWay, seed, v.Status, broken(v), id, text)
						}
					}
				}
			}
			if named*100 < all*95 || !tt.apart && named < all {
				t.Errorf("got %d of %d right", named, all)
			}
		})
	}
}
