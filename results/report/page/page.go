// Package page renders a concluded run as one file of HTML that opens without a
// network: the verdict, the timeline of its requests, and the evidence. It reads
// the record twice and keeps sums of it, and single requests where a finding
// points to them.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// Source is what a page is made of.
type Source struct {
	Report *report.Report
	// Record goes through the whole record; it is called twice.
	Record func(func(results.Block))
	// Hits is about how many requests the record holds.
	Hits int64
	// Phases are the names of the plan's phases, by Hit.Phase; nil: not known.
	Phases []string
	// Allowed is the most that a limit, given by its name, admits in a closed
	// window of so many nanoseconds, for drawing alone; ok is false where it says
	// nothing of windows. nil: nothing is known of any limit.
	Allowed func(limit string, window int64) (requests float64, ok bool)
	// Slack is how far outside of a finding's window its requests may lie, in
	// nanoseconds: what was granted to the limiter's clock, and the step of ours.
	Slack int64
	// Latency is how long answers took; nil: not shown.
	Latency []Latency
	// Shares are the percentages that Latency.NS is given for, rising.
	Shares []float64
	// Glossary says what each assertion means.
	Glossary []Term
}

// Latency is how long one kind of answer took.
type Latency struct {
	Outcome string  `json:"outcome"`
	Planned bool    `json:"planned"` // from when the request was due; false: from when it was sent
	Count   int64   `json:"count"`   // requests
	NS      []int64 `json:"ns"`      // by Source.Shares
}

// Term is a word with its meaning.
type Term struct{ Word, Means string }

//go:embed assets
var assets embed.FS

// scripts are in the order in which they need each other.
var scripts = [...]string{"base.js", "plot.js", "view.js", "lanes.js", "timeline.js", "tip.js", "curves.js", "waits.js", "latency.js", "load.js", "main.js"}

// Write writes the page.
func Write(w io.Writer, s Source) error {
	data, err := json.Marshal(gather(s)) // escapes < > & so that no text in it ends the element
	if err != nil {
		return err
	}
	script, err := bundle()
	if err != nil {
		return err
	}
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(script))
	v := view{Report: s.Report.Plain(), Glossary: append(words(), s.Glossary...), Style: template.CSS(style), Script: template.JS(script), Data: template.JS(data),
		Policy: fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(hash[:]))}
	t, err := template.New("page.html").Funcs(functions()).ParseFS(assets, "assets/page.html")
	if err != nil {
		return err
	}
	return t.Execute(w, v)
}

// bundle is all scripts as one, in a scope of its own.
func bundle() (string, error) {
	var out strings.Builder
	out.WriteString("'use strict';\n(() => {\n")
	for _, name := range scripts {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return "", err
		}
		out.Write(b)
	}
	out.WriteString("})();\n")
	return out.String(), nil
}
