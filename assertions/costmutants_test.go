package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// costly is a limit whose requests say in a header what they cost.
func costly(l scenarios.Limit) scenarios.Limit {
	l = declared(l)
	l.CostHeader = "X-Cost"
	return l
}

// costMutants are the faults of a bucket that shows with costs alone.
var costMutants = []struct {
	name   string
	server mutant
	told   string
}{
	{"cost ignored", mutant{flat: true}, CheckUpper},
	{"cost charged twice", mutant{twice: true}, CheckLower},
	{"refused cost spends", mutant{gulps: true}, CheckLower},
	{"oversize drains, 429", mutant{drains: true}, CheckLower},
	{"oversize drains, 400", mutant{drains: true, tooMuch: 400}, CheckLower},
	{"oversize drains, 413", mutant{drains: true, tooMuch: 413}, CheckLower},
}

// Each fault is caught where the promise says how costs are stated, and unseen
// where it does not; the right bucket is never accused, whatever it answers to a
// cost that is too large.
func TestCostMutantsAreCaught(t *testing.T) {
	few := seeds(4)
	l := costly(scenarios.Limit{Burst: 20, Rate: bucket20().Rate})
	for name, net := range networks() {
		for _, tt := range costMutants {
			caught := uint64(0)
			for seed := range few {
				m := tt.server
				if toldBy(accused(t, &m, l, net, seed), tt.told) {
					caught++
				}
			}
			t.Logf("%-20s %-7s caught %d of %d", tt.name, name, caught, few)
			if net.Loss < 0.005 && caught*100 < few*95 {
				t.Errorf("%s at %s: caught in %d of %d seeds", tt.name, name, caught, few)
			}
			m := tt.server
			if found := accused(t, &m, bucket20(), net, 1); len(found) > 0 {
				t.Errorf("%s at %s: found without a cost header: %+v", tt.name, name, found)
			}
		}
		for seed := range 3 * few {
			m := mutant{tooMuch: []int{0, 400, 413}[seed%3]}
			if found := accused(t, &m, l, net, seed); len(found) > 0 {
				t.Fatalf("%s, seed %d: the right bucket is accused: %+v", name, seed, found)
			}
		}
	}
}

// Every right algorithm that has costs is never accused when it is asked for
// several tokens.
func TestRightCostsAreNeverAccused(t *testing.T) {
	few := seeds(3)
	asked := append([]string{"lumps{burst=10,rate=4/1s,align=epoch}", "sliding-counter{rate=20/20s,test=lt}"}, rightAlgorithms...)
	for _, text := range asked {
		l := costly(algorithm(t, text).Promise())
		if l.Check() != nil {
			continue // it has no costs
		}
		for name, net := range networks() {
			for seed := range few {
				if found := accused(t, serverOf(algorithm(t, text), seed), l, net, seed); len(found) > 0 {
					t.Fatalf("%s, %s, seed %d: %+v", text, name, seed, found)
				}
			}
		}
	}
}

// Counting requests instead of tokens is found under each contract that has costs.
func TestIgnoredCostsAreCaught(t *testing.T) {
	few := seeds(3)
	for _, text := range rightAlgorithms {
		l := costly(algorithm(t, text).Promise())
		if l.Check() != nil {
			continue
		}
		caught := uint64(0)
		for seed := range few {
			if toldBy(accused(t, flat{serverOf(algorithm(t, text), seed)}, l, virtual.LAN(), seed), CheckUpper) {
				caught++
			}
		}
		t.Logf("%-45s caught %d of %d", text, caught, few)
		if caught*100 < few*95 {
			t.Errorf("%s: caught in %d of %d seeds", text, caught, few)
		}
	}
}

// flat is a server that takes each request for one token.
type flat struct{ virtual.Server }

func (f flat) Answer(r virtual.Request) virtual.Answer {
	r.Cost = 1
	return f.Server.Answer(r)
}

func accused(t *testing.T, s virtual.Server, l scenarios.Limit, n virtual.Network, seed uint64) []results.Finding {
	t.Helper()
	j, _ := triedOf(t, s, l, n, seed)
	return j.accusations()
}

func toldBy(found []results.Finding, check string) bool {
	for _, f := range found {
		if strings.Contains(check, f.Check) {
			return true
		}
	}
	return false
}

// Who was told when to come back with one token, and comes with five, has not
// obeyed.
func TestLargerCostDoesNotObey(t *testing.T) {
	w := newWorld(1, promised(5, 1, time.Second), time.Millisecond)
	add := func(at time.Duration, cost int64, o results.Outcome, wait string) {
		h := results.Hit{Seq: int64(len(w.hits) + 1), Key: "a", Cost: cost, Sent: int64(at), First: int64(at + time.Millisecond), Outcome: o, Status: 429, RetryAfter: wait}
		h.Done = h.First
		w.hits = append(w.hits, h)
	}
	add(0, 5, results.Admitted, "")
	add(10*time.Millisecond, 1, results.Limited, "1")
	add(1200*time.Millisecond, 5, results.Limited, "4")
	if got := broken(w.judge(t, Options{Fresh: true})); len(got) > 0 {
		t.Errorf("got %q broken, want nothing", got)
	}
	add(5300*time.Millisecond, 1, results.Limited, "1") // which is there, and was told to be
	if got := strings.Join(broken(w.judge(t, Options{Fresh: true})), " "); !strings.Contains(got, CheckHonest) {
		t.Errorf("got %q broken, want %s", got, CheckHonest)
	}
}
