package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// saving are the flags that say where the record goes and how the answer counts.
type saving struct {
	out                string
	strict             bool
	undiagnosed        bool
	acceptInconclusive bool
	quiet              bool
	report             []string      // as --report was given
	reports            []wanted      // what that asks for
	prometheus         string        // address at which the run's numbers are told; empty: none
	failFast           bool          // firing ends with the first proof that a promise is broken
	diagnoseFor        time.Duration // how long the follow-ups of a breach may take
}

// session is one run, from a scenario to an exit code.
type session struct {
	console  *console
	saving   saving
	scenario *scenarios.Scenario
	gun      *probes.Gun
	supply   supply
	nonce    string
	server   string // what is behind the URL, where it is ours
	embedded bool   // it runs inside this process
	defects  []string
	acting   acting   // what is done to the server meanwhile, and by what
	used     bool     // the keys that are invented were used before, and may not be full
	base     *earlier // the run that this one repeats; nil: none
	notes    []string
	most     int           // requests
	rtt      time.Duration // measured from request to answer

	plan     scenarios.Plan
	folder   string
	manifest store.Manifest
	tick     time.Duration
}

// fire plans, fires, records and answers.
func (s *session) fire(ctx context.Context) error {
	var err error
	if s.plan, err = s.scenario.Plan(s.supply.Supply); err != nil {
		return err
	}
	if n := s.plan.Most(); n > s.most {
		return &probes.Hinted{Err: fmt.Errorf("the run would send up to %d requests, and --max-requests is %d", n, s.most),
			Hint: fmt.Sprintf("allow them with --max-requests %d, or ask for less", n)}
	}
	s.tick = probes.Tick()
	progress, begun := &probes.Progress{}, time.Now()
	numbers, err := s.expose(progress, begun)
	if err != nil {
		return err
	}
	defer numbers.close()
	writer, err := s.create()
	if err != nil {
		return err
	}
	s.announce()
	judge, err := newJudgement(s.scenario, judging{fresh: s.supply.fresh, tick: s.tick, strict: s.saving.strict, undiagnosed: s.saving.undiagnosed})
	if err != nil {
		return err
	}
	firing, stop := context.WithCancel(ctx)
	defer stop()
	t := &tee{writer: writer, judge: judge, viewer: newViewer(s.console, s.scenario.Limits), numbers: numbers}
	if s.saving.failFast {
		t.stop = stop
	}
	begun = time.Now()
	f := &followUps{session: s, tee: t, progress: progress, begun: begun, stop: t.viewer.show(s.plan, progress, begun)}
	run, fireErr := s.gun.FireOn(firing, s.plan, slackOf(s.scenario.Limits), s.tick, t, progress, f.next)
	f.stop()
	if t.proven && ctx.Err() == nil {
		run.Stopped = results.StoppedByProof
	}
	if err := s.settle(writer, run, fireErr); err != nil {
		return err
	}
	switch {
	case f.verdict == nil: // it was stopped before its end
		v := judge.conclude(&run)
		return s.answer(judge, &v, &run, ctx.Err() != nil)
	case f.fired:
		return s.answerAgain(f.verdict, &run, ctx.Err() != nil)
	}
	return s.answer(judge, f.verdict, f.run, false)
}

// tee hands each block to the folder first: what is judged is on record.
type tee struct {
	writer  *store.Writer
	judge   *judgement
	viewer  *viewer
	numbers *exposed // nil: they are told to nobody
	stop    func()   // is called at the first proof that a promise is broken; nil: the run goes on
	proven  bool

	mu     sync.Mutex
	judged bool // the judge has concluded: what comes now is a follow-up, and for the folder alone
}

// conclude gives the verdict on what was fired so far.
func (t *tee) conclude(run *results.Run) results.Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.judged = true
	return t.judge.conclude(run)
}

func (t *tee) Block(b results.Block) error {
	if err := t.writer.Write(b); err != nil {
		return err
	}
	if t.numbers != nil {
		t.numbers.Block(b)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.judged {
		t.viewer.block(b, func() (f results.Finding, ok bool) { return f, false })
		return nil
	}
	t.judge.block(b)
	t.viewer.block(b, t.judge.judge.Proof)
	if t.stop != nil && !t.proven {
		if _, t.proven = t.judge.judge.Proven(); t.proven {
			t.stop()
		}
	}
	return nil
}

// create makes the run folder.
func (s *session) create() (*store.Writer, error) {
	s.folder = s.saving.out
	if s.folder == "" {
		s.folder = filepath.Join(runsFolder, time.Now().Format("20060102-150405")+"-"+s.nonce)
		if err := ignoreRuns(); err != nil {
			return nil, &probes.Hinted{Err: err, Hint: "say where the record may be written with --out DIR"}
		}
	}
	nonce := ""
	if s.supply.fresh {
		nonce = s.nonce
	}
	s.manifest = store.Manifest{
		Tool: version, Started: time.Now(), Scenario: string(s.scenario.YAML()), Seed: s.scenario.Seed, Nonce: nonce,
		URL: s.scenario.Target, Server: s.server, Embedded: s.embedded, Defects: s.defects, Keys: s.supply.Given, Phases: s.plan.Phases, OS: runtime.GOOS, Arch: runtime.GOARCH,
		GoVersion: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), TickNS: int64(s.tick), WSL: underWSL(), Notes: s.notes,
	}
	w, err := store.Create(s.folder, s.manifest)
	if err != nil {
		return nil, &probes.Hinted{Err: err, Hint: "say where the record may be written with --out DIR"}
	}
	return w, nil
}

// runsFolder is where runs go that were not told where, in the working directory.
const runsFolder = "hammer-runs"

// ignoreRuns keeps the runs out of a surrounding git repository.
func ignoreRuns() error {
	if err := os.MkdirAll(runsFolder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(runsFolder, ".gitignore")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return os.WriteFile(path, []byte("*\n"), 0o644)
	}
	return nil
}

// announce says what is about to happen.
func (s *session) announce() {
	c := s.console
	c.sayf("up to %d requests within %v at most, at %s, with %s", s.plan.Most(), s.plan.Length.Round(100*time.Millisecond), s.scenario.Target, s.supply.kind)
	var waits time.Duration
	for _, w := range s.plan.Waits {
		waits += w.Length
	}
	if waits > 0 {
		c.sayf("%v of it are %d waits until the key's bucket is full again", waits.Round(100*time.Millisecond), len(s.plan.Waits))
	}
	if l, means, may := s.followed(); may {
		if p := library.Most(l, s.circumstances(), means); p.Requests > 0 {
			c.sayf("after a breach: up to %d requests more, %v, to find what it comes from", p.Requests, p.Length.Round(100*time.Millisecond))
		}
	}
	for _, n := range s.notes {
		c.sayf("%s", n)
	}
}

// settle closes the record, and says what is safe when it could not be written.
func (s *session) settle(w *store.Writer, run results.Run, fireErr error) error {
	if fireErr != nil {
		s.manifest.Run = run
		w.Close(s.manifest) // its error is the one we have
		return &probes.Hinted{Err: fmt.Errorf("the run was stopped: %w", fireErr),
			Hint: "what was saved can be judged: hammer judge " + quoted(s.folder)}
	}
	s.manifest.Run = run
	s.manifest.Scenario, s.manifest.Phases, s.manifest.Notes = string(s.scenario.YAML()), s.plan.Phases, s.notes
	return w.Close(s.manifest)
}

func quoted(path string) string {
	if strings.ContainsAny(path, " '\"$&;|<>()*?") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// slackOf is the widest slack of several limits.
func slackOf(limits []scenarios.Limit) (s scenarios.Slack) {
	for _, l := range limits {
		s.Quantum, s.Over, s.Under = max(s.Quantum, l.Slack.Quantum), max(s.Over, l.Slack.Over), max(s.Under, l.Slack.Under)
	}
	return s
}

// underWSL reports whether this Linux runs inside Windows, whose host corrects
// its clocks by jumps.
func underWSL() bool {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(b)), "microsoft")
}
