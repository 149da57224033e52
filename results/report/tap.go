package report

import (
	"fmt"
	"io"
	"strings"
)

// TAP writes a report as the Test Anything Protocol, version 14: a test point for
// each limit and assertion, and the evidence as its diagnostics.
func TAP(w io.Writer, r *Report) error {
	r = r.Plain()
	all := cases(r)
	var out strings.Builder
	fmt.Fprintf(&out, "TAP version 14\n1..%d\n", len(all))
	for _, line := range lines(printable(r.Headline)) {
		fmt.Fprintf(&out, "# %s: %s\n", strings.ToUpper(r.Status.String()), line)
	}
	for i, c := range all {
		ok := "ok"
		if c.outcome == failed || c.outcome == erred {
			ok = "not ok"
		}
		directive := ""
		if c.outcome == unasked {
			directive = " # SKIP " + tapText(c.message)
		}
		fmt.Fprintf(&out, "%s %d - %s%s\n", ok, i+1, tapText(c.name()), directive)
		if c.outcome != unasked {
			diagnose(&out, c)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// diagnose writes the block of YAML behind a test point.
func diagnose(out *strings.Builder, c oneCase) {
	severity := map[outcome]string{passed: "comment", failed: "fail", erred: "todo"}[c.outcome]
	fmt.Fprintf(out, "  ---\n  message: %s\n  severity: %s\n", yamlText(c.message), severity)
	if f := c.finding; f != nil && c.detail != "" {
		fmt.Fprintf(out, "  key: %s\n  from_ns: %d\n  to_ns: %d\n  evidence: |2\n", yamlText(f.Key), f.FromNS, f.ToNS)
		for _, line := range lines(c.detail) {
			fmt.Fprintf(out, "    %s\n", printable(line))
		}
	}
	out.WriteString("  ...\n")
}

// tapText is a text on one line in which nothing is a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(strings.Join(lines(printable(s)), " "))
}

// yamlText is a text as YAML's double quotes hold it.
func yamlText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(printable(s)) + `"`
}

// printable puts a mark in the place of what would steer a terminal.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7F && c < 0xA0 {
			return '\uFFFD'
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// lines are the lines of a text, however they end.
func lines(s string) []string {
	return strings.Split(strings.TrimRight(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n"), "\n")
}
