package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// annotationsMost is how many annotations of a kind GitHub shows of a step: what
// comes behind them is only in the log.
const annotationsMost = 10

// GitHub writes a report as workflow commands, which GitHub shows as annotations
// of the build: what is broken as errors, advice and what stayed open as
// warnings, and a run that was kept as a notice.
func GitHub(w io.Writer, r *Report) error {
	r = r.Plain()
	var out strings.Builder
	switch r.Status {
	case results.Kept:
		command(&out, "notice", "Rate limit kept", r.Headline+next(r))
	case results.Broken:
		command(&out, "error", "Rate limit broken", r.Headline+next(r))
	default:
		command(&out, kindOf(r.ExitCode != 0), "Rate limit not decided", r.Headline+next(r))
	}
	said := map[string]int{"error": 1, "warning": 1}
	for _, c := range cases(r) {
		kind, title := annotation(c)
		if kind == "" || c.message == r.Headline {
			continue
		}
		if said[kind]++; said[kind] > annotationsMost {
			continue
		}
		text := c.message
		if c.finding != nil && c.finding.Proof != "" {
			text += "\n" + c.finding.Proof
		}
		command(&out, kind, title+": "+c.name(), text)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func kindOf(red bool) string {
	if red {
		return "error"
	}
	return "warning"
}

// annotation is how loudly a case is told, and in which word; an empty kind: not at all.
func annotation(c oneCase) (kind, title string) {
	switch {
	case c.outcome == failed:
		return "error", "Broken"
	case c.outcome == erred:
		return "warning", "Inconclusive"
	case c.finding != nil && c.finding.Status == results.Broken:
		return "warning", "Advice"
	}
	return "", ""
}

// next is what the reader of an annotation can do.
func next(r *Report) (text string) {
	if r.Status == results.Broken && len(r.Causes) > 0 {
		text += "\nLikely cause: " + r.Causes[0].Text
	}
	if r.Recheck != "" {
		text += "\nCheck it again offline: " + r.Recheck
	}
	return text
}

// command is one workflow command. Data and properties are escaped as GitHub's
// runner reads them; a property may not hold a colon or a comma either.
func command(out *strings.Builder, kind, title, text string) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	fmt.Fprintf(out, "::%s title=%s::%s\n", kind, property.Replace(printable(title)), data.Replace(printable(text)))
}
