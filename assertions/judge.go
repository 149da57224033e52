package assertions

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Options say what is known of a run besides its record. The zero value judges
// the record of a stranger: nothing is known of the buckets' levels at its
// start, and no resolution is asked for.
type Options struct {
	// Fresh: every key is new to the limiter, so its bucket is full when first used.
	Fresh bool
	// Tick is the step of the client's monotonic clock; 0: one nanosecond.
	Tick time.Duration
	// Linger is how long a server may still decide on a request that was given
	// up without an answer; 0: a minute.
	Linger time.Duration
	// Wanted is the error in the rate that the run must have been able to see
	// for a 'kept', in parts per million; 0: any.
	Wanted int64
	// Strict counts advice of a specification as part of the promise.
	Strict bool
	// Checks are the ids of the assertions that count, or their first parts;
	// empty: all of them.
	Checks []string
	// LateBy is how much later than the truth a Retry-After may be beyond its
	// unit's rounding, where a server adds time on purpose; 0: none.
	LateBy time.Duration
	// Draft is the version of the RateLimit fields that the server speaks, since
	// -11 has another t than -10; 0: not known.
	Draft int
	// NoCauses leaves out the search for what a breach probably comes from.
	NoCauses bool
	// NoResolution leaves out the search for what the run would have caught, which
	// takes most of a judge's time where nothing is broken: a 'kept' says nothing of
	// that then, and Wanted is not asked for.
	NoResolution bool
	// Asked is how many of the plan's phases ask whether the promise is kept. The
	// requests of those behind them were sent after a breach: they help to tell
	// where it comes from, and no finding rests on them. 0: all phases ask.
	Asked int
	// Phases are what was fired, in the order of the hits' phases. No status rests on
	// them, but for words: what was varied, who came back. Nil: that is not known.
	Phases []scenarios.Phase
}

// assertion judges one question. It hears every event of a run in the order of
// time and tells its findings once, at the end.
type assertion interface {
	check() string // the id of its findings
	hear([]event)
	trim(oldest int64) // no request in flight left before this tick
	tell() []results.Finding
}

// Judge judges one run while its blocks come in. It is not safe for concurrent use.
type Judge struct {
	limits     []scenarios.Limit
	opts       Options
	scene      *scene
	tally      *tally
	sample     *sample
	assertions []assertion
	fallen     []string // by assertion: how it panicked
	followed   followed
	varied     *varied
	acted      *acted
	wall       wallSeen
	own        ownClock
}

// New is a judge for a run against the limits, all of which must hold. It
// errs where a limit makes no sense.
func New(limits []scenarios.Limit, opts Options) (*Judge, error) {
	if len(limits) == 0 {
		return nil, fmt.Errorf("no limit to judge: a promise is needed, such as burst 10 and rate 5/s")
	}
	limits = withNames(limits)
	var slack scenarios.Slack
	for i, l := range limits {
		if err := l.Check(); err != nil {
			return nil, fmt.Errorf("limit %d: %w", i+1, err)
		}
		if l.Contract != "" && !slices.Contains(scenarios.Contracts, l.Contract) {
			return nil, fmt.Errorf("limit %d: a %s cannot be judged: %v", i+1, l.Contract, scenarios.Contracts)
		}
		slack.Quantum = max(slack.Quantum, l.Slack.Quantum)
		slack.Over = max(slack.Over, l.Slack.Over)
	}
	if opts.Linger == 0 {
		opts.Linger = time.Minute
	}
	s := newSweep(tickOf(limits), slack.Quantum, max(opts.Tick, 0), opts.Linger)
	s.wall = slices.ContainsFunc(limits, byWall)
	j := &Judge{limits: limits, opts: opts, tally: newTally(limits[0]), acted: &acted{}, wall: newWallSeen(), varied: newVaried(opts.Phases, limits),
		scene: &scene{sweep: s, fresh: opts.Fresh, several: len(limits) > 1, lateBy: opts.LateBy}}
	j.tally.acted = j.acted
	j.build(slack)
	j.fallen = make([]string, len(j.assertions))
	return j, nil
}

// withNames are the limits, each with a name that findings can call it by.
func withNames(limits []scenarios.Limit) []scenarios.Limit {
	limits = slices.Clone(limits)
	for i := range limits {
		if limits[i].Name == "" {
			limits[i].Name = "limit"
		}
	}
	return limits
}

// build makes the assertions, in the order in which their findings are told.
func (j *Judge) build(slack scenarios.Slack) {
	j.sample = &sample{scene: j.scene}
	j.assertions = append(j.assertions, newBounds(j.scene, j.sample, j.limits, j.opts.Checks), newConsistency(j.sample, j.limits))
	for i, l := range j.limits {
		if l.Contract == scenarios.Queue {
			j.assertions = append(j.assertions, newHolding(j.sample, j.limits, i))
		}
		if l.Key.Kind != scenarios.KeyNone {
			j.assertions = append(j.assertions, newIsolation(j.sample, j.limits, i))
		}
	}
	j.assertions = append(j.assertions, newPresent(), newSyntax(), newPositive(j.scene, slack, j.limits),
		newHonest(j.scene, slack, j.limits), newTight(j.scene, slack), newConsistent(j.scene, slack, j.limits), newHerd(j.opts.Phases), newSyntaxOfFields())
	for i := range j.limits {
		j.assertions = append(j.assertions, newRemaining(j.scene, j.limits, i), newReset(j.scene, j.limits, i, j.opts.Draft), newPolicy(j.limits, i))
	}
	j.assertions = append(j.assertions, newCached(), newStorable(), newPrice(), newOutages(j.acted, j.limits, j.opts.Tick), newAftermath(j.acted, j.limits, j.opts.Tick))
}

// Block hears a piece of the record. The block's hits must not change
// afterwards; they are let go when they are no longer in flight.
func (j *Judge) Block(b results.Block) {
	j.acted.hear(b)
	j.own.hear(b.Marks)
	marks := b.Marks
	asked, later := j.parted(b.Hits)
	if len(j.followed.hits)+len(later) > 0 {
		j.followed.hear(later, b.Marks)
		for i := range later {
			j.tally.count(&later[i])
		}
		b.Marks = nil // what happened to the clocks since is nothing that the findings rest on
	}
	b.Hits = asked
	j.wall.hear(asked, marks, b.Low)
	j.hear(j.scene.block(b))
}

// atHand is how many events all assertions hear before they hear the next ones:
// so few that their requests are still at hand for the last assertion.
const atHand = 512

func (j *Judge) hear(events []event) {
	for some := range slices.Chunk(events, atHand) {
		j.tally.hear(some)
		j.sample.hear(some)
		j.varied.hear(some)
		for i, a := range j.assertions {
			j.guard(i, func() { a.hear(some) })
		}
	}
	oldest := j.scene.oldest() // of what is in flight behind all of them
	for i, a := range j.assertions {
		j.guard(i, func() { a.trim(oldest) })
	}
}

// guard keeps a panic within the assertion it happened in: that one is asked no
// more and has no answer, the others do.
func (j *Judge) guard(i int, f func()) {
	if j.fallen[i] != "" {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			j.fallen[i] = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	f()
}

// Verdict ends the run and concludes. What run says of the generator is weighed
// first, and its counts of outcomes are filled in. The blocks must be gone
// through once more with Evidence before the findings name all their requests.
func (j *Judge) Verdict(run *results.Run) results.Verdict {
	j.hear(j.scene.close())
	j.tally.fill(run)
	v := results.Verdict{}
	seen := j.opts.Wanted > 0
	for i, l := range j.limits {
		if j.opts.NoResolution {
			v.Resolutions = append(v.Resolutions, results.Resolution{Limit: l.Name})
			continue
		}
		asked := j.sides(l)
		r := j.sample.resolution(j.limits, i, j.opts.Wanted, asked)
		v.Resolutions = append(v.Resolutions, r)
		seen = seen && asked.sees(l, r, j.opts.Wanted)
	}
	v.Findings = append(v.Findings, fitness(run, seen, j.tally))
	for i, a := range j.assertions {
		v.Findings = append(v.Findings, j.tell(i, a)...)
	}
	cut := false // before the record could tell one limiter from another
	if run.Stopped == results.StoppedByProof {
		for i := range v.Findings {
			cut = early(&v.Findings[i], j.limits) || cut
		}
	}
	if f, ok := j.acted.tell(j.limits); ok {
		v.Findings = append(v.Findings, f)
	}
	if f, ok := j.wall.tell(); ok {
		v.Findings = append(v.Findings, f)
	}
	if f, ok := j.own.tell(); ok {
		v.Findings = append(v.Findings, f)
	}
	for i := range v.Findings {
		j.acted.moved(&v.Findings[i])
	}
	j.unsay(v.Findings)
	j.tellVaried(v.Findings)
	j.tellTrials(v.Findings)
	for i := range v.Findings {
		j.demand(&v.Findings[i], v)
		j.excuse(&v.Findings[i])
	}
	tied(v.Findings)
	v.Findings = slices.DeleteFunc(v.Findings, func(f results.Finding) bool {
		return !slices.Contains([]string{CheckFitness, CheckActed, CheckServerClock, CheckOwnClock}, f.Check) && !scenarios.Covers(j.opts.Checks, f.Check)
	})
	v.Status = results.Merge(v.Findings, j.opts.Strict)
	if v.Status == results.Broken && run.Stopped == results.StoppedByProof { // of what breaks nothing, no end is early enough
		v.Findings[slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == CheckFitness })] = proofEnough(run, j.tally)
	}
	if v.Status == results.Broken {
		if c, ok := j.chosen(v.Findings); ok {
			v.Causes = []results.Cause{c}
		} else if !cut {
			v.Causes = j.causes(v.Findings)
		}
	}
	v.Headline = headline(v, run, j.limits)
	return v
}

func (j *Judge) tell(i int, a assertion) (found []results.Finding) {
	j.guard(i, func() { found = a.tell() })
	if why := j.fallen[i]; why != "" {
		return []results.Finding{{Check: a.check(), Text: "the check itself failed, which is a fault of hammer: " + why}}
	}
	return found
}

// demand takes back a bound's 'kept' where the run could not have seen an error
// of the size that was asked for: what cannot be broken is not kept. Nor is what the
// record refutes, where nothing that is asked for says so.
func (j *Judge) demand(f *results.Finding, v results.Verdict) {
	if f.Status != results.Kept || j.opts.Wanted == 0 || j.opts.NoResolution {
		return
	}
	for i, l := range j.limits {
		about := f.Limit == l.Name || f.Check == CheckLower                           // a refusal is held against all limits together
		if !about || f.Status != results.Kept || l.Contract == scenarios.BestEffort { // which promises nothing to see an error of
			continue
		}
		promised := l.Rate.PerSecond()
		r := v.Resolutions[i]
		switch {
		case r.Refuted && j.doubted(v.Findings, l): // and what is kept beside it is kept
		case r.Refuted:
			f.Status = results.Inconclusive
			f.Text = "the record refutes the promise by what was not asked for; beside that, " + f.Text
		case l.Contract == scenarios.Concurrency && f.Check == CheckUpper && r.BurstHigh == nil:
			f.Status = results.Inconclusive
			f.Text = "whether more than that are served at once cannot be seen from outside where an answer comes as a whole, and nothing else speaks against it: " + f.Text
		case promised == 0: // there is no rate to see an error of
		case f.Check == CheckUpper && !reaches(r.RateHigh, promised, j.opts.Wanted),
			f.Check == CheckLower && !reaches(r.RateLow, promised, j.opts.Wanted):
			f.Status = results.Inconclusive
			f.Text = fmt.Sprintf("not seen sharply enough: %s, and %s %% was asked for%s; as far as was seen, %s", seen(r, promised), digits3(r.WantedPct), j.placed(l), f.Text)
		}
	}
}

// placed says what would help where periods may begin anywhere and each bound of
// several limits takes the place that suits it.
func (j *Judge) placed(l scenarios.Limit) string {
	switch {
	case !j.sides(l).open || len(j.limits) == 1:
		return ""
	case l.Align == "":
		return fmt.Sprintf(" (where the periods of %s begin is not declared; those that each key begins by itself, align first-hit, are seen sharply beside other limits)", l.Name)
	}
	return fmt.Sprintf(" (beside other limits periods on a grid of the server's are seen no more sharply than that: judge %s by itself, with the other limit out of the way)", l.Name)
}

// doubted reports whether something that is asked for says that a limit is not kept.
func (j *Judge) doubted(found []results.Finding, l scenarios.Limit) bool {
	return slices.ContainsFunc(found, func(f results.Finding) bool {
		return f.Limit == l.Name && f.Status != results.Kept && f.Level == results.Must && scenarios.Covers(j.opts.Checks, f.Check)
	})
}

// excuse takes the weight from a finding about a limit that promises nothing: it
// reports what the limit does against its numbers.
func (j *Judge) excuse(f *results.Finding) {
	for _, l := range j.limits {
		if l.Contract == scenarios.BestEffort && f.Limit == l.Name {
			f.Level = results.Info
		}
	}
}

// unsay takes back what is broken under a quota for each key, where one for all
// keys explains it: a quota does not say whom it counts together.
func (j *Judge) unsay(all []results.Finding) {
	for _, i := range all {
		if i.Check != CheckIsolation || i.Status != results.Inconclusive || i.Level != results.Must {
			continue
		}
		for n := range all {
			f := &all[n]
			if f.Limit == i.Limit && f.Status == results.Broken && (f.Check == CheckLower || f.Check == CheckWindow) {
				f.Status = results.Inconclusive
				f.Text = "if each key has a budget of its own, " + f.Text
			}
		}
	}
}
