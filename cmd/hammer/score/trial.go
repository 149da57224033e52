// Package score measures how good hammer is: it checks the reference server,
// right and wrong, in virtual time over a simulated network or over loopback, and
// counts what was caught and who was accused. It stands behind all the others, as
// hammer itself does.
package score

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// Subject is a server to be judged.
type Subject struct {
	Config server.Config    // its Seed is set by the trial
	Key    scenarios.Key    // what hammer tells clients apart by
	Deeds  []string         // paths of the admin side that are posted to, spread over the run; nil: nothing happens
	Same   []scenarios.Vary // what was declared to make no difference
	Counts bool             // what is not understood was declared to be counted, which a 400 tells
	Keeps  bool             // the states are in a file that outlives the server
}

// Trial is how a subject is looked at.
type Trial struct {
	Network  virtual.Network
	Thorough bool             // with the thorough scenario instead of the standard one
	Identity bool             // with the word that nothing but the key tells clients apart
	Same     []scenarios.Vary // what else makes no difference
	Quick    bool             // what the run would have caught is not looked for, so that what is not broken may be kept or inconclusive
	Seed     uint64           // of everything that is left to chance
}

// Outcome is what came of a trial.
type Outcome struct {
	Status   results.Status
	Broken   []string // checks that say so and count
	Headline string
	Requests int
}

// day is when simulated servers start, give or take some hours by the seed.
var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Run tries a subject in virtual time.
func Run(s Subject, t Trial) (Outcome, error) {
	s.Config.Seed = t.Seed
	if s.Keeps {
		folder, err := os.MkdirTemp("", "hammer-score")
		if err != nil {
			return Outcome{}, err
		}
		defer os.RemoveAll(folder)
		s.Config = keeping(s.Config, filepath.Join(folder, "states"))
	}
	sim, err := server.Simulate(s.Config, day.Add(time.Duration(t.Seed*7_919_000_003)%(24*time.Hour)))
	if err != nil {
		return Outcome{}, err
	}
	defer sim.Close()
	sc := s.scenario(t, sim, 2*t.Network.OneWay)
	gun, err := s.aim(context.Background(), sc.Limits, "http://127.0.0.1:1/", t.Seed)
	if err != nil {
		return Outcome{}, err
	}
	defer gun.Close()
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		return Outcome{}, err
	}
	apart := int64(plan.Length) / int64(len(s.Deeds)+1)
	at := &site{sim: sim, nodes: s.Config.Nodes, gun: gun, deeds: s.Deeds, every: apart, due: apart}
	limit, _ := library.Lead(sc.Limits)
	blocks := virtual.RunAt(plan, virtual.Client{Answers: limit.Answers, Slack: limit.Slack, Jitter: 300 * time.Microsecond}, t.Network, at, t.Seed)
	if at.err != nil {
		return Outcome{}, at.err
	}
	run := results.Run{}
	for _, b := range blocks {
		run.Sent += int64(len(b.Hits))
	}
	run.Planned = run.Sent
	return judge(sc, blocks, run, t.Quick)
}

// keeping is the server with its states in a file.
func keeping(cfg server.Config, file string) server.Config {
	cfg.Limits = slices.Clone(cfg.Limits)
	for i := range cfg.Limits {
		cfg.Limits[i].Store = mode.Mode{Name: "memory", Settings: []mode.Setting{{Key: "persist", Value: file}}}
	}
	return cfg
}

// scenario is what is fired at a subject from a distance, with all that it promises.
func (s Subject) scenario(t Trial, sim *server.Sim, rtt time.Duration) scenarios.Scenario {
	limits := s.promises(sim)
	draw := library.Standard
	if t.Thorough {
		draw = library.Thorough
	}
	same := slices.Concat(t.Same, s.Same)
	if t.Identity && s.Key.Kind != scenarios.KeyNone {
		same = append(same, library.Identity(s.Key)...)
	}
	lead, beside := library.Lead(limits)
	sc, _ := draw(lead, library.Circumstances{Same: same, Beside: beside, RTT: rtt, Seed: t.Seed, Budget: 5 * time.Minute})
	sc.Limits = limits
	return sc
}

// promises are those of the server, with what a user would say of them.
func (s Subject) promises(sim *server.Sim) []scenarios.Limit {
	limits := promised(sim, s.Key)
	for i := range limits { // how a request says what it costs is part of the promise
		for _, l := range s.Config.Limits {
			if l.Name == limits[i].Name {
				limits[i].CostHeader, limits[i].CostBody, limits[i].Align = l.CostHeader, l.CostBody, alignOf(l.Algorithm)
			}
		}
		if s.Counts {
			limits[i].Answers.Admitted.Any = append(limits[i].Answers.Admitted.Any, scenarios.Match{From: 400, To: 400})
		}
	}
	return limits
}

// promised is what the server promises, with what hammer grants by itself.
func promised(sim *server.Sim, key scenarios.Key) (all []scenarios.Limit) {
	for _, p := range sim.Promises() {
		l := p.Limit
		l.Name, l.Key, l.Answers, l.Slack = p.Name, key, scenarios.DefaultAnswers(), scenarios.DefaultSlack()
		all = append(all, l)
	}
	return all
}

// aim is a gun for a subject at a URL.
func (s Subject) aim(ctx context.Context, limits []scenarios.Limit, url string, seed uint64) (*probes.Gun, error) {
	l, _ := library.Lead(limits)
	return probes.Aim(ctx, probes.Target{URL: url, Key: s.Key, Answers: l.Answers, Cost: l.CostHeader, CostBody: l.CostBody, Nonce: fmt.Sprint("s", seed)})
}

func judge(sc scenarios.Scenario, blocks []results.Block, run results.Run, quick bool) (Outcome, error) {
	j, err := assertions.New(sc.Limits, assertions.Options{Fresh: true, Wanted: sc.Wanted, NoCauses: true, NoResolution: quick, Strict: true, Phases: sc.Phases})
	if err != nil {
		return Outcome{}, err
	}
	for _, b := range blocks {
		j.Block(b)
	}
	v := j.Verdict(&run)
	o := Outcome{Status: v.Status, Headline: v.Headline, Requests: int(run.Sent)}
	for _, f := range v.Findings {
		if f.Status == results.Broken && f.Level != results.Info && !slices.Contains(o.Broken, f.Check) {
			o.Broken = append(o.Broken, f.Check)
		}
	}
	return o, nil
}
