package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/results/store/traffic"
	"github.com/ratehammer/ratehammer/scenarios"
)

// judgeFlags are the flags of hammer judge.
type judgeFlags struct {
	promise promise
	saving  saving
	source  source
	asFired bool // the record's own promise stands, and promise is not looked at
}

func newJudge(c *console) *cobra.Command {
	o := &judgeFlags{}
	cmd := &cobra.Command{
		Use:   "judge RUN|FILE",
		Short: "Judge a saved run again, or what another program recorded",
		Long: `Judges the record in a run's folder, against the promise it was fired for or
another one given by --burst and --rate. Nothing is sent and nothing in the
folder is changed. What is missing from a damaged folder is said, and nothing
is concluded from what may have been in it.

FILE is what hammer export wrote, a small record in JSON Lines, or traffic that
another program recorded, judged against the promise of the flags: results of
vegeta (JSON, gob, CSV), k6 (--out json), hey and oha (CSV), an HTTP Archive, or
an access log of nginx or Apache. docs/records.md says what each one's times
mean, how far they are widened, and what cannot be judged by it.

` + exitCodes,
		Example: "  hammer judge hammer-runs/20260102-150405-1a2b3c4d\n  hammer judge hammer-runs/20260102-150405-1a2b3c4d --burst 7 --rate 2/s\n  hammer judge access.log --format nginx --contract fixed-window --rate 100/m",
		Args:    exactlyOne("give the folder of a run, or a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source.keyed = cmd.Flags().Changed("key")
			return o.run(c, args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.promise.addFlags(f)
	o.saving.addVerdictFlags(f)
	var formats []string
	for _, f := range traffic.Formats {
		formats = append(formats, string(f))
	}
	f.StringVar(&o.source.format, "format", "", "who wrote FILE: "+strings.Join(formats, ", ")+" (default found out)")
	f.StringVar(&o.source.layout, "log-format", "", "layout of FILE's lines as in nginx's log_format or Apache's LogFormat, with --format nginx or apache (default combined)")
	f.DurationVar(&o.source.longest, "longest", time.Minute, "how long a request of FILE took at most, where it does not say so; what is shorter than the truth accuses wrongly")
	f.BoolVar(&o.source.full, "full", false, "every client of FILE had all of its burst at its first request")
	return cmd
}

func (o *judgeFlags) run(c *console, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return &probes.Hinted{Err: err, Hint: "give the folder of a run; hammer check prints it behind 'record:'"}
	}
	if err := o.saving.readReports(c); err != nil {
		return err
	}
	judge := o.folder
	if !info.IsDir() {
		judge = o.file
	}
	s, err := judge(name)
	if err != nil {
		return err
	}
	return c.print(s, o.saving)
}

// folder judges the record in a run's folder.
func (o *judgeFlags) folder(name string) (out shown, err error) {
	saved, err := store.Open(name)
	if err != nil {
		return out, err
	}
	return o.saved(name, saved)
}

// saved judges a run of hammer.
func (o *judgeFlags) saved(name string, saved *store.Run) (out shown, err error) {
	m := saved.Manifest
	s, err := scenarios.Parse(name+"/manifest.json, scenario", []byte(m.Scenario), assertions.IDs())
	if err != nil {
		return out, err
	}
	if err := o.override(s); err != nil {
		return out, err
	}
	j, err := newJudgement(s, judging{fresh: m.Nonce != "", tick: time.Duration(m.TickNS), strict: o.saving.strict, undiagnosed: o.saving.undiagnosed})
	if err != nil {
		return out, err
	}
	holes := blocks(saved.Blocks()).all(j.block)
	run := j.account(m)
	r := j.reportOf(j.conclude(&run), run, blocks(saved.Blocks()))
	r.Started = m.Started
	r.Target, r.Server, r.Keys = m.URL, m.Server, keyText(s, m.Nonce)
	r.Notes = append(append(m.Notes, holes...), sightNotes(results.Verdict{Status: r.Status, Resolutions: r.Resolutions})...)
	recheck(r, name)
	r.ExitCode = exitCode(r.Status, o.saving.acceptInconclusive)
	return shown{report: r, look: j.look, record: blocks(saved.Blocks())}, nil
}

// account is what the run said of itself, or what the record says where it
// never came to say anything.
func (j *judgement) account(m store.Manifest) results.Run {
	run := m.Run
	switch {
	case m.Ended && j.hits < run.Sent:
		run.Stopped = fmt.Sprintf("the record lacks %d of the %d requests that were sent", run.Sent-j.hits, run.Sent)
		return run
	case m.Ended:
		return run
	}
	run = results.Run{Planned: j.hits, Sent: j.hits, Path: results.NotOnRecord, Stopped: "the run was not ended properly"}
	if m.StoppedWhy != "" {
		run.Stopped = m.StoppedWhy
	}
	return run
}

// override puts another promise in place of the scenario's, where one is given.
func (o *judgeFlags) override(s *scenarios.Scenario) error {
	if o.asFired {
		return nil
	}
	l, wanted, err := o.promise.template()
	if err != nil {
		return err
	}
	if l.Burst == 0 && l.Rate.Count == 0 && l.Contract == "" {
		if len(o.promise.also) > 0 {
			return errors.New("--also is a limit beside that of --burst and --rate: give these as well")
		}
		return nil
	}
	if _, _, err := complete(l, nil); err != nil {
		return err
	}
	first := s.Limits[0]
	first.Contract, first.Align, first.Burst, first.Rate, first.Slack = l.Contract, l.Align, l.Burst, l.Rate, l.Slack
	if err := first.Check(); err != nil {
		return err
	}
	s.Wanted = wanted
	s.Limits, err = o.promise.withOthers(first)
	return err
}

// lines judges a small record, and compares the verdict with the one that its
// header expects.
func (o *judgeFlags) lines(name string) (out shown, err error) {
	s, header, hits, err := loadLines(name)
	if err != nil {
		return out, err
	}
	if err := o.override(s); err != nil {
		return out, err
	}
	j, err := newJudgement(s, judging{fresh: header.Start != "unknown", asked: header.Asked, tick: time.Duration(header.Tick), strict: o.saving.strict, undiagnosed: o.saving.undiagnosed})
	if err != nil {
		return out, err
	}
	record := inBlocks(hits)
	record.all(j.block)
	run := results.Run{Planned: j.hits, Sent: j.hits, Path: "a record in JSON Lines"}
	r := j.reportOf(j.conclude(&run), run, record)
	r.Target = name
	if header.Note != "" {
		r.Notes = []string{header.Note}
	}
	r.ExitCode = exitCode(r.Status, o.saving.acceptInconclusive)
	if err := expected(header.Expect, r.Status, r.Findings); err != nil {
		return out, err
	}
	return shown{report: r, look: j.look, record: record}, nil
}

// errExpected is a corpus file whose verdict is not the one it expects.
var errExpected = errors.New("another verdict was expected")

func expected(want string, r results.Status, findings []results.Finding) error {
	status, check, _ := strings.Cut(want, " ")
	if want == "" || status == r.String() && (check == "" || brokenCheck(findings, check)) {
		return nil
	}
	return fmt.Errorf("%w: the file expects %q and the verdict is %v", errExpected, want, r)
}

func brokenCheck(findings []results.Finding, check string) bool {
	for _, f := range findings {
		if f.Check == check && f.Status == results.Broken {
			return true
		}
	}
	return false
}
