package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/results/store/lines"
	"github.com/ratehammer/ratehammer/results/store/traffic"
	"github.com/ratehammer/ratehammer/scenarios"
)

// exportFlags are the flags of hammer export.
type exportFlags struct{ format, out string }

var exportFormats = []string{"csv", "jsonl", "parquet", "jtl", "hlog"}

func newExport(c *console) *cobra.Command {
	o := &exportFlags{}
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run's timeline for other tools",
		Long: `Writes the timeline of a saved run:

  csv      a request a line, with the columns of docs/records.md
  jsonl    JSON Lines with the promise in front, for records that people edit
  parquet  everything in one file, with the promise and the marks
  jtl      JMeter's results in CSV; milliseconds, so it cannot be judged again
  hlog     the HdrHistogram log of the latencies

hammer judge reads csv, jsonl and parquet again.

` + exitCodes,
		Example: "  hammer export hammer-runs/20260102-150405-1a2b3c4d --format csv > run.csv\n  hammer export hammer-run --format parquet --output run.parquet",
		Args:    exactlyOne("give the folder of a run; hammer runs lists them"),
		RunE:    func(_ *cobra.Command, args []string) error { return o.run(c, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", "csv", strings.Join(exportFormats, ", "))
	f.StringVarP(&o.out, "output", "o", "", "file to write; it must not be there yet (default standard output)")
	return cmd
}

func (o *exportFlags) run(c *console, name string) error {
	switch {
	case !slices.Contains(exportFormats, o.format):
		return fmt.Errorf("--format %q: write one of %s", o.format, strings.Join(exportFormats, ", "))
	case o.format == "parquet" && o.out == "":
		return errors.New("--format parquet needs --output FILE: it is not for a terminal")
	}
	saved, err := store.Open(name)
	if err != nil {
		return err
	}
	if o.format == "parquet" {
		return saved.WriteFile(o.out)
	}
	out, done, err := o.open(c)
	if err != nil {
		return err
	}
	e := &exporter{saved: saved}
	err = e.write(out, o.format)
	if err == nil {
		err = e.err
	}
	if err = done(err); err != nil {
		return err
	}
	if e.marks > 0 {
		c.sayf("%d marks, of stalls, missed shots and jumps of a clock, have no place in %s: judge the folder where they matter", e.marks, o.format)
	}
	return nil
}

// open gives where the export goes, and what ends it: a file that was not
// written whole is removed.
func (o *exportFlags) open(c *console) (io.Writer, func(error) error, error) {
	if o.out == "" {
		buf := bufio.NewWriter(c.out)
		return buf, func(err error) error { return errors.Join(err, buf.Flush()) }, nil
	}
	f, err := os.OpenFile(o.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, nil, &probes.Hinted{Err: fmt.Errorf("--output: %w", err), Hint: "give the name of a file that is not there yet, in a folder that is"}
	}
	buf := bufio.NewWriter(f)
	return buf, func(err error) error {
		err = errors.Join(err, buf.Flush(), f.Close())
		if err != nil {
			os.Remove(o.out)
		}
		return err
	}, nil
}

// exporter goes through a record once.
type exporter struct {
	saved *store.Run
	marks int // that tell of more than a phase
	err   error
}

func (e *exporter) write(w io.Writer, format string) error {
	m := e.saved.Manifest
	s, err := scenarios.Parse("manifest.json, scenario", []byte(m.Scenario), assertions.IDs())
	if err != nil {
		return err
	}
	switch format {
	case "csv":
		return traffic.WriteCSV(w, s.Asked(), time.Duration(m.TickNS), e.hits())
	case "jtl":
		return traffic.WriteJTL(w, m.Started, m.URL, m.Phases, e.hits())
	case "hlog":
		b, err := e.saved.Latency()
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	}
	head := headerOf(s, m.Nonce != "")
	head.Tick = m.TickNS
	return lines.Write(w, head, slices.Collect(e.hits()))
}

// hits are those of the record; a hole in it ends them, and is e.err.
func (e *exporter) hits() iter.Seq[results.Hit] {
	return func(yield func(results.Hit) bool) {
		for b, err := range e.saved.Blocks() {
			if err != nil {
				e.err = &probes.Hinted{Err: fmt.Errorf("the record has a hole: %w", err), Hint: "hammer judge judges what is left of it"}
				return
			}
			for _, m := range b.Marks {
				if m.Kind != results.MarkPhase {
					e.marks++
				}
			}
			for _, h := range b.Hits {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// headerOf is the promise of a run as the header of JSON Lines. Fresh keys are full at
// first.
func headerOf(s *scenarios.Scenario, fresh bool) (head lines.Header) {
	if n := s.Asked(); n < len(s.Phases) {
		head.Asked = n
	}
	for _, l := range s.Limits {
		head.Limits = append(head.Limits, lineOf(l))
	}
	if head.Start = "unknown"; fresh {
		head.Start = "full"
	}
	if len(head.Limits) == 1 {
		head.Limit, head.Limits = head.Limits[0], nil
	}
	return head
}

func lineOf(l scenarios.Limit) lines.Limit {
	out := lines.Limit{Name: l.Name, Contract: string(l.Contract), Burst: l.Burst, Align: string(l.Align), Key: l.Key.String(),
		Quantum: l.Slack.Quantum.String(), Over: l.Slack.Over, Under: l.Slack.Under}
	if l.Rate.Count > 0 {
		out.Rate = l.Rate.String()
	}
	return out
}
