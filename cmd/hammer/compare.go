package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/scenarios"
)

// The exit codes of hammer compare, beside 0 and 3.
const (
	exitVerdicts = 10
	exitCounts   = 11
	exitSlower   = 12
	exitApart    = 13
)

const compareCodes = `Exit codes, of several the first that applies:
  13   not comparable: another scenario or seed, or a record that is not whole
  10   other checks are broken
  11   other numbers of requests were admitted or refused
  12   answers came later
  0    none of these
  3    could not run: the flags, a folder, a target or the disk are in the way
  130  interrupted: what was recorded until then was saved`

// compareFlags are the flags of hammer compare.
type compareFlags struct {
	within  int64
	latency string
	abreast abreast
}

func newCompare(c *console) *cobra.Command {
	o := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare BASE CANDIDATE",
		Short: "Compare two runs of the same scenario, or two URLs side by side",
		Long: `Compares two saved runs of the same scenario and seed, or fires one plan at two URLs
side by side and compares what comes back: which checks are broken, how many
requests were admitted and refused in each phase on each key, and how long answers
took.

Two URLs are sent the same requests at the same moments, but for a millisecond by
which one is behind: at every other moment it is the other one. So a machine that is
busy for a while is so for both. Each has fresh keys of its own, and its record is
saved like that of any run.

Counts are compared as they are. One request more or less on a key may come from
the moment of one decision (--counts-within), and so many more as come back in the
time by which requests were late or long under way; more than that is a difference,
and so is one direction on many keys (exact sign test, 1 %). Phases whose requests
on a key were under way at the same time are counted together. Of phases in which
answers direct what is sent, and of what follows on their keys, counts are shown and
not judged.

Two runs of hammer check have two plans, since each is fitted to the round trip that
it measured: for the second run use hammer replay BASE, or give two URLs here.

Latencies are compared by their quantiles over batches of the same planned
requests, with intervals that need no distribution and hold together at 99 %. What
the machine or the network did otherwise in one of two saved runs is in them as
well: give two URLs, or fire both on one idle machine, one right after the other.

` + compareCodes,
		Example: `  hammer compare hammer-runs/20260102-150405-1a2b3c4d hammer-runs/20260102-160102-5e6f7a8b
  hammer compare http://127.0.0.1:8080/ http://127.0.0.1:8081/ --burst 10 --rate 5/s
  hammer compare http://127.0.0.1:8080/ http://127.0.0.1:8081/ --scenario login.yaml`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), c, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Int64Var(&o.within, "counts-within", 1, "difference on one key in one phase that is none, in requests")
	f.StringVar(&o.latency, "latency-within", "5%", "share of a quantile by which it may move and is said not to have")
	o.abreast.addFlags(f)
	return cmd
}

// comparison is what hammer compare says.
type comparison struct {
	Version     int            `json:"version"`
	ExitCode    int            `json:"exit_code"`
	Headline    string         `json:"headline"`
	Base        side           `json:"base"`
	Candidate   side           `json:"candidate"`
	Abreast     bool           `json:"side_by_side"`             // fired at both in turns, on one clock
	Apart       string         `json:"not_comparable,omitempty"` // why; absent: they can be compared
	Broken      *report.Replay `json:"broken,omitempty"`
	Differences []Difference   `json:"differences,omitempty"`
	Shifts      []Shift        `json:"latency,omitempty"`
}

// side is one of two runs.
type side struct {
	Folder   string `json:"folder"`
	Tool     string `json:"tool"` // version of hammer
	Target   string `json:"target"`
	Server   string `json:"server,omitempty"`
	Headline string `json:"headline"`
	Admitted int64  `json:"admitted"`
	Limited  int64  `json:"limited"`
	Other    int64  `json:"other"`
	Unknown  int64  `json:"unknown"`
}

func sideOf(e *earlier, c counted) side {
	m := e.saved.Manifest
	s := side{Folder: e.folder, Tool: m.Tool, Target: m.URL, Server: m.Server, Headline: e.headline}
	for _, o := range c.cells {
		s.Unknown, s.Admitted, s.Limited, s.Other = s.Unknown+o[0], s.Admitted+o[1], s.Limited+o[2], s.Other+o[3]
	}
	return s
}

func (o *compareFlags) run(ctx context.Context, c *console, args []string) error {
	share, err := scenarios.ParsePercent(o.latency)
	if err != nil {
		return fmt.Errorf("--latency-within: %w", err)
	}
	if o.within < 0 {
		return fmt.Errorf("--counts-within %d: give 0 or more", o.within)
	}
	both := isURL(args[0])
	switch {
	case both != isURL(args[1]):
		return &probes.Hinted{Err: fmt.Errorf("%s and %s are a URL and a saved run", args[0], args[1]), Hint: "give two of a kind; hammer replay RUN URL fires the plan of a saved run at a URL"}
	case !both:
		err = o.abreast.idle()
	default:
		args, err = o.abreast.fire(ctx, c, args)
	}
	if err != nil {
		return err
	}
	a, err := openEarlier(args[0])
	if err != nil {
		return err
	}
	b, err := openEarlier(args[1])
	if err != nil {
		return err
	}
	r := compareRuns(a, b, o.within, share)
	r.Abreast = both
	if ctx.Err() != nil {
		r.ExitCode = exitInterrupted
	}
	if err := r.print(c); err != nil {
		return err
	}
	return conclude(r.ExitCode)
}

func compareRuns(a, b *earlier, within, share int64) comparison {
	base, holesA := count(a, sentOf(b))
	candidate, holesB := count(b, sentOf(a))
	r := comparison{Version: report.SchemaVersion, Base: sideOf(a, base), Candidate: sideOf(b, candidate)}
	if r.Apart = apart(a, b); r.Apart == "" && len(holesA)+len(holesB) > 0 {
		r.Apart = append(holesA, holesB...)[0]
	}
	if r.Apart != "" {
		r.ExitCode, r.Headline = exitApart, r.Apart
		return r
	}
	v, _ := b.verdict()
	r.Broken = a.held(&v)
	found, slips := differences(base, candidate, a.asked())
	r.Differences = found
	r.Shifts = shifts(base, candidate, share)
	differ, why := countVerdict(r.Differences, slips, within)
	slower := ""
	for _, s := range r.Shifts {
		if s.Change == "slower" && slower == "" {
			slower = fmt.Sprintf("%s answers are slower: their %s quantile moved from %v to %v", s.Outcome, named3(s.Quantile), time.Duration(s.BaseNS), time.Duration(s.CandidateNS))
		}
	}
	switch {
	case !r.Broken.Reproduced:
		r.ExitCode, r.Headline = exitVerdicts, "other checks are broken: "+changes(r.Broken)
	case differ:
		r.ExitCode, r.Headline = exitCounts, "other numbers were admitted or refused: "+why
	case slower != "":
		r.ExitCode, r.Headline = exitSlower, slower
	default:
		r.Headline = "no difference beyond what one decision's moment and chance explain"
	}
	return r
}

func changes(r *report.Replay) string {
	var said []string
	if len(r.New) > 0 {
		said = append(said, "newly broken "+strings.Join(r.New, ", "))
	}
	if len(r.Missing) > 0 {
		said = append(said, "no longer broken "+strings.Join(r.Missing, ", "))
	}
	return strings.Join(said, "; ")
}

// apart says why two runs cannot be compared; empty: they can.
func apart(a, b *earlier) string {
	plain := func(e *earlier) []byte {
		s := e.asked()
		s.Target, s.Name = "", ""
		return s.YAML()
	}
	x, y := plain(a), plain(b)
	switch {
	case a.scenario.Seed != b.scenario.Seed:
		return fmt.Sprintf("another seed was planned with: %d and %d", a.scenario.Seed, b.scenario.Seed)
	case !bytes.Equal(x, y):
		return "another scenario was fired: " + firstDifference(x, y) +
			"; a check plans anew for each measured round trip, so fire the saved plan again and compare with that: hammer replay " + quoted(a.folder) +
			" (or give the two URLs: hammer compare URL URL)"
	}
	for _, e := range []*earlier{a, b} {
		if m := e.saved.Manifest; !m.Ended || m.Run.Stopped != "" {
			return e.folder + " was not fired to its end"
		}
	}
	return ""
}

// firstDifference is the first line in which two texts differ.
func firstDifference(x, y []byte) string {
	a, b := strings.Split(string(x), "\n"), strings.Split(string(y), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q and %q", strings.TrimSpace(a[i]), strings.TrimSpace(b[i]))
		}
	}
	return "one has more phases"
}

// named3 is a quantile as people write it.
func named3(q float64) string { return "p" + strconv.FormatFloat(q*100, 'f', -1, 64) }

// mostDifferences are printed; JSON has all.
const mostDifferences = 30

func (r *comparison) print(c *console) error {
	if c.json {
		return report.JSON(c.out, r)
	}
	var w strings.Builder
	word := map[int]string{0: "SAME", exitVerdicts: "OTHER VERDICT", exitCounts: "OTHER COUNTS", exitSlower: "SLOWER", exitInterrupted: "INTERRUPTED", exitApart: "NOT COMPARABLE"}[r.ExitCode]
	fmt.Fprintf(&w, "%s  %s\n\n", word, r.Headline)
	for _, s := range []struct {
		name string
		side side
	}{{"base", r.Base}, {"candidate", r.Candidate}} {
		fmt.Fprintf(&w, "  %-10s %s: %s\n", s.name, s.side.Folder, s.side.Headline)
		fmt.Fprintf(&w, "             %s, hammer %s; %d admitted, %d limited, %d other, %d unknown\n", s.side.Target, s.side.Tool, s.side.Admitted, s.side.Limited, s.side.Other, s.side.Unknown)
	}
	if r.Apart == "" {
		r.table(&w)
	}
	if r.Base.Tool != r.Candidate.Tool {
		fmt.Fprintf(&w, "note: the runs are of two versions of hammer, which may fire and judge otherwise\n")
	}
	_, err := io.WriteString(c.out, w.String())
	return err
}

func (r *comparison) table(w *strings.Builder) {
	if len(r.Differences) > 0 {
		fmt.Fprintf(w, "\n  %-16s %-18s %-9s %9s %9s %9s\n", "phase", "key", "outcome", "base", "candidate", "change")
	}
	for i, d := range r.Differences {
		if i == mostDifferences {
			fmt.Fprintf(w, "  ... %d more (--json has all)\n", len(r.Differences)-i)
			break
		}
		remark := ""
		if d.Adaptive {
			remark = "  as answers direct"
		}
		if strings.Contains(d.Phase, " + ") {
			remark = "  together: their requests overlapped" + strings.Replace(remark, "  ", "; ", 1)
		}
		if d.Missed {
			remark = "  one run missed a request on this key"
		}
		fmt.Fprintf(w, "  %-16s %-18s %-9s %9d %9d %+9d%s\n", d.Phase, d.Key, d.Outcome, d.Base, d.Candidate, d.by(), remark)
	}
	fmt.Fprintf(w, "\n  %-9s %-9s %12s %12s   %s\n", "answers", "quantile", "base", "candidate", "difference, 99 % for all together")
	for _, s := range r.Shifts {
		said := "too few answers to tell"
		if s.Batches > 0 {
			said = fmt.Sprintf("%v to %v over %d batches: %s", inMicros(s.LowNS), inMicros(s.HighNS), s.Batches, s.Change)
		}
		fmt.Fprintf(w, "  %-9s %-9s %12v %12v   %s\n", s.Outcome, named3(s.Quantile), inMicros(s.BaseNS), inMicros(s.CandidateNS), said)
	}
}

func inMicros(ns int64) time.Duration { return time.Duration(ns).Round(time.Microsecond) }
