package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results/report"
)

// The formats of a report.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatHTML     = "html"
	formatJUnit    = "junit"
	formatMarkdown = "markdown"
	formatGitHub   = "github"
	formatTAP      = "tap"
)

func formats() []string {
	return []string{formatText, formatJSON, formatHTML, formatJUnit, formatMarkdown, formatGitHub, formatTAP}
}

// toStdout is the FILE of a report that goes to standard output.
const toStdout = "-"

// wanted is a report that goes to a file.
type wanted struct{ format, path string }

// parseReports reads the values of --report: FORMAT=FILE, several with commas.
func parseReports(values []string, json bool) (all []wanted, err error) {
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		if part == "" {
			continue
		}
		format, path, _ := strings.Cut(part, "=")
		w := wanted{format, path}
		switch {
		case !slices.Contains(formats(), format):
			return nil, fmt.Errorf("--report %q: %q is no format: write FORMAT=FILE with one of %s", part, format, strings.Join(formats(), ", "))
		case path == "":
			return nil, fmt.Errorf("--report %q: say where it goes, such as %s=%s; %s=- is standard output", part, format, "report."+ending(format), format)
		case path == toStdout && json:
			return nil, fmt.Errorf("--report %q: standard output is taken by --json: give a file", part)
		}
		if path != toStdout {
			if err := writable(path); err != nil {
				return nil, err
			}
		}
		all = append(all, w)
	}
	return all, nil
}

func ending(format string) string {
	switch format {
	case formatJUnit:
		return "xml"
	case formatMarkdown:
		return "md"
	case formatText, formatGitHub:
		return "txt"
	}
	return format
}

// writable says before a run what would keep its report from being written.
func writable(path string) error {
	hint := func(err error) error {
		return &probes.Hinted{Err: fmt.Errorf("--report: %w", err), Hint: "name a file in a folder that is there"}
	}
	switch info, err := os.Stat(path); {
	case err != nil: // it is to be made
	case info.IsDir():
		return hint(fmt.Errorf("%s is a folder", path))
	case info.Mode().IsRegular() && info.Size() > 0 && path != os.Getenv("GITHUB_STEP_SUMMARY"):
		if err := replaceable(path); err != nil {
			return err
		}
	}
	info, err := os.Stat(filepath.Dir(path))
	switch {
	case err != nil:
		return hint(err)
	case !info.IsDir():
		return hint(fmt.Errorf("%s is no folder", filepath.Dir(path)))
	}
	return nil
}

// replaceable is an error for a file that is no report of hammer's.
func replaceable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	defer f.Close()
	head := make([]byte, report.OursHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("--report: reading %s: %w", path, err)
	}
	if !report.Ours(head[:n]) {
		return &probes.Hinted{Err: fmt.Errorf("--report: %s is there, and is no report of hammer's: it is not written over", path), Hint: "name another file, or remove that one"}
	}
	return nil
}

// shown is a concluded run with all that a report can show of it.
type shown struct {
	report *report.Report
	look   *look
	record blocks
}

// render writes a report in one format.
func (s shown) render(w io.Writer, format string, style report.Style) error {
	switch format {
	case formatText:
		return report.Text(w, s.report, style)
	case formatJSON:
		return report.JSON(w, s.report)
	case formatHTML:
		return s.html(w)
	case formatJUnit:
		return report.JUnit(w, s.report)
	case formatMarkdown:
		return report.Markdown(w, s.report)
	case formatGitHub:
		return report.GitHub(w, s.report)
	case formatTAP:
		return report.TAP(w, s.report)
	}
	return fmt.Errorf("%q is no format of a report: give one of %s", format, strings.Join(formats(), ", "))
}

// save writes the reports that were asked for.
func (s shown) save(c *console, reports []wanted) error {
	for _, w := range reports {
		if err := s.saveOne(c, w); err != nil {
			return fmt.Errorf("writing the %s report: %w", w.format, err)
		}
	}
	return nil
}

func (s shown) saveOne(c *console, w wanted) error {
	if w.path == toStdout {
		return s.render(c.out, w.format, c.style(false))
	}
	f, err := openReport(w.path)
	if err != nil {
		return err
	}
	err = s.render(f, w.format, report.Style{})
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// openReport opens a report's file anew. GitHub's summary of a step is the
// exception: it may hold what other commands have written.
func openReport(path string) (*os.File, error) {
	if path == os.Getenv("GITHUB_STEP_SUMMARY") {
		return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
	return os.Create(path)
}

// isTerminal reports whether a page of HTML would be poured onto a screen.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
