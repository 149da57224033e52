package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// Markdown writes a report as the summary of a CI job, or the text of an issue:
// the answer, what to do, every finding, and the evidence folded away.
func Markdown(w io.Writer, r *Report) error {
	r = r.Plain()
	m := &markdown{}
	m.linef("## %s %s: %s", sign(r.Status), strings.ToUpper(r.Status.String()), mdText(r.Headline))
	m.linef("")
	m.facts(r)
	m.causes(r)
	m.findings(r)
	m.timeline(r)
	for i, f := range r.Findings {
		if f.Status == results.Broken {
			m.folded(fmt.Sprintf("Evidence: %s", f.Check), proofText(r, i))
		}
	}
	if len(r.Notes) > 0 {
		m.linef("")
		for _, n := range r.Notes {
			m.linef("- note: %s", mdText(n))
		}
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}

type markdown struct{ out strings.Builder }

func (m *markdown) linef(format string, args ...any) {
	fmt.Fprintf(&m.out, format+"\n", args...)
}

func (m *markdown) facts(r *Report) {
	m.linef("| | |\n|---|---|")
	m.row("target", mdCode(r.Target))
	for _, p := range r.Promise {
		m.row("promise", mdText(p))
	}
	m.row("fired", fmt.Sprintf("%d of %d planned in %s: %s", r.Run.Sent, r.Run.Planned, seconds(r.Run.LastedNS), outcomes(r.Run)))
	for _, res := range r.Resolutions {
		m.row("sight", mdText(sight(r, res)))
	}
	if r.Recheck != "" {
		m.row("check it again, offline", mdCode(r.Recheck))
	}
	m.linef("")
}

func (m *markdown) row(cells ...string) { m.linef("| %s |", strings.Join(cells, " | ")) }

func (m *markdown) causes(r *Report) {
	if len(r.Causes) == 0 {
		return
	}
	m.linef("**Likely cause**: %s", mdText(r.Causes[0].Text))
	for _, reason := range r.Causes[0].Reasons {
		m.linef("- %s", mdText(reason))
	}
	m.linef("")
}

func (m *markdown) findings(r *Report) {
	m.linef("| | check | limit | key | finding |\n|---|---|---|---|---|")
	plain := &page{}
	for _, f := range r.Findings {
		if f.Level == results.Info && f.Status == results.Inconclusive {
			continue
		}
		status := f.Status
		if f.Status == results.Broken && f.Level != results.Must {
			status = results.Inconclusive
		}
		m.row(sign(status)+" "+plain.status(f.Status, f.Level), "`"+f.Check+"`", mdText(f.Limit), mdText(f.Key), mdText(f.Text))
	}
	m.linef("")
}

func (m *markdown) timeline(r *Report) {
	plain := &page{style: Style{Unicode: true, Width: 100}}
	if plain.strip(r); plain.out.Len() > 0 {
		m.linef("```text\n%s\n```", strings.TrimRight(plain.out.String(), "\n"))
	}
}

// folded is a text that opens on a click.
func (m *markdown) folded(title, text string) {
	m.linef("\n<details><summary>%s</summary>\n\n%s\n\n</details>", mdText(title), mdBlock(text))
}

// sign is a status that is told apart by its shape as well as by its colour.
func sign(s results.Status) string {
	switch s {
	case results.Kept:
		return "✅"
	case results.Broken:
		return "❌"
	}
	return "⚠️"
}

// mdText is a text on one line that is nothing but text: no markup, no cell of a
// table, no tag and no mention.
func mdText(s string) string {
	s = strings.Join(lines(printable(s)), " ")
	var out strings.Builder
	for _, c := range s {
		switch {
		case c == '<':
			out.WriteString("&lt;")
		case c == '&':
			out.WriteString("&amp;")
		case c == '@':
			out.WriteString("&#64;")
		case strings.ContainsRune("\\`*_[]|~#!", c):
			out.WriteByte('\\')
			out.WriteRune(c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// mdCode is a text as code that is copied as it stands. A bar in it would end the
// cell of a table.
func mdCode(s string) string {
	s = strings.Join(lines(printable(s)), " ")
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

// mdBlock is a text as a block of code, however many fences it holds itself.
func mdBlock(s string) string {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + "text\n" + strings.TrimRight(printable(s), "\n") + "\n" + fence
}

// longestRun is how many backticks stand behind each other at most.
func longestRun(s string) (most int) {
	n := 0
	for _, c := range s {
		if n++; c != '`' {
			n = 0
		}
		most = max(most, n)
	}
	return most
}
