package score

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// disturbed is a site to which things are done at moments of their own.
type disturbed struct {
	*site
	actions []scenarios.Action
}

func (d *disturbed) Next() (int64, bool) {
	at, ok := d.site.Next()
	if len(d.actions) > 0 && (!ok || int64(d.actions[0].At) < at) {
		return int64(d.actions[0].At), true
	}
	return at, ok
}

func (d *disturbed) Advance(to int64) {
	for len(d.actions) > 0 && int64(d.actions[0].At) <= to {
		a := d.actions[0]
		d.actions = d.actions[1:]
		path := "/clock/" + string(a.Act)
		switch a.Act {
		case scenarios.ClockStep:
			path += "?by=" + a.By.String()
		case scenarios.ClockSlew:
			path += fmt.Sprintf("?ppm=%d", a.PPM)
		case scenarios.StoreDelay:
			path = "/store/delay?by=" + a.By.String()
		case scenarios.StoreCut, scenarios.StoreRestore:
			path = "/store/" + string(a.Act)
		case scenarios.ProcessRestart:
			path = "/restart?how=hard"
		case scenarios.ProcessReload:
			path = "/reload"
		}
		if res := d.sim.Admin(a.At, http.MethodPost, path, ""); res == nil || res.StatusCode != http.StatusOK {
			d.err = fmt.Errorf("POST %s did not go well: %v", path, res)
		}
	}
	d.site.Advance(to)
}

// mixed are some random things that are done to a server in a time, in order. Of steps
// some are seen by whoever goes by the wall clock: back by a second or more, and for as
// long.
func mixed(rng *rand.Rand, from, to time.Duration) (actions []scenarios.Action, plain bool) {
	moment := func() time.Duration { return from + time.Duration(rng.Int64N(int64(to-from))) }
	for range 1 + rng.IntN(5) {
		at, size := moment(), time.Duration(math.Exp(rng.Float64()*math.Log(3.6e14/1e7))*1e7) // 10 ms to 100 h
		switch rng.IntN(6) {
		case 0, 1:
			if rng.IntN(2) == 0 {
				size = -size
			}
			actions = append(actions, scenarios.Action{At: at, Act: scenarios.ClockStep, By: size})
		case 2:
			actions = append(actions, scenarios.Action{At: at, Act: scenarios.ClockFreeze}, scenarios.Action{At: at + min(size, 2*time.Second), Act: scenarios.ClockResume})
		case 3:
			actions = append(actions, scenarios.Action{At: at, Act: scenarios.ClockSlew, PPM: rng.Int64N(200_000) - 100_000})
		case 4:
			every := 20*time.Millisecond + time.Duration(rng.Int64N(int64(200*time.Millisecond)))
			for n := range 2 * (2 + rng.IntN(20)) {
				by := -min(size, time.Hour)
				if n%2 == 1 {
					by = -by
				}
				actions = append(actions, scenarios.Action{At: at + time.Duration(n)*every, Act: scenarios.ClockStep, By: by})
			}
		default:
			actions = append(actions, scenarios.Action{At: at, Act: scenarios.ProcessReload},
				scenarios.Action{At: at, Act: scenarios.StoreDelay, By: 20 * time.Millisecond}, scenarios.Action{At: at + time.Second, Act: scenarios.StoreRestore})
		}
	}
	slices.SortStableFunc(actions, func(a, b scenarios.Action) int { return cmp.Compare(a.At, b.At) })
	var back time.Duration // how far the clock is behind its furthest, at the end of each second
	for i, a := range actions {
		if a.Act != scenarios.ClockStep {
			continue
		}
		if back = min(0, back+a.By); back <= -2*time.Second && (i+1 == len(actions) || actions[i+1].At-a.At > 1500*time.Millisecond) && to-a.At > 1500*time.Millisecond {
			plain = true
		}
	}
	return actions, plain
}

// disturb fires at a server while random things are done to it.
func disturb(t *testing.T, algorithm, defect string, seed uint64) (o Outcome, plain bool) {
	t.Helper()
	o = disturbBy(t, algorithm, defect, seed, library.Disturbances()[:1], func(l *scenarios.Limit) {}, func(drawn, _ []scenarios.Action) (actions []scenarios.Action) {
		rng := rand.New(rand.NewPCG(seed, 11))
		actions, plain = mixed(rng, drawn[0].At, drawn[len(drawn)-1].At)
		return actions
	})
	return o, plain
}

// disturbBy fires at a server, of whose promise more may be declared, while things are
// done to it that are chosen by what was drawn, and planned with each move by itself.
func disturbBy(t *testing.T, algorithm, defect string, seed uint64, by []library.Disturbance, declare func(*scenarios.Limit), choose func(drawn, planned []scenarios.Action) []scenarios.Action) (o Outcome) {
	t.Helper()
	m, err1 := mode.Parse(algorithm)
	k, err2 := key.Parse("header:X-Api-Key")
	l := server.Limit{Name: server.DefaultName, Algorithm: m, Key: k}
	var err3 error
	if defect != "" {
		d, err := mode.Parse(defect)
		l.Defects, err3 = []mode.Mode{d}, err
	}
	if err := cmp.Or(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return disturbLimit(t, l, seed, by, declare, choose)
}

// disturbLimit does that to the server of a limit.
func disturbLimit(t *testing.T, l server.Limit, seed uint64, by []library.Disturbance, declare func(*scenarios.Limit), choose func(drawn, planned []scenarios.Action) []scenarios.Action) (o Outcome) {
	t.Helper()
	sc, blocks, run := disturbRecord(t, l, seed, by, declare, choose)
	o, err := judge(sc, blocks, run, false)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// disturbRecord is the record of that.
func disturbRecord(t *testing.T, l server.Limit, seed uint64, by []library.Disturbance, declare func(*scenarios.Limit), choose func(drawn, planned []scenarios.Action) []scenarios.Action) (scenarios.Scenario, []results.Block, results.Run) {
	t.Helper()
	sim, err := server.Simulate(server.Config{Limits: []server.Limit{l}, Seed: seed}, day.Add(time.Duration(seed)*1234567*time.Microsecond))
	if err != nil {
		t.Fatal(err)
	}
	limit := promised(sim, scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"})[0]
	declare(&limit)
	sc, _ := library.Disturb(limit, library.Circumstances{Seed: seed}, by)
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	actions := choose(sc.Actions, plan.Actions)
	plan.Actions, sc.Actions = nil, nil
	gun, err := probes.Aim(context.Background(), probes.Target{URL: "http://127.0.0.1:1/", Key: limit.Key, Answers: limit.Answers, Nonce: fmt.Sprint("d", seed)})
	if err != nil {
		t.Fatal(err)
	}
	defer gun.Close()
	at := &disturbed{&site{sim: sim, gun: gun}, actions}
	blocks := virtual.RunAt(plan, virtual.Client{Answers: limit.Answers, Slack: limit.Slack, Jitter: 300 * time.Microsecond}, virtual.Network{OneWay: time.Millisecond}, at, seed)
	if at.err != nil {
		t.Fatal(at.err)
	}
	var marks []results.Mark
	for _, a := range actions {
		mark := results.Mark{At: int64(a.At), To: int64(a.At), Kind: results.MarkFault, Act: string(a.Act), Text: a.String(), Free: string(a.Expect), Back: a.Back}
		if a.OfClock() {
			mark.Kind, mark.Size = results.MarkClock, int64(a.By)
		}
		marks = append(marks, mark)
	}
	hits := int64(0)
	for _, b := range blocks {
		hits += int64(len(b.Hits))
	}
	blocks = append([]results.Block{{Marks: marks}}, blocks...)
	return sc, blocks, results.Run{Planned: hits, Sent: hits, Path: "virtual"}
}

// Windows that may lie on the grid of a clock are not judged behind the first move of it,
// wherever the promise says that they begin, and whatever the clock does then.
func TestWindowsOfMovedClocks(t *testing.T) {
	var all []library.Disturbance
	for _, d := range library.Disturbances() {
		if d.OfClock && d.Name != "wsl" && d.Name != "skewed-nodes" {
			all = append(all, d)
		}
	}
	cases := [][]library.Disturbance{all}
	for _, text := range []string{"step=-10m@1s", "step=1.5s@1s", "step=-700ms@1s"} {
		d, err := library.ParseDisturbance(text, true)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, []library.Disturbance{d})
	}
	same := func(_, planned []scenarios.Action) []scenarios.Action { return slices.Clone(planned) }
	for _, algorithm := range []string{"fixed-window{rate=6/3s,align=epoch}", "sliding-counter{rate=6/3s}", "lumps{burst=6,rate=6/3s}"} {
		for _, align := range []scenarios.Align{"", scenarios.AlignEpoch, scenarios.AlignStart} {
			for i, by := range cases {
				o := disturbBy(t, algorithm, "wall-clock", uint64(i), by, func(l *scenarios.Limit) { l.Align = align }, same)
				if o.Status == results.Broken {
					t.Errorf("%s, declared to be aligned to %q, moved by %v: accused of %v: %s", algorithm, align, by[0].Name, o.Broken, o.Headline)
				}
			}
		}
		third := func(l *scenarios.Limit) { l.Rate.Count, l.Burst = l.Rate.Count/3, l.Burst/3 }
		if o := disturbBy(t, algorithm, "", 1, all, third, same); o.Status != results.Broken {
			t.Errorf("%s, of which a third was promised: nothing is judged in front of the move: %s", algorithm, o.Headline)
		}
	}
}

// Whatever is done to the clock of a right limiter, it is not accused; a bucket on the
// wall clock is caught wherever the clock was set back for long enough to be seen.
func TestMixedSchedules(t *testing.T) {
	seeds, each := 20, 2
	if n, err := strconv.Atoi(os.Getenv("HAMMER_SEEDS")); err == nil {
		seeds, each = n, 8
	}
	right := []string{"token-bucket{burst=10,rate=5/s}", "gcra{burst=10,rate=5/s}", "meter{burst=6,rate=10/s}", "sliding-log{rate=10/2s}",
		"fixed-window{rate=10/2s,align=first-hit}", "fixed-window{rate=10/2s,align=epoch}", "sliding-counter{rate=10/2s}", "lumps{burst=10,rate=5/1s}"}
	caught, plains := 0, 0
	for seed := range uint64(seeds) {
		for i := range each {
			algorithm := right[(int(seed)*each+i)%len(right)]
			if o, _ := disturb(t, algorithm, "", seed); o.Status == results.Broken {
				t.Errorf("seed %d: %s is accused: %v: %s", seed, algorithm, o.Broken, o.Headline)
			}
		}
		o, plain := disturb(t, "token-bucket{burst=10,rate=5/s}", "wall-clock", seed)
		if o.Status == results.Broken {
			caught++
		}
		if plain {
			if plains++; o.Status != results.Broken {
				t.Errorf("seed %d: a bucket on a wall clock that was set back is not caught: %s", seed, o.Headline)
			}
		}
	}
	t.Logf("%d of %d wall clocks caught, of %d that were set back for long all", caught, seeds, plains)
	if plains == 0 {
		t.Error("no clock was set back: the test shows nothing")
	}
}
