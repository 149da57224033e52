package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/reduction"
)

// shrinkFlags are the flags of hammer shrink.
type shrinkFlags struct {
	aiming aiming
	acting acting
	check  string
	out    string
	budget time.Duration
}

const shrinkCodes = `Exit codes:
  0    a scenario that breaks the promise again was written
  2    nothing that was tried broke it again
  3    could not run: the flags, the run, the target or the disk are in the way
  130  interrupted: what was found until then was written`

func newShrink(c *console) *cobra.Command {
	o := &shrinkFlags{}
	cmd := &cobra.Command{
		Use:   "shrink RUN [URL]",
		Short: "Find a small scenario that breaks the promise as a saved run did",
		Long: `Looks for a small scenario that breaks the same promise as a saved run, by firing
smaller and smaller ones at its target, or at URL, on fresh keys: first the
requests of its proof alone, then its phases, then single requests, numbers and
silences. What is left is written as a YAML file to attach to a bug report.

What was done to the server is done again, by the means that are given now, and as
much of it is left out as can be.

What a run fires is bounded by --for and --max-requests; the best that was found
until then is what is written.

` + shrinkCodes,
		Example: "  hammer shrink hammer-runs/20260102-150405-1a2b3c4d\n  hammer shrink hammer-runs/20260102-150405-1a2b3c4d --check bound.lower --out lower.yaml",
		Args:    o.acting.args(cobra.RangeArgs(1, 2)),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), c, beforeDash(cmd, args)) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.out, "out", "shrunk.yaml", "file that is written")
	f.StringVar(&o.check, "check", "", "id of the broken check to break again (default the one of the run's first line)")
	f.DurationVar(&o.budget, "for", 5*time.Minute, "how long the search may take at most")
	o.aiming.addAgainFlags(f)
	o.acting.addFlags(f)
	f.Lookup("max-requests").Usage = "how many requests the search may send in all"
	return cmd
}

// shrunkMark is how files begin that may be written over: ours.
const shrunkMark = "# Shrunk by hammer"

func (o *shrinkFlags) run(ctx context.Context, c *console, args []string) error {
	e, err := openEarlier(args[0])
	if err != nil {
		return err
	}
	f, err := e.charged(o.check)
	if err != nil {
		return err
	}
	if err := o.writable(); err != nil {
		return err
	}
	suspects, err := e.suspects(f)
	if err != nil {
		return err
	}
	r, err := o.setUp(ctx, e, args)
	if err != nil {
		return err
	}
	k := &shrinker{charge: charge{f.Check, f.Limit}, keys: r.keys(), fire: r.fire, now: time.Now, say: c.sayf,
		until: time.Now().Add(o.budget), most: o.aiming.maxRequests}
	for _, s := range suspects {
		if err := r.prepare(s); err != nil {
			return err
		}
	}
	before, _ := reduction.SizeOf(suspects[len(suspects)-1], k.keys)
	c.sayf("%s is broken in %s, which sent %d requests; up to %d requests within %v to find fewer that break it, at %s",
		f.Check, e.folder, e.saved.Manifest.Run.Sent, o.aiming.maxRequests, o.budget, r.said())
	begun := time.Now()
	found, broke, tries := k.shrink(ctx, suspects)
	switch {
	case k.err != nil:
		return k.err
	case found == nil && ctx.Err() != nil:
		return concluded{exitInterrupted}
	case found == nil:
		fmt.Fprintf(c.out, "NOT FOUND  %s was not broken again by any of the %d scenarios that could be fired, with %d requests in %v\n", f.Check, k.candidates, k.sent, time.Since(begun).Round(time.Second))
		return conclude(exitInconclusive)
	}
	a := shrunk{Version: report.SchemaVersion, Check: f.Check, Limit: f.Limit, Of: e.folder, File: o.out, Candidates: k.candidates,
		Fired: k.sent, TookNS: int64(time.Since(begun)), Broke: broke, Tries: tries}
	a.Before = Extent{int(e.saved.Manifest.Run.Sent), int64(before.Length)}
	after, _ := reduction.SizeOf(found, k.keys)
	a.After = Extent{after.Requests, int64(after.Length)}
	if err := a.recheck(ctx, r, found); err != nil {
		return err
	}
	if err := os.WriteFile(o.out, a.file(found), 0o644); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := a.print(c); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return concluded{exitInterrupted}
	}
	return nil
}

// writable refuses a file that is there and is none of ours, and says what would
// keep the file and the record of its last run from being written.
func (o *shrinkFlags) writable() error {
	if o.budget <= 0 {
		return fmt.Errorf("--for %v: give a time above zero", o.budget)
	}
	old, err := os.ReadFile(o.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = takesFiles(filepath.Dir(o.out))
	case err == nil && !bytes.HasPrefix(old, []byte(shrunkMark)):
		return &probes.Hinted{Err: fmt.Errorf("%s is there already, and not from hammer shrink", o.out), Hint: "give another file with --out"}
	case err == nil:
		err = takesText(o.out)
	}
	if err != nil {
		return &probes.Hinted{Err: fmt.Errorf("--out: %w", err), Hint: "name a file in a folder that is there and can be written to"}
	}
	if err = ignoreRuns(); err == nil {
		err = takesFiles(runsFolder)
	}
	if err != nil {
		return &probes.Hinted{Err: fmt.Errorf("the runs folder: %w", err), Hint: "the last run is recorded in " + runsFolder + " in the working folder: go to one that can be written to"}
	}
	return nil
}

// takesFiles is an error where no file can be made in a folder. It makes one, which
// is more than permissions tell, and removes it.
func takesFiles(dir string) error {
	f, err := os.CreateTemp(dir, ".hammer-*.tmp")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// takesText is an error where a file that is there cannot be written over. It stays
// as it is.
func takesText(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// Extent is how much a scenario fires, for how long.
type Extent struct {
	Requests int   `json:"requests"`
	LengthNS int64 `json:"length_ns"`
}

// shrunk is what hammer shrink says.
type shrunk struct {
	Version    int    `json:"version"`
	Check      string `json:"check"`
	Limit      string `json:"limit,omitempty"`
	Of         string `json:"of"`         // folder of the run
	File       string `json:"file"`       // that was written
	Before     Extent `json:"before"`     // what the run sent
	After      Extent `json:"after"`      // the most that the file sends
	Broke      int    `json:"broke"`      // of Tries: how often what is in the file broke the promise
	Tries      int    `json:"tries"`      //
	Candidates int    `json:"candidates"` // scenarios that were tried
	Fired      int    `json:"fired"`      // requests that the search sent
	TookNS     int64  `json:"took_ns"`    //
	Headline   string `json:"headline"`   // of the run that checks it again; empty: it did not break then
	Proof      string `json:"proof,omitempty"`
	Folder     string `json:"folder,omitempty"` // of that run
	Recheck    string `json:"recheck"`          // command that fires the file again
	target     string // URL; empty: the reference server inside hammer
}

// recheck fires what was found once more, as hammer run does, and keeps the record.
func (a *shrunk) recheck(ctx context.Context, r *firingRange, s *scenarios.Scenario) error {
	a.Recheck = "hammer run " + quoted(a.File)
	if r.url != "" {
		a.target = r.url
	}
	if ctx.Err() != nil {
		return nil
	}
	for range finalTries {
		v, folder, err := r.record(ctx, s)
		if err != nil {
			return err
		}
		if f, ok := (charge{a.Check, a.Limit}).in(v.Findings); ok {
			a.Headline, a.Proof, a.Folder = f.Text, f.Proof, folder
			if r.url == "" {
				a.Recheck = "hammer replay " + quoted(folder)
			}
			return nil
		}
	}
	return nil
}

// file is the scenario with what it shows and how to fire it on top.
func (a *shrunk) file(s *scenarios.Scenario) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: it breaks %s, with %d requests in %v.\n", shrunkMark, a.Check, a.After.Requests, time.Duration(a.After.LengthNS).Round(time.Millisecond))
	if a.Headline != "" {
		fmt.Fprintf(&b, "# Seen: %s.\n", a.Headline)
	}
	fmt.Fprintf(&b, "# It breaks it %s; the run that it was made from sent %d requests.\n", a.reliably(), a.Before.Requests)
	name := a.File[strings.LastIndexAny(a.File, `/\`)+1:]
	if a.target == "" {
		fmt.Fprintf(&b, "# Fire it at the server, exit code 1 says that the promise is broken:\n")
		fmt.Fprintf(&b, "#   Linux, macOS:  hammer run %s http://127.0.0.1:8080/\n#   Windows:       hammer.exe run %s http://127.0.0.1:8080/\n", quoted(name), windowsQuoted(name))
		s = emptied(s)
	} else {
		fmt.Fprintf(&b, "# Fire it again, exit code 1 says that the promise is broken:\n")
		fmt.Fprintf(&b, "#   Linux, macOS:  hammer run %s\n#   Windows:       hammer.exe run %s\n", quoted(name), windowsQuoted(name))
	}
	b.Write(s.YAML())
	return b.Bytes()
}

// reliably is how often it breaks the promise, in words.
func (a *shrunk) reliably() string {
	if a.Tries == 0 {
		return "as often as it had to in the search, and there was no time to try it again (--for, --max-requests)"
	}
	return fmt.Sprintf("in %d of %d tries", a.Broke, a.Tries)
}

// emptied names no target: the server that was fired at is gone.
func emptied(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Target = ""
	return &c
}

func windowsQuoted(path string) string {
	if strings.ContainsAny(path, " &()^;,") {
		return `"` + path + `"`
	}
	return path
}

func (a *shrunk) print(c *console) error {
	if c.json {
		return report.JSON(c.out, a)
	}
	length := func(e Extent) time.Duration { return time.Duration(e.LengthNS).Round(time.Millisecond) }
	var w strings.Builder
	fmt.Fprintf(&w, "SHRUNK  %d requests in %v break %s, where the run sent %d\n\n", a.After.Requests, length(a.After), a.Check, a.Before.Requests)
	fmt.Fprintf(&w, "  file       %s\n", a.File)
	fmt.Fprintf(&w, "  breaks     %s\n", a.reliably())
	if a.Headline != "" {
		fmt.Fprintf(&w, "  seen       %s\n", a.Headline)
	}
	if a.Proof != "" {
		fmt.Fprintf(&w, "  proof      %s\n", a.Proof)
	}
	fmt.Fprintf(&w, "  search     %d scenarios, %d requests in %v\n", a.Candidates, a.Fired, time.Duration(a.TookNS).Round(time.Second))
	fmt.Fprintf(&w, "  fire it again: %s\n", a.Recheck)
	if a.Folder != "" {
		fmt.Fprintf(&w, "  judge it again: hammer judge %s\n", quoted(a.Folder))
	}
	_, err := io.WriteString(c.out, w.String())
	return err
}
