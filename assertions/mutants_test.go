package assertions

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// mutantSeeds is an environment variable: how many seeds each cell of the
// matrices below is tried on. make matrix sets it.
const mutantSeeds = "HAMMER_SEEDS"

func seeds(few int) uint64 {
	if n, err := strconv.Atoi(os.Getenv(mutantSeeds)); err == nil {
		return uint64(n)
	}
	if raced {
		return 1 // there is one goroutine
	}
	return uint64(few)
}

// mutant is a bucket of 20 with 10 a second, in 10^-9 tokens, with one thing
// changed. The zero changes are the right one.
type mutant struct {
	burst, perSecond int64         // 0: 20, 10
	empty            bool          // starts with nothing
	uncapped         bool          // fills on at rest
	charges          bool          // refusals cost a token, as long as there is one
	wholeSeconds     bool          // refills for whole seconds, and forgets the rest
	debt             bool          // admits what costs more than there is, and owes the rest
	shards           int           // so many buckets, in turn; 0: one
	race             time.Duration // requests that come so shortly after another see what that one saw
	lockout          time.Duration // a refusal refuses all for so long
	jostled          time.Duration // refusals that come so shortly after another cost a token, on credit
	flat             bool          // charges one token whatever the cost
	twice            bool          // charges each token of a cost above one twice
	gulps            bool          // a refused cost above one takes what there is
	drains           bool          // a cost larger than the burst empties the bucket
	tooMuch          int           // status of the answer to a cost larger than the burst; 0: it is refused
	keys             map[string]*mutantKey
}

type mutantKey struct {
	level, last     []int64 // by shard
	turn            int
	until           int64
	seen, seenUntil int64
	refused         int64 // when the last one was; 0: none
}

const token = int64(1e9)

func (m *mutant) Answer(r virtual.Request) virtual.Answer {
	burst, rate := m.burst, m.perSecond
	if burst == 0 {
		burst = 20
	}
	if rate == 0 {
		rate = 10 * token
	}
	k := m.key(r, burst)
	i := k.turn % len(k.level)
	k.turn++
	elapsed := r.At - k.last[i]
	if m.wholeSeconds {
		elapsed -= elapsed % int64(time.Second)
	}
	k.level[i] += int64(math.Round(float64(elapsed) * float64(rate) / 1e9))
	k.last[i] = r.At
	if !m.uncapped {
		k.level[i] = min(k.level[i], burst*token)
	}
	cost := m.charge(r.Cost, burst) * token
	if cost > burst*token && !m.debt {
		if m.drains {
			k.level[i] = 0
		}
		return m.turnAway()
	}
	if r.At < k.until {
		return m.refuse(0)
	}
	level := k.level[i]
	if m.race > 0 { // reads, waits, decides, and only then writes
		if r.At < k.seenUntil {
			level = k.seen
		} else {
			k.seen, k.seenUntil = level, r.At+int64(m.race)
		}
	}
	if level >= cost || m.debt && level > 0 {
		k.level[i] -= cost
		return virtual.Answer{Status: 200}
	}
	if m.charges {
		k.level[i] = max(0, k.level[i]-token)
	}
	if m.jostled > 0 {
		if k.refused > 0 && r.At-k.refused < int64(m.jostled) {
			k.level[i] -= token
		}
		k.refused = r.At
	}
	if m.gulps && r.Cost > 1 {
		k.level[i] = 0
	}
	if m.lockout > 0 {
		k.until = r.At + int64(m.lockout)
	}
	return m.refuse((cost - level + rate - 1) / rate)
}

// charge is what a request of some cost takes.
func (m *mutant) charge(cost, burst int64) int64 {
	switch {
	case m.flat:
		return 1
	case m.twice && cost > 1 && cost <= burst:
		return min(2*cost, burst)
	}
	return cost
}

// turnAway answers a request that no waiting would let in.
func (m *mutant) turnAway() virtual.Answer {
	if m.tooMuch == 0 {
		return m.refuse(1)
	}
	return virtual.Answer{Status: m.tooMuch}
}

func (m *mutant) refuse(seconds int64) virtual.Answer {
	return virtual.Answer{Status: 429, RetryAfter: strconv.FormatInt(max(1, seconds), 10)}
}

func (m *mutant) key(r virtual.Request, burst int64) *mutantKey {
	if k := m.keys[r.Key]; k != nil {
		return k
	}
	k := &mutantKey{}
	for range max(1, m.shards) {
		full := burst * token
		if m.empty {
			full = 0
		}
		k.level, k.last = append(k.level, full), append(k.last, r.At)
	}
	if m.keys == nil {
		m.keys = map[string]*mutantKey{}
	}
	m.keys[r.Key] = k
	return k
}

// mutants are the faults of a bucket, each with the assertions that may tell it.
var mutants = []struct {
	name   string
	server func() virtual.Server
	told   string // by one of these
	near   bool   // nobody can make it show through a network that takes requests apart
}{
	{"b+1", func() virtual.Server { return &mutant{burst: 21} }, CheckUpper, false},
	{"b-1", func() virtual.Server { return &mutant{burst: 19} }, CheckLower, false},
	{"r+2%", func() virtual.Server { return &mutant{perSecond: token * 102 / 10} }, CheckUpper, false},
	{"r-2%", func() virtual.Server { return &mutant{perSecond: token * 98 / 10} }, CheckLower, false},
	{"starts empty", func() virtual.Server { return &mutant{empty: true} }, CheckLower, false},
	{"no cap", func() virtual.Server { return &mutant{uncapped: true} }, CheckUpper, false},
	{"refusals charged", func() virtual.Server { return &mutant{charges: true} }, CheckLower, false},
	{"whole seconds", func() virtual.Server { return &mutant{wholeSeconds: true} }, CheckLower, false},
	{"goes into debt", func() virtual.Server { return &mutant{debt: true} }, CheckUpper, false},
	{"two shards", func() virtual.Server { return &mutant{shards: 2} }, CheckUpper, false},
	{"race of 1 ms", func() virtual.Server { return &mutant{race: time.Millisecond} }, CheckUpper, false},
	{"lockout of 3 s", func() virtual.Server { return &mutant{lockout: 3 * time.Second} }, CheckLower + " " + CheckHonest, false},
	{"refusals at once cost", func() virtual.Server { return &mutant{jostled: 2 * time.Microsecond} }, CheckLower, true},
}

// bucket20 is what the mutants promise.
func bucket20() scenarios.Limit {
	return declared(scenarios.Limit{Burst: 20, Rate: scenarios.Rate{Count: 10, Per: time.Second}})
}

// Each fault of a bucket is caught by the standard scenario, under the name of
// what it breaks, and the right bucket never.
func TestMutantsAreCaught(t *testing.T) {
	few := int(seeds(4))
	for _, tt := range mutants {
		for name, net := range networks() {
			if net.Loss > 0.005 || tt.near && name != "0.4 ms" {
				continue
			}
			caught := 0
			for seed := range uint64(few) {
				v := trialOf(t, tt.server(), bucket20(), net, seed)
				told := strings.Join(broken(v), "; ")
				for _, check := range strings.Fields(tt.told) {
					if strings.Contains(told, check) {
						caught++
						break
					}
				}
			}
			t.Logf("%-18s %-7s caught %d of %d", tt.name, name, caught, few)
			if caught*100 < few*95 {
				t.Errorf("%s at %s: caught in %d of %d seeds", tt.name, name, caught, few)
			}
		}
	}
	for seed := range uint64(3 * few) {
		if v := trialOf(t, &mutant{}, bucket20(), virtual.WAN(), seed); v.Status == results.Broken {
			t.Fatalf("seed %d: the right bucket is accused: %q", seed, broken(v))
		}
	}
}

// Under the contract of a neighbour a right algorithm is broken, where that can
// be seen. A queue of one place more is none of them: that an answer came late may
// be the network's doing, see TestMorePlacesCannotBeProved.
func TestNeighboursAreBroken(t *testing.T) {
	bucket := func(b int64, rate string) scenarios.Limit { return declaredAs(t, scenarios.TokenBucket, b, rate) }
	tests := []struct {
		algorithm string
		as        scenarios.Limit
	}{
		{"fixed-window{rate=20/2s,align=start}", bucket(20, "20/2s")},
		{"fixed-window{rate=20/2s,align=first-hit}", bucket(20, "20/2s")},
		{"sliding-log{rate=20/2s}", bucket(20, "20/2s")},
		{"sliding-counter{rate=20/2s}", bucket(20, "20/2s")},
		{"lumps{burst=20,rate=10/1s}", bucket(20, "10/s")},
		{"token-bucket{burst=21,rate=10/s}", bucket(20, "10/s")},
		{"token-bucket{burst=19,rate=10/s}", bucket(20, "10/s")},
		{"token-bucket{burst=20,rate=102/10s}", bucket(20, "10/s")},
		{"token-bucket{burst=20,rate=98/10s}", bucket(20, "10/s")},
		{"token-bucket{burst=20,rate=10/s}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"token-bucket{burst=20,rate=10/s}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"token-bucket{burst=20,rate=10/s}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"token-bucket{burst=20,rate=10/s}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"fixed-window{rate=20/2s,align=start}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"fixed-window{rate=20/2s,align=start}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"sliding-log{rate=20/2s}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"sliding-counter{rate=20/2s}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"sliding-counter{rate=20/2s}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"sliding-log{rate=20/2s}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"fixed-window{rate=21/2s,align=start}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"fixed-window{rate=19/2s,align=first-hit}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"fixed-window{rate=20/1960ms,align=start}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"fixed-window{rate=20/2040ms,align=start}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"sliding-log{rate=21/2s}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"sliding-log{rate=19/2s}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"sliding-log{rate=20/1960ms}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"sliding-log{rate=20/2040ms}", declaredAs(t, scenarios.SlidingLog, 0, "20/2s")},
		{"sliding-counter{rate=21/2s}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"sliding-counter{rate=19/2s}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"sliding-counter{rate=20/1960ms}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"sliding-counter{rate=20/2040ms}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
		{"lumps{burst=21,rate=10/1s}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"lumps{burst=19,rate=10/1s}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"lumps{burst=20,rate=10/980ms}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"lumps{burst=20,rate=10/1020ms}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"queue{burst=19,rate=10/s}", declaredAs(t, scenarios.Queue, 20, "10/s")},
		{"queue{burst=20,rate=102/10s}", declaredAs(t, scenarios.Queue, 20, "10/s")},
		{"queue{burst=20,rate=98/10s}", declaredAs(t, scenarios.Queue, 20, "10/s")},
		{"nginx{rate=10/s,burst=20,nodelay}", declaredAs(t, scenarios.Nginx, 20, "10/s")},
		{"nginx{rate=10/s,burst=18,nodelay}", declaredAs(t, scenarios.Nginx, 20, "10/s")},
	}
	few := seeds(3)
	for _, tt := range tests {
		caught := 0
		for seed := range few {
			if trial(t, algorithm(t, tt.algorithm), tt.as, virtual.LAN(), seed).Status == results.Broken {
				caught++
			}
		}
		t.Logf("%-42s as %-60s broken %d of %d", tt.algorithm, tt.as, caught, few)
		if uint64(caught)*100 < few*95 {
			t.Errorf("%s declared as %v: broken in %d of %d seeds", tt.algorithm, tt.as, caught, few)
		}
	}
}

func declaredAs(t *testing.T, c scenarios.Contract, burst int64, rate string) scenarios.Limit {
	t.Helper()
	r, err := scenarios.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	return declared(scenarios.Limit{Contract: c, Burst: burst, Rate: r})
}
