package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
)

// runsFlags are the flags of hammer runs.
type runsFlags struct {
	verdict string
	target  string
	newer   string
	older   string

	prune  bool
	dryRun bool
	age    string
	number int
	size   string
}

func newRuns(c *console) *cobra.Command {
	o := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "List the saved runs of a folder, and remove old ones",
		Long: `Lists the runs in DIR (default ` + runsFolder + `), the newest first: when each was fired, what
came out, how much it sent, how large its folder is, and its first line.

With --prune runs are removed, of those that the filters leave: the ones that are
older than --keep-age, that are not among the newest --keep, or that the newest
ones leave no room for within --keep-size. --dry-run only says which. What is no
folder of a run is never touched, nor are files in one that hammer did not write. A
run that has not ended is left alone until nothing was written to it for an hour.

Exit codes:
  0    listed, or removed
  3    could not run: the flags or the folder are in the way`,
		Example: `  hammer runs
  hammer runs --verdict broken --newer 24h
  hammer runs --prune --keep 20 --keep-age 30d --dry-run`,
		Args: atMostOne("DIR"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(c, args, time.Now()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.verdict, "verdict", "", "only runs with this one: kept, broken, inconclusive or none")
	f.StringVar(&o.target, "target", "", "only runs at a target that has this in its URL or server")
	f.StringVar(&o.newer, "newer", "", "only runs that are younger than this, such as 24h or 7d")
	f.StringVar(&o.older, "older", "", "only runs that are older than this")
	f.BoolVar(&o.prune, "prune", false, "remove runs, by one or several of the following")
	f.StringVar(&o.age, "keep-age", "", "with --prune: remove what is older than this")
	f.IntVar(&o.number, "keep", -1, "with --prune: remove all but so many, the newest")
	f.StringVar(&o.size, "keep-size", "", "with --prune: keep the newest that fit into this, such as 500MB")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --prune: only say what would be removed")
	return cmd
}

// listed is what hammer runs says.
type listed struct {
	Version int      `json:"version"`
	Folder  string   `json:"folder"`
	Runs    []saved  `json:"runs"`
	Pruned  []saved  `json:"pruned,omitempty"`  // that were removed, or would be
	DryRun  bool     `json:"dry_run,omitempty"` // nothing was
	Damaged []string `json:"damaged,omitempty"` // what is wrong with folders that cannot be read
}

func (o *runsFlags) run(c *console, args []string, now time.Time) error {
	dir := runsFolder
	if len(args) == 1 {
		dir = args[0]
	}
	filter, rule, err := o.rules()
	if err != nil {
		return err
	}
	all, damaged, err := savedRuns(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &probes.Hinted{Err: err, Hint: "runs go to " + runsFolder + " in the working folder unless --out says otherwise: give the folder that they are in"}
	}
	if err != nil {
		return err
	}
	for _, text := range damaged {
		c.sayf("left out, and not removed: %s", text)
	}
	out := listed{Version: report.SchemaVersion, Folder: dir, DryRun: o.dryRun, Runs: []saved{}, Damaged: damaged}
	for _, r := range all {
		if filter.takes(r, now) {
			out.Runs = append(out.Runs, r)
		}
	}
	if o.prune {
		out.Runs, out.Pruned = rule.divide(out.Runs, now)
		for _, r := range out.Pruned {
			if o.dryRun {
				continue
			}
			if err := store.Remove(r.Folder); errors.Is(err, store.ErrLeft) {
				c.sayf("%v", err)
			} else if err != nil {
				return err
			}
		}
	}
	return out.print(c, o.prune)
}

// rules are which runs are meant, and which of them go.
func (o *runsFlags) rules() (f filter, p pruning, err error) {
	var errs []error
	age := func(flag, text string) time.Duration {
		if text == "" {
			return 0
		}
		d, err := parseAge(text)
		if err != nil || d <= 0 {
			errs = append(errs, fmt.Errorf("--%s %q is no age: write one such as 12h or 30d", flag, text))
		}
		return d
	}
	f = filter{verdict: o.verdict, target: o.target, newer: age("newer", o.newer), older: age("older", o.older)}
	switch o.verdict {
	case "", "kept", "broken", "inconclusive", noVerdict:
	default:
		errs = append(errs, fmt.Errorf("--verdict %q: write kept, broken, inconclusive or %s", o.verdict, noVerdict))
	}
	p = pruning{age: age("keep-age", o.age), number: o.number, size: -1}
	if o.size != "" {
		if p.size, err = parseSize(o.size); err != nil {
			errs = append(errs, fmt.Errorf("--keep-size: %w", err))
		}
	}
	any := o.age != "" || o.number >= 0 || o.size != ""
	switch {
	case o.number < -1:
		errs = append(errs, fmt.Errorf("--keep %d: give 0 or more", o.number))
	case o.prune && !any:
		errs = append(errs, errors.New("--prune does not say what may go: add --keep-age 30d, --keep 20 or --keep-size 500MB"))
	case !o.prune && (any || o.dryRun):
		errs = append(errs, errors.New("--keep-age, --keep, --keep-size and --dry-run say what --prune removes: add --prune"))
	}
	return f, p, errors.Join(errs...)
}

// parseAge reads a time, also one in days.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n > 100_000 {
			return 0, fmt.Errorf("%q is no number of days", days)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	return time.ParseDuration(s)
}

// units are those of sizes, which are decimal, as those of disks are.
var units = []struct {
	name  string
	bytes int64
}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

func parseSize(s string) (int64, error) {
	for _, u := range units {
		text, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || n < 0 || n > 1e18/u.bytes {
			break
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf("%q is no size: write a whole number with its unit, such as 500MB or 2GB", s)
}

func sizeText(n int64) string {
	for _, u := range units {
		if n >= u.bytes && n >= 1000 {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

func (l *listed) print(c *console, prune bool) error {
	if c.json {
		return report.JSON(c.out, l)
	}
	var w strings.Builder
	word := "removed"
	if l.DryRun {
		word = "would be removed"
	}
	var size, gone int64
	for _, r := range l.Runs {
		size += r.Bytes
	}
	for _, r := range l.Pruned {
		gone += r.Bytes
	}
	fmt.Fprintf(&w, "%d runs in %s, %s", len(l.Runs), l.Folder, sizeText(size))
	if prune {
		fmt.Fprintf(&w, "; %d %s, %s", len(l.Pruned), word, sizeText(gone))
	}
	w.WriteByte('\n')
	for _, r := range l.Runs {
		w.WriteString(r.text())
	}
	for _, r := range l.Pruned {
		fmt.Fprintf(&w, "  %s: %s, %s, %s\n", word, r.Folder, r.Started.Local().Format(time.DateTime), sizeText(r.Bytes))
	}
	_, err := io.WriteString(c.out, w.String())
	return err
}
