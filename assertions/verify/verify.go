// Package verify holds an http.Handler to the promise of its rate limiter, in a
// test of Go. It fires the standard scenario at the handler, in this process, and
// judges the record as hammer does. It goes by time.Now alone: in a bubble of
// testing/synctest a run of minutes takes milliseconds and repeats exactly,
//
//	synctest.Test(t, func(t *testing.T) {
//		if err := verify.Handler(handler(), limit); err != nil {
//			t.Fatal(err)
//		}
//	})
//
// and outside of one it takes as long as the promise needs. It stands at the end of
// the flow, as cmd does: on scenarios, probes, assertions and results.
package verify

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// Check says what is verified. Handler and Limit have to be there.
type Check struct {
	Handler http.Handler
	// Limit is the promise. Zero Answers mean that 429 is limited and 2xx admitted,
	// a zero Slack what hammer grants by itself. Its Key says where clients are told
	// apart: a header, a query parameter, a cookie, or the peer's address.
	Limit    scenarios.Limit
	Beside   []scenarios.Limit   // further limits that hold as well, told apart by the same Key; their Answers are the first one's; nil: none
	Request  scenarios.Request   // what is sent; zero: GET
	URL      string              // asked for; empty: http://127.0.0.1/
	Scenario *scenarios.Scenario // what is fired, of which the Limits are not used; nil: the standard scenario of the limit
	Thorough bool                // fires the thorough scenario where Scenario is nil
	Same     []scenarios.Vary    // what makes no difference to the limit, and is varied to see that; see library.Identity
	Budget   time.Duration       // how long a run may take at most, on the clock of time.Now; 0: an hour
	Seed     uint64              // of everything random in the plan
}

// Handler fires the standard scenario at a handler. The error is a Failure unless
// the promise was kept, or says what is wrong with the limit.
func Handler(h http.Handler, l scenarios.Limit) error {
	r, err := Check{Handler: h, Limit: l}.Run(context.Background())
	switch {
	case err != nil:
		return err
	case r.Status != results.Kept:
		return &Failure{r}
	}
	return nil
}

// Failure says that a promise was broken, or that it could not be seen whether it
// was: its text is the report, whose first line is the answer.
type Failure struct{ Report *report.Report }

func (f *Failure) Error() string {
	var b strings.Builder
	if err := report.Text(&b, f.Report, report.Style{}); err != nil {
		return f.Report.Headline // a Builder does not fail
	}
	return "\n" + b.String()
}

// Run fires and judges. The error says what is wrong with the Check.
func (c Check) Run(ctx context.Context) (*report.Report, error) {
	c = c.withDefaults()
	limits := c.limits()
	for _, l := range limits {
		if err := l.Check(); err != nil {
			return nil, err
		}
	}
	gun, err := probes.Aim(ctx, probes.Target{URL: c.URL, Request: c.Request, Key: c.Limit.Key, Answers: c.Limit.Answers, Cost: c.Limit.CostHeader, CostBody: c.Limit.CostBody, Nonce: "verify"})
	if err != nil {
		return nil, err
	}
	defer gun.Close()
	sc, left := c.scenario()
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		return nil, err
	}
	blocks, run := gun.FireInside(ctx, c.Handler, plan, c.Limit.Slack)
	r, err := c.judge(sc, blocks, run)
	if err != nil {
		return nil, err
	}
	for _, o := range left {
		r.Notes = append(r.Notes, "left out for lack of "+o.Why+": "+o.Track+", so this would go unseen: "+o.Loses)
	}
	return r, nil
}

func (c Check) withDefaults() Check {
	if c.Limit.Answers.Limited.Any == nil && c.Limit.Answers.Admitted.Any == nil {
		c.Limit.Answers = scenarios.DefaultAnswers()
	}
	if c.Limit.Slack == (scenarios.Slack{}) {
		c.Limit.Slack = scenarios.DefaultSlack()
	}
	if c.URL == "" {
		c.URL = "http://127.0.0.1/"
	}
	if c.Budget == 0 {
		c.Budget = time.Hour
	}
	return c
}

// limits are all that hold.
func (c Check) limits() []scenarios.Limit {
	all := []scenarios.Limit{c.Limit}
	for _, l := range c.Beside {
		if l.Slack == (scenarios.Slack{}) {
			l.Slack = c.Limit.Slack
		}
		l.Key, l.Answers, l.CostHeader, l.CostBody = c.Limit.Key, c.Limit.Answers, c.Limit.CostHeader, c.Limit.CostBody
		all = append(all, l)
	}
	return library.Together(all...)
}

func (c Check) scenario() (scenarios.Scenario, []library.Omission) {
	if c.Scenario != nil {
		s := *c.Scenario
		s.Limits = c.limits()
		return s, nil
	}
	draw := library.Standard
	if c.Thorough {
		draw = library.Thorough
	}
	lead, beside := library.Lead(c.limits())
	s, left := draw(lead, library.Circumstances{Same: c.Same, Beside: beside, Seed: c.Seed, Budget: c.Budget})
	s.Limits = c.limits()
	return s, left
}

func (c Check) judge(sc scenarios.Scenario, blocks []results.Block, run results.Run) (*report.Report, error) {
	j, err := assertions.New(sc.Limits, assertions.Options{Fresh: true, Wanted: sc.Wanted, Checks: sc.Checks, Phases: sc.Phases})
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		j.Block(b)
	}
	v := j.Verdict(&run)
	evidence := assertions.NewEvidence(v, sc.Limits)
	for _, b := range blocks {
		evidence.Block(b)
	}
	return &report.Report{Version: report.SchemaVersion, Status: v.Status, Headline: v.Headline, Target: "the handler",
		Promise: scenarios.Promises(sc.Limits), Findings: v.Findings, Run: run, Resolutions: v.Resolutions, Causes: v.Causes, Evidence: evidence.Hits()}, nil
}
