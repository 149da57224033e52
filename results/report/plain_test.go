package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// What comes from outside begins no line of its own and steers no terminal, in any
// of the forms that a CI log or a terminal shows.
func TestWhatComesFromOutsideStaysInItsLine(t *testing.T) {
	evil := "x\n::error::pwn\r\x1b[2J\u202e"
	r := &Report{Status: results.Broken, Headline: evil, Target: evil, Promise: []string{evil}, Notes: []string{evil},
		Findings: []results.Finding{{Check: "bound.upper", Status: results.Broken, Key: evil, Text: evil, Proof: evil, ToNS: 5}},
		Causes:   []results.Cause{{Text: evil, Reasons: []string{evil}}},
		Evidence: [][]results.Hit{{{Seq: 1, Key: evil, RetryAfter: evil, Err: evil}}}}
	for name, write := range map[string]func(io.Writer, *Report) error{
		"text":     func(w io.Writer, r *Report) error { return Text(w, r, Style{}) },
		"markdown": Markdown, "junit": JUnit, "tap": TAP,
	} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(strings.TrimSpace(line), "::error") || strings.ContainsAny(line, "\x1b\u202e") || strings.Contains(strings.TrimSuffix(line, "\n"), "\r") {
				t.Errorf("%s has the line %q", name, line)
			}
		}
		if !strings.Contains(b.String(), `x\n::error::pwn`) && name != "markdown" {
			t.Errorf("%s does not show what was there: %s", name, b.String())
		}
	}
	if r.Headline != evil || r.Evidence[0][0].Key != evil {
		t.Error("the report itself was changed")
	}
}
