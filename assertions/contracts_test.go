package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

func algorithm(t testing.TB, text string) limiter.Algorithm {
	t.Helper()
	m, err := mode.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := limiter.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// declared is a limit as a user declares it: with a key, and the usual slack.
func declared(l scenarios.Limit) scenarios.Limit {
	l.Key = scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}
	l.Answers, l.Slack = scenarios.DefaultAnswers(), scenarios.DefaultSlack()
	return l
}

// limitsOf is what an algorithm promises, as a user declares it.
func limitsOf(a limiter.Algorithm) []scenarios.Limit {
	return []scenarios.Limit{declared(a.Promise())}
}

// networks are those that everything is tried on.
func networks() map[string]virtual.Network {
	if raced {
		return map[string]virtual.Network{"0.4 ms": virtual.LAN()}
	}
	return map[string]virtual.Network{"0.4 ms": virtual.LAN(), "20 ms": virtual.WAN(), "150 ms": virtual.Far()}
}

// trial fires the standard scenario for a limit at an algorithm and judges it.
func trial(t *testing.T, a limiter.Algorithm, l scenarios.Limit, n virtual.Network, seed uint64) results.Verdict {
	t.Helper()
	return trialOf(t, serverOf(a, seed), l, n, seed)
}

// serverOf is a server with a clock of its own: it began at another moment than
// the run, has millisecond steps, and runs a little wrong.
func serverOf(a limiter.Algorithm, seed uint64) virtual.Server {
	offset := int64(seed) * 7_919_000_003 % int64(time.Hour)
	return &virtual.Limited{Algorithm: a, Now: func(at int64) int64 {
		now := offset + at + at/10_000*int64(seed%7) - at/10_000*3
		return now - now%int64(time.Millisecond)
	}}
}

// trialOf fires the standard scenario for a limit at a server and judges it.
func trialOf(t *testing.T, server virtual.Server, l scenarios.Limit, n virtual.Network, seed uint64) results.Verdict {
	t.Helper()
	j, run := triedOf(t, server, l, n, seed)
	return j.Verdict(run)
}

// triedOf is the judge of such a record, before it concludes.
func triedOf(t *testing.T, server virtual.Server, l scenarios.Limit, n virtual.Network, seed uint64) (*Judge, *results.Run) {
	t.Helper()
	s, _ := library.Standard(l, library.Circumstances{RTT: 2 * n.OneWay, Seed: seed})
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	blocks := virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack, Jitter: 300 * time.Microsecond}, n, server, seed)
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true, Wanted: s.Wanted, NoCauses: true})
	if err != nil {
		t.Fatal(err)
	}
	run := &results.Run{}
	for _, b := range blocks {
		run.Sent += int64(len(b.Hits))
		j.Block(b)
	}
	run.Planned = run.Sent
	return j, run
}

// accusations are the assertions that are broken. Unlike a verdict it does not
// try other promises, which takes most of the time.
func (j *Judge) accusations() (found []results.Finding) {
	j.hear(j.scene.close())
	for i, a := range j.assertions {
		for _, f := range j.tell(i, a) {
			if f.Status == results.Broken && f.Level == results.Must {
				found = append(found, f)
			}
		}
	}
	return found
}

// rightAlgorithms are those of the reference server. Windows are so long that a
// round trip of 20 ms is less than what is looked for, 1 % of them; an error in a
// shorter one cannot be seen from there.
var rightAlgorithms = []string{
	"token-bucket{burst=10,rate=5/s}", "gcra{burst=10,rate=5/s}", "meter{burst=10,rate=5/s}",
	"lumps{burst=10,rate=5/1s}", "queue{burst=10,rate=5/s}", "nginx{burst=9,rate=5/s,nodelay}",
	"fixed-window{rate=20/20s,align=epoch}", "fixed-window{rate=20/20s,align=start}", "fixed-window{rate=20/20s,align=first-hit}",
	"sliding-log{rate=20/20s}", "sliding-counter{rate=20/20s}",
}

// Every right algorithm, under its own contract, is never accused, and kept where
// no more than a thousandth of the answers is lost. A lost answer may have cost a
// token, for as long as a server may be at it; where that happens to every
// hundredth, a window is never known well enough.
func TestRightAlgorithmsAreNeverAccused(t *testing.T) {
	for _, text := range rightAlgorithms {
		all := seeds(4)
		if strings.HasPrefix(text, "sliding-counter") {
			all = max(all, 8) // of four a share of three quarters cannot be told
		}
		few := min(all, 20) // that conclude; more only have to be free of accusations
		for name, n := range networks() {
			kept := uint64(0)
			for seed := range all {
				a := algorithm(t, text)
				if seed >= few {
					j, _ := triedOf(t, serverOf(a, seed), declared(a.Promise()), n, seed)
					if found := j.accusations(); len(found) > 0 {
						t.Fatalf("%s, %s, seed %d: %+v", text, name, seed, found)
					}
					continue
				}
				v := trial(t, a, declared(a.Promise()), n, seed)
				if v.Status == results.Broken {
					t.Fatalf("%s, %s, seed %d: %q", text, name, seed, broken(v))
				}
				if v.Status == results.Kept {
					kept++
				}
			}
			t.Logf("%-45s %-7s %d of %d kept, none of %d accused", text, name, kept, few, all)
			least := uint64(95)
			if strings.HasPrefix(text, "sliding-counter") {
				least = 75 // an estimate of two counts hides more than a count
			}
			if n.Loss < 0.005 && kept*100 < few*least {
				t.Errorf("%s, %s: %d of %d kept", text, name, kept, few)
			}
		}
	}
}

// Runs that were accused once, of limiters that are right.
func TestOnceAccused(t *testing.T) {
	tests := []struct {
		algorithm string
		network   virtual.Network
		seed      uint64
	}{
		// A clock that is 300 ppm fast moves the share of the window before.
		{"sliding-counter{rate=20/20s}", virtual.LAN(), 195},
	}
	for _, tt := range tests {
		a := algorithm(t, tt.algorithm)
		if v := trial(t, a, declared(a.Promise()), tt.network, tt.seed); v.Status == results.Broken {
			t.Errorf("%s, seed %d: %s", tt.algorithm, tt.seed, v.Headline)
		}
	}
}
