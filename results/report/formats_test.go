package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/results"
)

// hostile is a report whose every text tries to be something else.
func hostile() *Report {
	const text = "]]>\x00\x1b[31m</script><script>alert(1)</script> | `tick` @team ::error::%0A\n::warning title=x::y # SKIP \\ \"q\" \xff"
	r := &Report{Version: SchemaVersion, Status: results.Broken, ExitCode: 1, Headline: text, Target: "http://x/?a=" + text,
		Promise: []string{text}, Notes: []string{text}, Recheck: "hammer judge '" + text + "'", Folder: text, Started: time.Unix(1_800_000_000, 0)}
	r.Findings = []results.Finding{
		{Check: "bound.upper", Status: results.Broken, Limit: text, Key: text, Text: text + "2", Proof: text, FromNS: 1, ToNS: 2},
		{Check: "bound.lower", Limit: text, Text: text},
	}
	r.Causes = []results.Cause{{ID: "limit.offset", Text: text, Reasons: []string{text}}}
	r.Evidence = [][]results.Hit{{{Seq: 1, Key: text, RetryAfter: text, Err: text, Outcome: results.Admitted}}, nil}
	return r
}

// undecided is a run that is inconclusive.
func undecided(exit int) *Report {
	return &Report{Version: SchemaVersion, ExitCode: exit, Headline: "not sharp enough", Target: "http://x/",
		Findings: []results.Finding{{Check: "bound.upper", Status: results.Kept, Limit: "limit", Text: "kept"}, {Check: "bound.lower", Limit: "limit", Text: "nothing was refused"}}}
}

var renderers = map[string]func(io.Writer, *Report) error{"xml": JUnit, "tap": TAP, "github": GitHub, "md": Markdown}

func rendered(t *testing.T, render func(io.Writer, *Report) error, r *Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := render(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFormats(t *testing.T) {
	dated := brokenReport()
	dated.Started = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for ending, render := range renderers {
		golden(t, "broken."+ending, []byte(rendered(t, render, dated)))
		golden(t, "undecided."+ending, []byte(rendered(t, render, undecided(2))))
		golden(t, "hostile."+ending, []byte(rendered(t, render, hostile())))
	}
}

// Who counts tests comes to the conclusion of who looks at the exit code.
func TestRedIsRed(t *testing.T) {
	strict := brokenReport()
	strict.Strict = true
	strict.Findings = strict.Findings[2:] // advice alone
	kept := brokenReport()
	kept.Status, kept.ExitCode, kept.Findings = results.Kept, 0, kept.Findings[:1]
	interrupted := brokenReport()
	interrupted.Status, interrupted.ExitCode, interrupted.Findings = results.Kept, 130, interrupted.Findings[:1]
	tests := []struct {
		name             string
		report           *Report
		failures, errors int
	}{
		{"broken", brokenReport(), 1, 0},
		{"advice under --strict", strict, 1, 0},
		{"inconclusive", undecided(2), 0, 1},
		{"inconclusive and accepted", undecided(0), 0, 0},
		{"kept", kept, 0, 0},
		{"interrupted", interrupted, 0, 1},
	}
	for _, tt := range tests {
		var doc junitSuites
		if err := xml.Unmarshal([]byte(rendered(t, JUnit, tt.report)), &doc); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if doc.Failures != tt.failures || doc.Errors != tt.errors {
			t.Errorf("%s: got %d failures and %d errors, want %d and %d", tt.name, doc.Failures, doc.Errors, tt.failures, tt.errors)
		}
		notOK := strings.Count(rendered(t, TAP, tt.report), "\nnot ok ")
		if want := tt.failures + tt.errors; notOK != want {
			t.Errorf("%s: got %d points of TAP that are not ok, want %d", tt.name, notOK, want)
		}
	}
}

// What readers of JUnit's XML ask of it: the schemas of Jenkins and of Ant, as far as
// they agree, with the order of the one and the attributes of both.
var junitSchema = map[string]struct {
	children []string // in this order
	required []string
	optional []string
	number   []string // of them, whole numbers
}{
	"testsuites": {[]string{"testsuite"}, []string{"name", "tests", "failures", "errors"}, []string{"time"}, []string{"tests", "failures", "errors"}},
	"testsuite":  {[]string{"properties", "testcase", "system-out", "system-err"}, []string{"name", "tests", "failures", "errors", "time"}, []string{"skipped", "timestamp", "hostname", "id", "package"}, []string{"tests", "failures", "errors", "skipped"}},
	"properties": {[]string{"property"}, nil, nil, nil},
	"property":   {nil, []string{"name", "value"}, nil, nil},
	"testcase":   {[]string{"skipped", "error", "failure", "system-out"}, []string{"name", "classname", "time"}, nil, nil},
	"skipped":    {},
	"error":      {nil, []string{"type"}, []string{"message"}, nil},
	"failure":    {nil, []string{"type"}, []string{"message"}, nil},
	"system-out": {}, "system-err": {},
}

func TestJUnitSchema(t *testing.T) {
	for name, r := range map[string]*Report{"broken": brokenReport(), "undecided": undecided(2), "hostile": hostile()} {
		text := rendered(t, JUnit, r)
		for _, e := range breaches(text) {
			t.Errorf("%s: %s", name, e)
		}
	}
	for _, wrong := range []string{
		`<testsuites name="a" tests="x" failures="0" errors="0"></testsuites>`,
		`<testsuites name="a" tests="1" failures="0" errors="0"><testcase/></testsuites>`,
		`<testsuites name="a" tests="1" failures="0" errors="0" colour="red"></testsuites>`,
		`<testsuites tests="1" failures="0" errors="0"></testsuites>`,
	} {
		if len(breaches(wrong)) != 1 {
			t.Errorf("%s: got %v, want one breach", wrong, breaches(wrong))
		}
	}
}

// breaches are what a document breaks of the schema.
func breaches(text string) (errs []string) {
	d := xml.NewDecoder(strings.NewReader(text))
	type open struct {
		name string
		last int
	}
	var path []open
	for {
		token, err := d.Token()
		if err == io.EOF {
			return errs
		} else if err != nil {
			return append(errs, err.Error())
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			if len(path) > 0 {
				parent := &path[len(path)-1]
				at := slices.Index(junitSchema[parent.name].children, name)
				if at < parent.last {
					return append(errs, fmt.Sprintf("%s inside %s at this place", name, parent.name))
				}
				parent.last = at
			}
			errs = append(errs, wrongAttributes(e)...)
			path = append(path, open{name: name})
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

func wrongAttributes(e xml.StartElement) (errs []string) {
	rule, known := junitSchema[e.Name.Local]
	if !known {
		return []string{e.Name.Local + " is no element"}
	}
	seen := map[string]string{}
	for _, a := range e.Attr {
		seen[a.Name.Local] = a.Value
		if !slices.Contains(rule.required, a.Name.Local) && !slices.Contains(rule.optional, a.Name.Local) {
			errs = append(errs, e.Name.Local+" has no attribute "+a.Name.Local)
		}
	}
	for _, name := range rule.required {
		if _, ok := seen[name]; !ok {
			errs = append(errs, e.Name.Local+" lacks "+name)
		}
	}
	for _, name := range rule.number {
		if v, ok := seen[name]; ok {
			if _, err := strconv.Atoi(v); err != nil {
				errs = append(errs, fmt.Sprintf("%s %q is no number", name, v))
			}
		}
	}
	if v, ok := seen["time"]; ok && !regexp.MustCompile(`^\d+(\.\d+)?$`).MatchString(v) {
		errs = append(errs, "time "+v)
	}
	return errs
}

// jenkinsSchema is the schema that the xUnit plugin of Jenkins holds files of JUnit
// against, version 4: the file as it is published, under the MIT licence in its head.
const jenkinsSchema = "testdata/jenkins-junit-4.xsd"

// xmllint finds all that we write valid by the schema of Jenkins, and not what it
// has no place for.
func TestJUnitIsRead(t *testing.T) {
	program := lab.Need(t, "xmllint", "libxml2-utils")
	dir := t.TempDir()
	valid := func(name, text string) (bool, string) {
		file := filepath.Join(dir, name+".xml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "--noout", "--nonet", "--schema", jenkinsSchema, file).CombinedOutput()
		return err == nil, string(out)
	}
	advised, kept := brokenReport(), undecided(0)
	advised.Strict, kept.Status = true, results.Kept
	kept.Findings = kept.Findings[:1]
	reports := map[string]*Report{"broken": brokenReport(), "strict": advised, "hostile": hostile(), "undecided": undecided(2), "accepted": undecided(0), "kept": kept, "interrupted": undecided(130)}
	for name, r := range reports {
		if ok, said := valid(name, rendered(t, JUnit, r)); !ok {
			t.Errorf("%s: %s", name, said)
		}
	}
	if ok, _ := valid("wrong", strings.Replace(rendered(t, JUnit, brokenReport()), "<testcase ", "<testcase colour=\"red\" ", 1)); ok {
		t.Errorf("an attribute that the schema does not know is valid: nothing is checked")
	}
}

// Whatever a header says, each line that GitHub's runner takes for a command is
// one of ours, and no text ends it early.
func TestGitHubCommands(t *testing.T) {
	ours := regexp.MustCompile(`^::(error|warning|notice) title=[^:,\n\r]*::[^\n\r]*$`)
	for _, r := range []*Report{brokenReport(), hostile(), undecided(2), undecided(0)} {
		text := rendered(t, GitHub, r)
		for line := range strings.Lines(text) {
			if !ours.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("not one of our commands: %q", line)
			}
		}
		if text == "" {
			t.Error("got no annotation, want one for the verdict at least")
		}
	}
	many := brokenReport()
	for range 50 {
		many.Findings = append(many.Findings, many.Findings[1])
		many.Findings[len(many.Findings)-1].Text = "another one"
	}
	if n := strings.Count(rendered(t, GitHub, many), "::error"); n != annotationsMost {
		t.Errorf("got %d errors, want the %d that GitHub shows", n, annotationsMost)
	}
}

// A consumer of TAP counts as many points as the plan says, in order.
func TestTAPCounts(t *testing.T) {
	point := regexp.MustCompile(`(?m)^(?:not )?ok (\d+) - `)
	for _, r := range []*Report{brokenReport(), hostile(), undecided(2)} {
		text := rendered(t, TAP, r)
		points := point.FindAllStringSubmatch(text, -1)
		if want := fmt.Sprintf("TAP version 14\n1..%d\n", len(points)); !strings.HasPrefix(text, want) {
			t.Errorf("got %q, want it to begin with %q", text[:40], want)
		}
		for i, p := range points {
			if p[1] != strconv.Itoa(i+1) {
				t.Errorf("got point %s, want %d", p[1], i+1)
			}
		}
	}
}
