package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// replayFlags are the flags of hammer replay.
type replayFlags struct {
	aiming   aiming
	saving   saving
	acting   acting
	recorded bool
	sameKeys bool
	yaml     bool
}

func newReplay(c *console) *cobra.Command {
	o := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay RUN [URL]",
		Short: "Fire a saved run again, and say whether it ends the same",
		Long: `Fires the plan of a saved run again, at the same target or at URL, with the same
moments and fresh keys, judges what comes back as hammer run does, and says
whether the same checks are broken. A run of hammer check without URL is fired at
a new reference server like the one it was fired at.

With --recorded what is fired is not the plan but what was sent, each request at
the moment at which it left: also those that followed from answers, and without
waiting for new ones. RUN may then also be a small record in JSON Lines.

What was done to the server is done again, by the means that are given now.

` + exitCodes,
		Example: `  hammer replay hammer-runs/20260102-150405-1a2b3c4d
  hammer replay hammer-runs/20260102-150405-1a2b3c4d http://127.0.0.1:8080/
  hammer replay hammer-runs/20260102-150405-1a2b3c4d --recorded --yaml > recorded.yaml`,
		Args: o.acting.args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), c, beforeDash(cmd, args)) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.recorded, "recorded", false, "fire what was sent, at the moments at which it left, instead of the plan")
	f.BoolVar(&o.sameKeys, "same-keys", false, "use the very keys that were invented for RUN, instead of fresh ones")
	f.BoolVar(&o.yaml, "yaml", false, "print the scenario as a file for hammer run instead of firing it")
	o.aiming.addAgainFlags(f)
	o.saving.addFlags(f)
	o.saving.addDiagnoseFlag(f)
	o.acting.addFlags(f)
	return cmd
}

func (o *replayFlags) run(ctx context.Context, c *console, args []string) error {
	if err := o.saving.readReports(c); err != nil {
		return err
	}
	if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
		return o.lines(ctx, c, args)
	}
	e, err := openEarlier(args[0])
	if err != nil {
		return err
	}
	s := e.asked()
	if o.recorded {
		if s.Phases, err = e.recorded(o.aiming.maxRequests); err != nil {
			return err
		}
	}
	ses := &session{console: c, saving: o.saving, scenario: s, nonce: newNonce(), base: e, acting: o.acting}
	if o.sameKeys {
		if err := e.reuse(ses, len(args) == 2); err != nil {
			return err
		}
	}
	return o.fire(ctx, ses, args)
}

// fire fires the session's scenario at the URL that is given, or at what the run
// was fired at.
func (o *replayFlags) fire(ctx context.Context, ses *session, args []string) error {
	s := ses.scenario
	if o.yaml {
		_, err := ses.console.out.Write(s.YAML())
		return err
	}
	extra, err1 := o.aiming.request()
	guard, err2 := o.aiming.guard()
	given, err3 := o.aiming.keys()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if err := credentials(s, extra.Headers); err != nil {
		return err
	}
	if ses.base != nil {
		var err error
		if given, err = ses.base.values(given); err != nil {
			return err
		}
	}
	switch {
	case len(args) == 2:
		s.Target = args[1]
	case ses.base != nil:
		closing, said, err := ses.base.serve(s, &ses.acting)
		if err != nil {
			return err
		}
		defer closing()
		ses.server, ses.embedded, ses.defects = said, said != "", ses.base.saved.Manifest.Defects
	}
	if s.Target == "" {
		return &probes.Hinted{Err: fmt.Errorf("%s names no target", args[0]), Hint: "give the URL behind it"}
	}
	return o.aiming.fire(ctx, ses, guard, given)
}

// reuse makes a session take the keys of the run. They are known to be full only
// when they were left alone for as long as that takes by the promise.
func (e *earlier) reuse(ses *session, elsewhere bool) error {
	m := e.saved.Manifest
	switch {
	case m.Embedded && !elsewhere:
		return fmt.Errorf("--same-keys: the server of %s was inside hammer and is gone, and a new one knows no keys", e.folder)
	case m.Nonce == "":
		return fmt.Errorf("--same-keys: %s invented no keys that are full at first, so there are none to use again", e.folder)
	}
	ses.nonce = m.Nonce
	var fill time.Duration
	for _, l := range ses.scenario.Limits {
		fill = max(fill, l.Fill())
	}
	over := m.Started.Add(time.Duration(m.Run.LastedNS))
	if since := time.Since(over); since < fill || !m.Ended {
		ses.used = true
		ses.notes = append(ses.notes, fmt.Sprintf("the keys were used %v ago and are full after %v: how much is left on them at the start is not known, and nothing is concluded from it", since.Round(time.Millisecond), fill.Round(time.Millisecond)))
	}
	return nil
}

// lines fires a record in JSON Lines.
func (o *replayFlags) lines(ctx context.Context, c *console, args []string) error {
	s, _, hits, err := loadLines(args[0])
	if err != nil {
		return err
	}
	s.Name, s.Target, s.Seed = args[0], "", 1
	t := tape{most: o.aiming.maxRequests, phases: []scenarios.Phase{{Name: "recorded"}}}
	t.block(results.Block{Hits: hits})
	if s.Phases, err = t.written(); err != nil {
		return err
	}
	return o.fire(ctx, &session{console: c, saving: o.saving, scenario: s, nonce: newNonce(), acting: o.acting}, args)
}
