package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ratehammer/ratehammer/results"
)

// Plain is the report with nothing in it that would steer who reads it: header
// fields, keys and URLs come from outside, and a line break in one could begin a line
// that a CI system takes for a command, or an escape paint over a terminal.
func (r *Report) Plain() *Report {
	out := *r
	out.Headline, out.Target, out.Server = oneLine(r.Headline), oneLine(r.Target), oneLine(r.Server)
	out.Folder, out.Recheck, out.Keys = oneLine(r.Folder), oneLine(r.Recheck), oneLine(r.Keys)
	out.Phases = map[string]string{}
	for name, says := range r.Phases {
		out.Phases[oneLine(name)] = oneLine(says)
	}
	out.Promise, out.Notes = allOneLine(r.Promise), allOneLine(r.Notes)
	out.Findings = slices.Clone(r.Findings)
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Check, f.Limit, f.Key, f.Text, f.Proof, f.Recheck = oneLine(f.Check), oneLine(f.Limit), oneLine(f.Key), oneLine(f.Text), oneLine(f.Proof), oneLine(f.Recheck)
	}
	out.Causes = slices.Clone(r.Causes)
	for i := range out.Causes {
		out.Causes[i].Text, out.Causes[i].Reasons = oneLine(out.Causes[i].Text), allOneLine(out.Causes[i].Reasons)
	}
	out.Evidence = slices.Clone(r.Evidence)
	for i := range out.Evidence {
		out.Evidence[i] = slices.Clone(out.Evidence[i])
		for k := range out.Evidence[i] {
			plainHit(&out.Evidence[i][k])
		}
	}
	return &out
}

func plainHit(h *results.Hit) {
	h.Key, h.RetryAfter, h.Date, h.Err = oneLine(h.Key), oneLine(h.RetryAfter), oneLine(h.Date), oneLine(h.Err)
}

func allOneLine(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = oneLine(out[i])
	}
	return out
}

// oneLine writes control characters, line breaks and what turns the direction of text
// as they are written in Go.
func oneLine(s string) string {
	steers := func(c rune) bool {
		return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || unicode.Is(unicode.Bidi_Control, c)
	}
	if !strings.ContainsFunc(s, steers) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case !steers(c):
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
