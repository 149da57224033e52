package main

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/reduction"
)

// simulated fires scenarios at reference servers in virtual time, each at one of its
// own that starts at another time of the day.
type simulated struct {
	t       *testing.T
	limit   string
	defect  string
	started uint64
}

func (v *simulated) server(start time.Time) *server.Sim {
	v.t.Helper()
	algorithm, err1 := mode.Parse(v.limit)
	defect, err2 := mode.Parse(v.defect)
	k, err3 := key.Parse("header:X-Api-Key")
	if err1 != nil || err2 != nil || err3 != nil {
		v.t.Fatal(err1, err2, err3)
	}
	sim, err := server.Simulate(server.Config{Seed: v.started, Limits: []server.Limit{{Name: server.DefaultName, Algorithm: algorithm, Key: k, Defects: []mode.Mode{defect}}}}, start)
	if err != nil {
		v.t.Fatal(err)
	}
	return sim
}

// run gives the record of a scenario and its verdict.
func (v *simulated) run(s *scenarios.Scenario) (blocks []results.Block, run results.Run, verdict results.Verdict) {
	v.t.Helper()
	v.started++
	gun, err := probes.Aim(context.Background(), probes.Target{URL: "http://127.0.0.1:1/", Key: s.Limits[0].Key, Answers: s.Limits[0].Answers, Nonce: "n"})
	if err != nil {
		v.t.Fatal(err)
	}
	defer gun.Close()
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		v.t.Fatal(err)
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(v.started*7_919_000_003) % (24 * time.Hour))
	at := &simSite{t: v.t, sim: v.server(start), gun: gun}
	blocks = virtual.RunAt(plan, virtual.Client{Answers: s.Limits[0].Answers, Slack: s.Limits[0].Slack, Jitter: 300 * time.Microsecond}, virtual.LAN(), at, v.started)
	j, err := newJudgement(s, judging{fresh: true, undiagnosed: true})
	if err != nil {
		v.t.Fatal(err)
	}
	for _, b := range blocks {
		run.Sent += int64(len(b.Hits))
		j.block(b)
	}
	run.Planned = run.Sent
	return blocks, run, j.conclude(&run)
}

func (v *simulated) fire(_ context.Context, s *scenarios.Scenario) (trialRun, error) {
	_, run, verdict := v.run(s)
	return trialRun{int(run.Sent), verdict}, nil
}

// simSite is a reference server in virtual time.
type simSite struct {
	t   *testing.T
	sim *server.Sim
	gun *probes.Gun
}

func (s *simSite) Arrive(r virtual.Request, reply func(int64, virtual.Answer)) {
	request, err := s.gun.Incoming(context.Background(), r.Ask, r.Conn)
	if err != nil {
		s.t.Fatal(err)
	}
	s.sim.Arrive(time.Duration(r.At), request, func(at time.Duration, res *http.Response) {
		var h results.Hit
		s.gun.Read(&h, res)
		reply(int64(at), virtual.Answer{Status: res.StatusCode, RetryAfter: h.RetryAfter, Date: h.Date, Headers: h.Headers})
	})
}

func (s *simSite) Next() (int64, bool) {
	at, ok := s.sim.Next()
	return int64(at), ok
}

func (s *simSite) Advance(to int64) { s.sim.Advance(time.Duration(to)) }

// wide is a scenario of about 10,000 requests that finds many kinds of fault.
const wide = `
  - {name: walk, pace: 4/s, count: 40, keys: 8}
  - {name: flood, pace: 400/s, count: FLOOD, keys: 2}
  - {name: volley, volley: 40, keys: 30, every: 50ms}
  - {name: drain, volley: 12, keys: 4}
  - {name: pressure, pace: 80/s, for: 5s, keys: drain}
  - {name: edge, attack: boundary, keys: 3}
  - {name: rest, rest: 4s, volley: 30, keys: volley}
  - {name: ask, pace: 5/s, count: 1, keys: drain, retry: obey}
`

// saveRun puts a simulated run into a folder, as hammer run leaves it behind.
func saveRun(t *testing.T, s *scenarios.Scenario, blocks []results.Block, run results.Run, v results.Verdict) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	m := store.Manifest{Scenario: string(s.YAML()), Nonce: "n", Phases: plan.Phases, Run: run}
	w, err := store.Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(m); err != nil {
		t.Fatal(err)
	}
	if err := store.SaveVerdict(dir, report.Report{Version: report.SchemaVersion, Status: v.Status, Headline: v.Headline, Findings: v.Findings}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A breach of some 10,000 requests shrinks to at most three times the smallest
// scenario that is known for its kind.
func TestShrink(t *testing.T) {
	tests := []struct {
		name, promise, limit, defect string
		check                        string
		smallest                     int // requests
		reliable                     int // of the tries at the end have to break it
	}{
		// Twice what is admitted at once, on both sides of an edge.
		{"window-double of a bucket", "burst: 10, rate: 5/s", "token-bucket{burst=10,rate=5/s}", "window{align=epoch}", assertions.CheckUpper, 20, 3},
		{"window-double, each key's own", "burst: 10, rate: 5/s", "token-bucket{burst=10,rate=5/s}", "window{align=first-hit}", assertions.CheckUpper, 20, 3},
		{"window-double of a log", "contract: sliding-log, rate: 10/2s", "sliding-log{rate=10/2s}", "window{align=epoch}", assertions.CheckUpper, 20, 3},
		{"off-by-one", "burst: 10, rate: 5/s", "token-bucket{burst=10,rate=5/s}", "off-by-one{delta=1}", assertions.CheckUpper, 11, 5},
		// One volley of more than is there.
		{"race", "burst: 10, rate: 1/s", "token-bucket{burst=10,rate=1/s}", "race{gap=1ms}", assertions.CheckUpper, 11, 3},
		// One that is admitted, and one that is refused behind the step.
		{"clock-back", "burst: 10, rate: 5/s", "token-bucket{burst=10,rate=5/s}", "wall-clock{step=-10s,every=3s}", assertions.CheckLower, 2, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			flood, least := 3000, int64(9_000)
			if raceEnabled { // the race detector makes the simulated server ten times as slow
				flood, least = 300, 3_000
			}
			s, err := scenarios.Parse("wide.yaml", []byte("limit: {"+tt.promise+"}\nphases:"+strings.ReplaceAll(wide, "FLOOD", strconv.Itoa(flood))), assertions.IDs())
			if err != nil {
				t.Fatal(err)
			}
			v := &simulated{t: t, limit: tt.limit, defect: tt.defect}
			blocks, run, verdict := v.run(s)
			if run.Sent < least {
				t.Fatalf("the scenario sent %d requests, want at least %d", run.Sent, least)
			}
			e, err := openEarlier(saveRun(t, s, blocks, run, verdict))
			if err != nil {
				t.Fatal(err)
			}
			f, err := e.charged(tt.check)
			if err != nil {
				t.Fatal(err)
			}
			suspects, err := e.suspects(f)
			if err != nil {
				t.Fatal(err)
			}
			k := &shrinker{charge: charge{f.Check, f.Limit}, fire: v.fire, now: time.Now, say: t.Logf, until: time.Now().Add(time.Hour), most: 1 << 30}
			found, broke, tries := k.shrink(t.Context(), suspects)
			if found == nil {
				t.Fatalf("nothing breaks %s again", f.Check)
			}
			size, _ := reduction.SizeOf(found, scenarios.Supply{})
			t.Logf("from %d requests to %d in %v, with %d candidates; %d of %d tries break\n%s", run.Sent, size.Requests, size.Length, k.candidates, broke, tries, found.YAML())
			if size.Requests > 3*tt.smallest {
				t.Errorf("%d requests are left, want at most %d", size.Requests, 3*tt.smallest)
			}
			if broke < tt.reliable {
				t.Errorf("it breaks in %d of %d tries, want %d", broke, tries, tt.reliable)
			}
			again, err := scenarios.Parse("shrunk.yaml", found.YAML(), assertions.IDs())
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := reduction.SizeOf(again, scenarios.Supply{}); again != size {
				t.Errorf("read back it comes to %v, want %v", again, size)
			}
		})
	}
}

// What was done to a server is part of what may break its promise again, as far as it is
// done in front of the last request.
func TestShrinkKeepsActions(t *testing.T) {
	v := &simulated{t: t, limit: "token-bucket{burst=1,rate=1/s}", defect: "off-by-one{delta=1}"}
	s, err := scenarios.Parse("step.yaml", []byte("limit: {burst: 1, rate: 1/s}\nphases: [{name: a, pace: 9/s, count: 9}]\nactions: [{at: 100ms, clock: {step: -1s}}, {at: 500ms, clock: {step: -2s}}]\n"), assertions.IDs())
	if err != nil {
		t.Fatal(err)
	}
	blocks, run, verdict := v.run(s)
	e, err := openEarlier(saveRun(t, s, blocks, run, verdict))
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.charged("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.suspects(f)
	if err != nil || len(all) == 0 {
		t.Fatalf("got %d suspects, %v", len(all), err)
	}
	for _, c := range all {
		size, ok := reduction.SizeOf(c, scenarios.Supply{})
		if !ok || size.Actions == 0 && size.Length > 100*time.Millisecond {
			t.Errorf("got %+v (%v) of\n%s", size, ok, c.YAML())
		}
	}
	if last := all[len(all)-1]; len(last.Actions) != 2 {
		t.Errorf("the whole plan has %d actions left", len(last.Actions))
	}
}
