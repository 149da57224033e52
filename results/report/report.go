// Package report renders what was concluded from a run: for a person, and as
// JSON for a program. It stands behind the verdict and changes nothing in it.
package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// SchemaVersion is the version of the JSON form. It rises when a field changes
// its meaning or goes; new fields may come at any time.
const SchemaVersion = 1

// Report is a concluded run, as it is shown.
type Report struct {
	Version     int                  `json:"version"`           // SchemaVersion
	Status      results.Status       `json:"verdict"`           //
	Strict      bool                 `json:"strict,omitempty"`  // advice counts as a promise
	Started     time.Time            `json:"started,omitzero"`  // wall clock at the run's start; zero: not known
	ExitCode    int                  `json:"exit_code"`         // what hammer ends with: 0 kept, 1 broken, 2 inconclusive, 3 could not run, 130 interrupted
	Headline    string               `json:"headline"`          // the answer in one line
	Target      string               `json:"target"`            // URL
	Server      string               `json:"server,omitempty"`  // what is behind it, where that is the reference server; empty: unknown
	Promise     []string             `json:"promise"`           // the limits in words
	Findings    []results.Finding    `json:"findings"`          //
	Run         results.Run          `json:"run"`               //
	Causes      []results.Cause      `json:"causes,omitempty"`  // of what is broken, the likeliest first; a conjecture
	Resolutions []results.Resolution `json:"resolution"`        // one for each limit
	Notes       []string             `json:"notes,omitempty"`   // what was left out, assumed or granted
	Replay      *Replay              `json:"replay,omitempty"`  // what the run repeats, and how it compares; absent: it repeats none
	Folder      string               `json:"folder,omitempty"`  // where the record is; empty: it was not saved
	Recheck     string               `json:"recheck,omitempty"` // command that judges the record again
	Phases      map[string]string    `json:"phases,omitempty"`  // what those phases fire whose clients a breach is about, by name; absent: that is not known
	Keys        string               `json:"keys,omitempty"`    // how a key label reads on the wire; empty: it does not differ

	Strip    *Strip          `json:"-"` // the timeline; nil: none
	Evidence [][]results.Hit `json:"-"` // by finding: the requests behind it
}

// Client is whose a key is that was invented, and what is fired on it: keys are called
// after the phase that invents them. Empty: the label says it all.
func (r *Report) Client(key string) string {
	phase, n, ok := strings.Cut(key, "/")
	says := r.Phases[phase]
	if !ok || says == "" {
		return ""
	}
	return fmt.Sprintf("%s is client %s of phase %s: %s", key, n, phase, says)
}

// Replay is a run held against the one that it repeats.
type Replay struct {
	Of         string   `json:"of"`                // folder of the run that was repeated
	Reproduced bool     `json:"reproduced"`        // the same checks are broken, of the same limits
	Text       string   `json:"text"`              // in one sentence
	Again      []string `json:"again,omitempty"`   // checks that are broken in both
	Missing    []string `json:"missing,omitempty"` // that were broken then and are not now
	New        []string `json:"new,omitempty"`     // that are broken now and were not then
}

// Failure is what JSON says when there is no verdict.
type Failure struct {
	Version  int    `json:"version"`
	ExitCode int    `json:"exit_code"`
	Error    string `json:"error"`
	Hint     string `json:"hint,omitempty"`
}
