package main

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
)

// answerAgain answers for a run that was followed up, from the record of both as
// it was saved, so that judging the folder again gives the same. The verdict is
// the one that stood before the follow-ups, whatever became of them.
func (s *session) answerAgain(before *results.Verdict, run *results.Run, interrupted bool) error {
	saved, err := store.Open(s.folder)
	if err != nil {
		return err
	}
	j, err := newJudgement(s.scenario, judging{fresh: s.supply.fresh, tick: s.tick, strict: s.saving.strict})
	if err != nil {
		return err
	}
	blocks(saved.Blocks()).all(j.block)
	v := j.conclude(run)
	v.Status, v.Headline = before.Status, before.Headline
	if interrupted {
		s.notes = append(s.notes, "what was fired after the breach was interrupted: its cause is named from what there is")
	}
	return s.answer(j, &v, run, false)
}

// answer saves the verdict and prints it.
func (s *session) answer(j *judgement, v *results.Verdict, run *results.Run, interrupted bool) error {
	answer, err := s.save(j, v, run, interrupted)
	if err != nil {
		return err
	}
	return s.console.print(answer, s.saving)
}

// save puts the verdict beside the record.
func (s *session) save(j *judgement, v *results.Verdict, run *results.Run, interrupted bool) (shown, error) {
	saved, err := store.Open(s.folder)
	if err != nil {
		return shown{}, err
	}
	r := j.reportOf(*v, *run, blocks(saved.Blocks()))
	r.Started = s.manifest.Started
	r.Server, r.Notes = s.server, append(s.notes, sightNotes(*v)...)
	if s.supply.fresh {
		r.Keys = keyText(s.scenario, s.nonce)
	}
	r.Replay = s.base.held(v)
	recheck(r, s.folder)
	r.ExitCode = exitCode(v.Status, s.saving.acceptInconclusive)
	if interrupted {
		r.ExitCode = exitInterrupted
	}
	if err := store.SaveVerdict(s.folder, r); err != nil {
		return shown{}, err
	}
	if err := j.latency.Save(s.folder); err != nil {
		return shown{}, err
	}
	return shown{report: r, look: j.look, record: blocks(saved.Blocks())}, nil
}

// print writes a report in the forms that were asked for, and ends with its exit code.
func (c *console) print(s shown, as saving) error {
	format, r := formatText, s.report
	if c.json {
		format = formatJSON
	}
	if err := s.render(c.out, format, c.style(as.quiet)); err != nil {
		return err
	}
	if err := s.save(c, as.reports); err != nil {
		return err
	}
	if r.Status == results.Inconclusive && as.acceptInconclusive {
		c.sayf("INCONCLUSIVE, and accepted: --accept-inconclusive makes this exit 0, but nothing was shown to be kept")
	}
	return conclude(r.ExitCode)
}

// style is how text is written to where it goes.
func (c *console) style(quiet bool) report.Style {
	s := report.Style{Quiet: quiet}
	f, ok := c.out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.Unicode, s.Wrap = true, true
	s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width = w
	}
	return s
}

// sightNotes says what to do where the run could not see as sharply as was asked.
func sightNotes(v results.Verdict) (notes []string) {
	if v.Status != results.Inconclusive {
		return nil
	}
	for _, r := range v.Resolutions {
		switch {
		case r.RatePct != nil && *r.RatePct > r.WantedPct && r.WantedPct > 0:
			notes = append(notes, fmt.Sprintf("this run saw errors in the rate from %.2g %% on: accept that with --resolution %s%%, or see more with a client nearer the limiter, an idle machine, or a key with a larger burst",
				*r.RatePct, strconv.FormatFloat(math.Ceil(*r.RatePct*10)/10, 'f', -1, 64)))
		case r.RateHigh == nil && r.RateLow != nil:
			notes = append(notes, "a limiter that is too strict cannot be told from a right one where the burst is used up within a round trip: try a client nearer the limiter, or a key with a larger burst")
		}
	}
	return notes
}
