package report

import (
	"io"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// What is written in any form is known again, and what somebody else wrote is not.
func TestOurs(t *testing.T) {
	forms := map[string]func(io.Writer, *Report) error{"json": func(w io.Writer, r *Report) error { return JSON(w, r) },
		"text": func(w io.Writer, r *Report) error { return Text(w, r, Style{}) }}
	for name, render := range renderers {
		forms[name] = render
	}
	kept := brokenReport()
	kept.Status, kept.Findings = results.Kept, kept.Findings[:1]
	for name, render := range forms {
		for _, r := range []*Report{brokenReport(), kept, undecided(2), hostile()} {
			text := rendered(t, render, r)
			if !Ours([]byte(text[:min(len(text), OursHead)])) {
				t.Errorf("%s of a %v run is not known again: %.80q", name, r.Status, text)
			}
		}
	}
	for _, text := range []string{"", "KEPT up to date", "# BROKEN: windows", "package main\n", "{\"version\": 1, \"name\": \"mine\"}", "<!DOCTYPE html><title>BROKEN glass</title>",
		"<?xml version=\"1.0\"?>\n<testsuites name=\"pytest\">", "TAP version 14\n1..1\nok 1 - BROKEN: x", "::error title=Lint::x", "\nKEPT  as it is"} {
		if Ours([]byte(text)) {
			t.Errorf("%q is taken for a report of ours", text)
		}
	}
}
