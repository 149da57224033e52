package score

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// outageOf is what is found out about a server whose store is cut or slow for two
// seconds, of which something was declared.
func outageOf(t *testing.T, algorithm, down, fault string, want scenarios.Expect) results.Verdict {
	t.Helper()
	d, err := library.ParseDisturbance(fault, false)
	if err != nil {
		t.Fatal(err)
	}
	return awayAt(t, algorithm, down, d, 3, func(_, planned []scenarios.Action) []scenarios.Action {
		for i := range planned {
			planned[i].Expect = want
		}
		return slices.Clone(planned)
	})
}

// awayAt fires at a server with a store, and a policy for when that is away, while things
// are done to it, and judges.
func awayAt(t *testing.T, algorithm, down string, by library.Disturbance, seed uint64, choose func(drawn, planned []scenarios.Action) []scenarios.Action) results.Verdict {
	t.Helper()
	parse := func(s string) mode.Mode {
		m, err := mode.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	k, err := key.Parse("header:X-Api-Key")
	if err != nil {
		t.Fatal(err)
	}
	l := server.Limit{Name: server.DefaultName, Algorithm: parse(algorithm), Key: k, Store: parse("memory{timeout=50ms,down=" + down + "}")}
	if down == "local" {
		l.Fallback = parse("token-bucket{burst=2,rate=1/s}")
	}
	sc, blocks, run := disturbRecord(t, l, seed, []library.Disturbance{by}, func(*scenarios.Limit) {}, choose)
	j, err := assertions.New(sc.Limits, assertions.Options{Fresh: true, NoCauses: true, NoResolution: true, Phases: sc.Phases})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		j.Block(b)
	}
	return j.Verdict(&run)
}

func findingOf(v results.Verdict, check string) (f results.Finding) {
	for _, f := range v.Findings {
		if f.Check == check {
			return f
		}
	}
	return f
}

// Each policy of a server whose store is cut is accepted where it was declared, and named
// where another one was.
func TestOutagePolicies(t *testing.T) {
	const local = "local,burst=2,rate=1/s"
	fits := map[string][]scenarios.Expect{"open": {"open"}, "closed": {"closed", "error"}, "none": {"closed", "error"}, "local": {local, "local,burst=1,rate=1/s,nodes=2"}}
	named := map[string]string{"open": "looks like open", "closed": "looks like closed", "none": "looks like closed", "local": "looks like local budgets, or like one that needs no store: up to "}
	for _, algorithm := range []string{"token-bucket{burst=10,rate=5/s}", "fixed-window{rate=10/2s}"} {
		for down, right := range fits {
			for _, want := range []scenarios.Expect{"open", "closed", "error", "hang", "frozen", local, "local,burst=1,rate=1/10s", "local,burst=1,rate=1/s,nodes=2", ""} {
				v := outageOf(t, algorithm, down, "store-outage", want)
				f := findingOf(v, assertions.CheckOutage)
				name := fmt.Sprintf("%s, %s, declared %q", algorithm, down, want)
				switch {
				case want == "" && (f.Level != results.Info || !strings.Contains(f.Text, named[down])):
					t.Errorf("%s: got %v %s", name, f.Level, f.Text)
				case want == "" && down != "open" && down != "local" && v.Status == results.Broken:
					t.Errorf("%s: it refused and is accused: %s", name, v.Headline)
				case want == "" || want == "frozen" && down == "open" && f.Status == results.Inconclusive:
				case slices.Contains(right, want) && (f.Status != results.Kept || v.Status == results.Broken):
					t.Errorf("%s: got %v, %v: %s", name, v.Status, f.Status, v.Headline)
				case !slices.Contains(right, want) && (f.Status != results.Broken || len(f.Seqs) == 0 || f.Proof == "" || v.Headline != f.Text):
					t.Errorf("%s: got %v: %s (%s)", name, f.Status, f.Text, f.Proof)
				case !slices.Contains(right, want) && !strings.Contains(f.Text, named[down]) && !(down == "local" && strings.HasPrefix(string(want), "local")):
					t.Errorf("%s: not named: %s", name, f.Text)
				}
			}
		}
	}
}

// A store that is slow may decide all the same, so that less can be said: that something
// fails where it was to be let through, or that more is let through than by the limit.
func TestSlowStores(t *testing.T) {
	wrong := map[string]string{"open closed": "looks like", "closed open": "looks like closed", "none open": "looks like closed", "closed local": "looks like closed", "none local": "looks like closed"}
	for _, down := range []string{"open", "closed", "none", "local"} {
		for _, want := range []scenarios.Expect{"open", "closed", "local"} {
			v := outageOf(t, "token-bucket{burst=10,rate=5/s}", down, "store-slow", want)
			f := findingOf(v, assertions.CheckOutage)
			says, broken := wrong[down+" "+string(want)]
			if (f.Status == results.Broken) != broken || (v.Status == results.Broken) != broken {
				t.Errorf("%s, declared %s: got %v: %s", down, want, v.Status, f.Text)
			}
			if says != "looks like" && !strings.Contains(f.Text, says) {
				t.Errorf("%s, declared %s: got %s", down, want, f.Text)
			}
		}
	}
}

// randomly are some outages, each declared to be what it is, with restarts and moves of
// the clock between them.
func randomly(rng *rand.Rand, want scenarios.Expect, from, to time.Duration) (actions []scenarios.Action) {
	add := func(a scenarios.Action) {
		actions = append(actions, a)
		if back, ok := a.Undoes(); ok && a.For > 0 {
			back.Expect = a.Expect
			actions = append(actions, back)
		}
	}
	for at := from; at < to; at += time.Duration(rng.Int64N(int64(4 * time.Second))) {
		lasts := time.Duration(100+rng.IntN(2900)) * time.Millisecond
		switch rng.IntN(5) {
		case 0, 1:
			add(scenarios.Action{At: at, Act: scenarios.StoreCut, For: lasts, Expect: want})
			at += lasts
		case 2:
			add(scenarios.Action{At: at, Act: scenarios.StoreDelay, By: time.Duration(5+rng.IntN(150)) * time.Millisecond, For: lasts, Expect: want})
			at += lasts
		case 3:
			add(scenarios.Action{At: at, Act: scenarios.ProcessReload})
		default:
			add(scenarios.Action{At: at, Act: scenarios.ClockStep, By: time.Duration(rng.IntN(20_000)-10_000) * time.Millisecond})
		}
	}
	return actions
}

// Whenever the store of a right limiter is away or slow, and whatever it does then by its
// declared policy, it is not accused.
func TestMixedOutages(t *testing.T) {
	seeds := 3
	if n, err := strconv.Atoi(os.Getenv("HAMMER_SEEDS")); err == nil {
		seeds = n
	}
	right := []string{"token-bucket{burst=10,rate=5/s}", "gcra{burst=10,rate=5/s}", "sliding-log{rate=10/2s}", "fixed-window{rate=10/2s,align=first-hit}",
		"fixed-window{rate=10/2s,align=epoch}", "sliding-counter{rate=10/2s}", "lumps{burst=10,rate=5/1s}"}
	policies := []struct {
		down string
		want scenarios.Expect
	}{{"open", "open"}, {"closed", "closed"}, {"none", "error"}, {"none", ""}, {"local", "local,burst=2,rate=1/s"}}
	by, err := library.ParseDisturbance("clock-back", true)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for seed := range uint64(seeds) {
		for i, p := range policies {
			algorithm := right[(int(seed)+i)%len(right)]
			var done []scenarios.Action
			v := awayAt(t, algorithm, p.down, by, seed, func(drawn, _ []scenarios.Action) []scenarios.Action {
				done = randomly(rand.New(rand.NewPCG(seed, uint64(i))), p.want, drawn[0].At, drawn[len(drawn)-1].At)
				return done
			})
			if v.Status == results.Broken {
				t.Errorf("seed %d: %s, %s, declared %q, is accused: %s\n%v", seed, algorithm, p.down, p.want, v.Headline, done)
			}
			for _, f := range v.Findings {
				if f.Check == assertions.CheckOutage && f.Status == results.Kept && f.Level == results.Must {
					held++
				}
			}
		}
	}
	t.Logf("%d outages were as declared", held)
	if held == 0 {
		t.Error("no outage was asked about: the test shows nothing")
	}
}
