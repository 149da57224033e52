package score

import (
	"context"
	"errors"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// Fire tries a subject over loopback, in real time: the server runs in this
// process, as that of hammer check without a URL does. The trial's Network is not
// asked for. When ctx ends, its error comes back.
func Fire(ctx context.Context, s Subject, t Trial) (Outcome, error) {
	s.Config.Seed = t.Seed
	sim, err := server.Simulate(s.Config, time.Now()) // it is only asked what it promises
	if err != nil {
		return Outcome{}, err
	}
	defer sim.Close()
	running, err := server.Start(s.Config)
	if err != nil {
		return Outcome{}, err
	}
	defer running.Close()
	gun, err := s.aim(ctx, s.promises(sim), running.URL()+"/", t.Seed)
	if err != nil {
		return Outcome{}, err
	}
	defer gun.Close()
	before, err := gun.Preflight(ctx, "preflight", 3)
	if err != nil {
		return Outcome{}, errors.Join(ctx.Err(), err)
	}
	sc := s.scenario(t, sim, before.RTT)
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		return Outcome{}, err
	}
	limit, _ := library.Lead(sc.Limits)
	kept := &record{}
	run, err := gun.Fire(ctx, plan, limit.Slack, probes.Tick(), kept, &probes.Progress{})
	if err := errors.Join(ctx.Err(), err); err != nil {
		return Outcome{}, err
	}
	return judge(sc, kept.blocks, run, t.Quick)
}

// record keeps the blocks of a run.
type record struct{ blocks []results.Block }

func (r *record) Block(b results.Block) error {
	r.blocks = append(r.blocks, b)
	return nil
}

// longest is how long a run in real time may take to be tried.
const longest = 15 * time.Second

// Real are the cases that can be tried in real time within a quarter of a minute
// each: of each defect the first form, and nothing to which something has to happen.
func Real(cases []Case) (real []Case, err error) {
	known := map[string]bool{}
	for _, c := range cases {
		name := c.Name
		if c.Defect != "" {
			name = c.Defect
		}
		if known[name] || len(c.Subject.Deeds) > 0 || c.Subject.Config.Nodes > 1 || c.Unseen != "" {
			continue
		}
		known[name] = true
		length, err := c.Subject.length()
		if err != nil {
			return nil, err
		}
		if length <= longest {
			real = append(real, c)
		}
	}
	return real, nil
}

// length is how long the standard scenario takes from nearby.
func (s Subject) length() (time.Duration, error) {
	sim, err := server.Simulate(s.Config, day)
	if err != nil {
		return 0, err
	}
	defer sim.Close()
	sc := s.scenario(Trial{Seed: 1}, sim, time.Millisecond)
	plan, err := sc.Plan(scenarios.Supply{})
	return plan.Length, err
}
