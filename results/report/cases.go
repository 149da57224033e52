package report

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
)

// outcome is what became of one question, as programs that count tests know it.
type outcome uint8

// The outcomes. Unasked is the zero value: it claims nothing.
const (
	unasked outcome = iota // not asked, or not answered where nobody is kept waiting for the answer
	passed
	failed
	erred // not answered, and the run ends with another exit code than 0 for it
)

// oneCase is a finding as a test: one limit held against one assertion.
type oneCase struct {
	finding *results.Finding // nil: the case stands for the run itself
	check   string
	limit   string
	outcome outcome
	message string // one line
	detail  string // evidence, several lines; empty: none
}

// cases are the findings as tests. Something is failed or erred exactly when the
// exit code is not 0, so that who counts tests and who looks at the exit code
// come to the same conclusion.
func cases(r *Report) (all []oneCase) {
	red := false
	for i := range r.Findings {
		c := caseOf(r, i)
		red = red || c.outcome == failed || c.outcome == erred
		all = append(all, c)
	}
	if r.ExitCode != 0 && !red {
		all = append(all, oneCase{check: "run.verdict", outcome: erred, message: r.Headline})
	}
	return all
}

func caseOf(r *Report, i int) oneCase {
	f := &r.Findings[i]
	c := oneCase{finding: f, check: f.Check, limit: f.Limit, message: f.Text}
	weighs := f.Level == results.Must || f.Level == results.Should && r.Strict
	switch {
	case f.Status == results.Broken && weighs:
		c.outcome, c.detail = failed, proofText(r, i)
	case f.Status == results.Broken:
		c.outcome, c.message, c.detail = passed, "advice: "+f.Text, proofText(r, i)
	case f.Status == results.Kept:
		c.outcome = passed
	case f.Level == results.Info:
		c.message = prefixed("not asked: ", f.Text)
	case weighs && r.Status == results.Inconclusive && r.ExitCode != 0:
		c.outcome, c.message = erred, prefixed("inconclusive: ", f.Text)
	default:
		c.message = prefixed("inconclusive: ", f.Text)
	}
	return c
}

// prefixed puts a word before a text that does not begin with it.
func prefixed(prefix, text string) string {
	if len(text) >= len(prefix) && text[:len(prefix)] == prefix {
		return text
	}
	return prefix + text
}

// proofText is the evidence of a finding in plain text.
func proofText(r *Report, i int) string {
	p := &page{style: Style{Width: 100}}
	p.evidence(&r.Findings[i], hitsOf(r, i), r.Recheck, r.Client(r.Findings[i].Key))
	return p.out.String()
}

// counted is how many cases came to what.
func counted(all []oneCase) (n [4]int) {
	for _, c := range all {
		n[c.outcome]++
	}
	return n
}

// name is a case in a few words.
func (c oneCase) name() string {
	if c.limit == "" {
		return c.check
	}
	return fmt.Sprintf("%s (%s)", c.check, c.limit)
}
