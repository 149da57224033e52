package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// stagger is by how much one of two servers is behind the other at each moment of the
// plan: long enough that an answer over loopback is there before the other is asked, and
// short beside what a promise speaks of.
const stagger = time.Millisecond

// abreast are the flags of hammer compare that say what is fired at two URLs.
type abreast struct {
	promise promise
	aiming  aiming
	file    string
	seed    uint64
	budget  time.Duration
	out     string

	promises *pflag.FlagSet // those of promise
	all      []*pflag.Flag  // those of all
}

func (o *abreast) addFlags(f *pflag.FlagSet) {
	o.promises = pflag.NewFlagSet("", pflag.ContinueOnError)
	o.promises.SortFlags = false
	o.promise.addFlags(o.promises)
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	own.StringVar(&o.file, "scenario", "", "two URLs: the scenario file that is fired at both, instead of the standard scenario for --burst and --rate")
	own.AddFlagSet(o.promises)
	o.aiming.addFlags(own)
	own.Uint64Var(&o.seed, "seed", 1, "of everything random in the plan")
	own.DurationVar(&o.budget, "for", 5*time.Minute, "how long the run may take at most")
	own.StringVar(&o.out, "out", "", "folder for the records, base and candidate in it (default new ones in "+runsFolder+")")
	own.VisitAll(func(fl *pflag.Flag) { o.all = append(o.all, fl) })
	f.AddFlagSet(own)
}

// idle is an error where a flag about firing was given and nothing is fired.
func (o *abreast) idle() error {
	for _, f := range o.all {
		if f.Changed {
			return &probes.Hinted{Err: fmt.Errorf("--%s says what is fired at two URLs, and two saved runs were given", f.Name), Hint: "leave it out, or give two URLs"}
		}
	}
	return nil
}

// isURL tells a URL from a folder.
func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// lane is one of the two that are fired at side by side.
type lane struct {
	*session
	target    probes.Target
	preflight probes.Preflight
	judge     *judgement
	writer    *store.Writer
	progress  probes.Progress
	run       results.Run
	err       error
}

// fire fires one plan at both URLs, and gives the folders of the records.
func (o *abreast) fire(ctx context.Context, c *console, urls []string) (folders []string, err error) {
	s, wanted, err := o.asked()
	if err != nil {
		return nil, err
	}
	var lanes []*lane
	for i, url := range urls {
		l, err := o.aim(ctx, c, s, url, []string{"base", "candidate"}[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", url, err)
		}
		defer l.gun.Close()
		lanes = append(lanes, l)
	}
	if s, err = o.draw(s, wanted, lanes); err != nil {
		return nil, err
	}
	for i, l := range lanes {
		if err := l.prepare(s, i == 1); err != nil {
			return nil, err
		}
		folders = append(folders, l.folder)
	}
	most := lanes[0].plan.Most()
	c.sayf("up to %d requests within %v at most at each of %s and %s, side by side, with %s", most, lanes[0].plan.Length.Round(100*time.Millisecond), urls[0], urls[1], lanes[0].supply.kind)
	for _, n := range lanes[0].notes {
		c.sayf("%s", n)
	}
	return folders, race(ctx, c, lanes)
}

// asked is the scenario of the file, or one without phases for the promise of the flags.
func (o *abreast) asked() (s *scenarios.Scenario, wanted int64, err error) {
	request, err1 := o.aiming.request()
	limit, wanted, err2 := o.promise.template()
	_, err3 := o.promise.withOthers(limit)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, 0, err
	}
	if o.file == "" {
		return &scenarios.Scenario{Limits: []scenarios.Limit{limit}, Request: request, Timeout: o.aiming.timeout, LateBy: o.promise.lateBy, Seed: o.seed}, wanted, nil
	}
	o.promises.VisitAll(func(f *pflag.Flag) {
		if f.Changed && err == nil {
			err = fmt.Errorf("--%s and --scenario exclude each other: the file says what is promised", f.Name)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	if s, err = loadScenario(o.file); err != nil {
		return nil, 0, err
	}
	if s.Phases = s.Phases[:s.Asked()]; len(s.Phases) == 0 || len(s.Actions) > 0 {
		return nil, 0, fmt.Errorf("%s cannot be fired at two servers side by side: it needs a phase, and no actions, which are done to one server", o.file)
	}
	s.Request.Headers = append(s.Request.Headers, request.Headers...)
	return s, s.Wanted, nil
}

// aim makes a lane for a URL and sees that it answers.
func (o *abreast) aim(ctx context.Context, c *console, s *scenarios.Scenario, url, name string) (l *lane, err error) {
	guard, err1 := o.aiming.guard()
	given, err2 := o.aiming.keys()
	path, err3 := o.aiming.travels()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if given == nil {
		given = s.Keys
	}
	l = &lane{session: &session{console: c, nonce: newNonce(), most: o.aiming.maxRequests}}
	if o.out != "" {
		l.saving.out = filepath.Join(o.out, name)
	}
	limit := s.Limits[0]
	l.target = probes.Target{URL: url, Path: path, Request: s.Request, Key: limit.Key, Answers: limit.Answers, Timeout: s.Timeout,
		Insecure: o.aiming.insecure, Guard: guard, Nonce: l.nonce, Values: named(given).values, Cost: limit.CostHeader, CostBody: limit.CostBody}
	if l.gun, err = probes.Aim(ctx, l.target); err != nil {
		return nil, err
	}
	if l.supply, err = supplyOf(l.gun, limit.Key, given); err == nil {
		label, n := l.supply.probe()
		l.preflight, err = l.gun.Preflight(ctx, label, n)
	}
	if err != nil {
		l.gun.Close()
		return nil, err
	}
	l.rtt = l.preflight.RTT
	return l, nil
}

// draw gives the scenario that is fired at both: the file's, or the standard one for
// what the farther of the two lets be seen.
func (o *abreast) draw(s *scenarios.Scenario, wanted int64, lanes []*lane) (*scenarios.Scenario, error) {
	base, candidate := lanes[0], lanes[1]
	if base.supply.fresh != candidate.supply.fresh {
		return nil, &probes.Hinted{Err: errors.New("fresh keys can be invented at one of the URLs and not at the other, so that they cannot have the same plan"), Hint: "give both the same --keys"}
	}
	if len(s.Phases) > 0 {
		return s, nil
	}
	limit, note, err := complete(s.Limits[0], base.preflight.Header)
	if err != nil {
		return nil, err
	}
	if note != "" {
		base.notes = append(base.notes, note)
	}
	same, err := o.promise.makesNoDifference(limit.Key)
	if err != nil {
		return nil, err
	}
	limits, err := o.promise.withOthers(limit)
	if err != nil {
		return nil, err
	}
	lead, beside := library.Lead(limits)
	circumstances := library.Circumstances{Same: same, Beside: beside, RTT: max(base.rtt, candidate.rtt), Keys: len(base.supply.Given), Budget: o.budget, Wanted: wanted, Seed: o.seed}
	standard, left := library.Standard(lead, circumstances)
	standard.Limits = limits
	standard.Request, standard.Timeout, standard.LateBy = s.Request, s.Timeout, s.LateBy
	base.notes = append(base.notes, append(library.Foresee(lead, circumstances), omissions(left, o.budget)...)...)
	candidate.notes = append(candidate.notes, base.notes...)
	return &standard, nil
}

// prepare plans a lane and makes its folder.
func (l *lane) prepare(s *scenarios.Scenario, second bool) (err error) {
	own := *s
	own.Target = l.target.URL
	l.scenario = &own
	if l.plan, err = own.Plan(l.supply.Supply); err != nil {
		return err
	}
	if n := l.plan.Most(); n > l.most {
		return &probes.Hinted{Err: fmt.Errorf("up to %d requests would be sent to each of the two, and --max-requests is %d", n, l.most),
			Hint: fmt.Sprintf("allow them with --max-requests %d, or ask for less", n)}
	}
	l.plan = l.plan.Staggered(second, stagger)
	l.tick = probes.Tick()
	if l.writer, err = l.create(); err != nil {
		return err
	}
	l.judge, err = newJudgement(l.scenario, judging{fresh: l.supply.fresh, tick: l.tick})
	return err
}

// race fires both lanes on one clock, and saves what came of it.
func race(ctx context.Context, c *console, lanes []*lane) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // each run takes one more and gives back what it found
	firing, stop := context.WithCancel(ctx)
	defer stop()
	probes.Meet(lanes[0].gun, lanes[1].gun)
	done := make(chan struct{})
	var shown, flying sync.WaitGroup
	shown.Go(func() { showBoth(c, lanes, done) })
	for _, l := range lanes {
		flying.Go(func() {
			t := &tee{writer: l.writer, judge: l.judge, viewer: &viewer{console: c}}
			l.run, l.err = l.gun.Fire(firing, l.plan, slackOf(l.scenario.Limits), l.tick, t, &l.progress)
			if l.err != nil {
				stop()
			}
		})
	}
	flying.Wait()
	close(done)
	shown.Wait()
	var errs []error
	for _, l := range lanes {
		errs = append(errs, l.conclude(ctx))
	}
	return errors.Join(errs...)
}

func (l *lane) conclude(ctx context.Context) error {
	if err := l.settle(l.writer, l.run, l.err); err != nil {
		return err
	}
	v := l.judge.conclude(&l.run)
	_, err := l.save(l.judge, &v, &l.run, ctx.Err() != nil)
	return err
}

// showBoth writes a line now and then until the runs are done.
func showBoth(c *console, lanes []*lane, done <-chan struct{}) {
	tick, begun := time.NewTicker(plainEvery), time.Now()
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			c.sayf("%s, base %s; candidate %s", of(time.Since(begun), lanes[0].plan), state(lanes[0].plan, &lanes[0].progress), state(lanes[1].plan, &lanes[1].progress))
		}
	}
}
