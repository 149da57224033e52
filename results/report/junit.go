package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The elements of JUnit's XML that Jenkins, GitLab and others read: the common
// part of their schemas, with children in the order that the strictest of them
// asks for.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        *junitText      `xml:"system-out"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Time    string     `xml:"time,attr"`
		Skipped *junitText `xml:"skipped"` // without attributes, which the schema of Jenkins has none of here
		Error   *junitFact `xml:"error"`
		Failure *junitFact `xml:"failure"`
		Out     *junitText `xml:"system-out"`
	}
	junitFact struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// JUnit writes a report as the XML that CI systems read, a test case for each
// limit and assertion. What is broken has failed; what was not asked is skipped;
// what stayed open is an error where the run's exit code is not 0 because of it,
// and skipped otherwise.
func JUnit(w io.Writer, r *Report) error {
	r = r.Plain()
	all := cases(r)
	n := counted(all)
	whole := decimal(r.Run.LastedNS)
	suite := junitSuite{Name: "hammer " + xmlText(r.Target), Tests: len(all), Failures: n[failed], Errors: n[erred], Skipped: n[unasked], Time: whole}
	if !r.Started.IsZero() {
		suite.Timestamp = r.Started.UTC().Format("2006-01-02T15:04:05")
	}
	suite.property("verdict", r.Status.String())
	suite.property("exit code", fmt.Sprint(r.ExitCode))
	suite.property("target", r.Target)
	for _, promise := range r.Promise {
		suite.property("promise", promise)
	}
	suite.property("record", r.Folder)
	for _, c := range all {
		suite.Cases = append(suite.Cases, junitOf(c))
	}
	var text strings.Builder
	if err := Text(&text, r, Style{}); err != nil {
		return err
	}
	suite.Out = &junitText{xmlText(text.String())}
	return writeXML(w, junitSuites{Name: "hammer", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Time: whole, Suites: []junitSuite{suite}})
}

func (s *junitSuite) property(name, value string) {
	if value != "" {
		s.Properties = append(s.Properties, junitProperty{name, xmlText(value)})
	}
}

// junitOf is a case. All of them were asked of one run, which takes the time of
// the suite, so no case takes any.
func junitOf(c oneCase) junitCase {
	class := "hammer.run"
	if c.limit != "" {
		class = "hammer." + xmlText(c.limit)
	}
	j := junitCase{Name: xmlText(c.check), Class: class, Time: "0"}
	switch c.outcome {
	case failed:
		j.Failure = &junitFact{"broken", xmlText(c.message), xmlText(c.detail)}
	case erred:
		j.Error = &junitFact{"inconclusive", xmlText(c.message), ""}
	case unasked:
		j.Skipped = &junitText{xmlText(c.message)}
	default:
		j.Out = &junitText{xmlText(strings.TrimRight(c.message+"\n"+c.detail, "\n"))}
	}
	return j
}

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// xmlText is a text without what XML cannot hold at all, such as a NUL byte.
func xmlText(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n' || c == '\r', c >= ' ' && c <= 0xD7FF, c >= 0xE000 && c <= 0xFFFD, c >= 0x10000:
			return c
		}
		return utf8.RuneError
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// decimal is a length in seconds, to the microsecond.
func decimal(ns int64) string { return fmt.Sprintf("%d.%06d", ns/1e9, ns%1e9/1000) }
