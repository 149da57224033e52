package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// reportFlags are the flags of hammer report.
type reportFlags struct {
	format string
	out    string
	quiet  bool
}

func newReport(c *console) *cobra.Command {
	o := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Show a saved run again, as text, HTML, or what a CI system reads",
		Long: `Renders the verdict on a saved run again, with its evidence from the record.
Nothing is sent, nothing in the folder is changed, and nothing is judged anew
unless the run has no verdict yet; hammer judge judges again.

Ends with 0 when the report was written, whatever the verdict, and with 3 when it
could not be.`,
		Example: "  hammer report hammer-runs/20260102-150405-1a2b3c4d --format html -o report.html\n  hammer report hammer-runs/20260102-150405-1a2b3c4d --format junit -o hammer.xml",
		Args:    exactlyOne("give the folder of a run; hammer runs lists them"),
		RunE:    func(_ *cobra.Command, args []string) error { return o.run(c, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", formatText, strings.Join(formats(), ", "))
	f.StringVarP(&o.out, "output", "o", "", "file that it is written to (default standard output)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "as text, show only what is broken")
	return cmd
}

func (o *reportFlags) run(c *console, name string) error {
	if c.json && o.format == formatText {
		o.format = formatJSON
	}
	switch {
	case !slices.Contains(formats(), o.format):
		return fmt.Errorf("--format %q is no format: give one of %s", o.format, strings.Join(formats(), ", "))
	case c.json && o.format != formatJSON:
		return fmt.Errorf("--json and --format %s contradict each other: leave out one of the two", o.format)
	case o.format == formatHTML && o.out == "" && isTerminal(c.out):
		return &probes.Hinted{Err: errors.New("a page of HTML is not for a terminal"), Hint: "give a file with -o report.html, and open that in a browser"}
	case o.out != "" && o.out != toStdout:
		if err := writable(o.out); err != nil {
			return err
		}
	}
	s, err := load(c, name)
	if err != nil {
		return err
	}
	if o.out != "" && o.out != toStdout {
		return s.saveOne(c, wanted{o.format, o.out})
	}
	return s.render(c.out, o.format, c.style(o.quiet))
}

// load is a saved run as it was concluded, or as it is now where it was not.
func load(c *console, name string) (shown, error) {
	if info, err := os.Stat(name); err != nil {
		return shown{}, &probes.Hinted{Err: err, Hint: "give the folder of a run; hammer check prints it behind 'record:'"}
	} else if !info.IsDir() {
		return (&judgeFlags{asFired: true}).file(name)
	}
	text, err := store.ReadVerdict(name)
	if errors.Is(err, fs.ErrNotExist) {
		c.sayf("the run has no verdict yet: it is judged now")
		return (&judgeFlags{asFired: true}).folder(name)
	}
	if err != nil {
		return shown{}, err
	}
	return loadVerdict(name, text)
}

// loadVerdict puts what the record holds beside a verdict that was saved.
func loadVerdict(name string, text []byte) (s shown, err error) {
	r := &report.Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return s, &probes.Hinted{Err: fmt.Errorf("%s/verdict.json: %w", name, err), Hint: "the record can be judged again: hammer judge " + quoted(name)}
	}
	if r.Version > report.SchemaVersion {
		return s, fmt.Errorf("%s/verdict.json is of version %d and this hammer reads up to %d: use the hammer that wrote it or a newer one", name, r.Version, report.SchemaVersion)
	}
	saved, err := store.Open(name)
	if err != nil {
		return s, err
	}
	scenario, err := scenarios.Parse(name+"/manifest.json, scenario", []byte(saved.Manifest.Scenario), assertions.IDs())
	if err != nil {
		return s, err
	}
	l, record := newLook(scenario), blocks(saved.Blocks())
	evidence := assertions.NewEvidence(results.Verdict{Findings: r.Findings}, scenario.Limits)
	holes := record.all(func(b results.Block) { l.block(b); evidence.Block(b) })
	r.Strip, r.Evidence = l.strip, evidence.Hits()
	r.Notes = append(r.Notes, missingFrom(r.Notes, holes)...)
	recheck(r, name)
	return shown{report: r, look: l, record: record}, nil
}

// missingFrom are the texts that are not among those there.
func missingFrom(there, texts []string) (missing []string) {
	for _, t := range texts {
		if !slices.Contains(there, t) {
			missing = append(missing, t)
		}
	}
	return missing
}
