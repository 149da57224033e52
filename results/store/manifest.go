package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Version is the format of the run folders that this package writes.
const Version = 1

const (
	manifestName = "manifest.json"
	timelineName = "timeline"
	marksName    = "marks.jsonl"
	verdictName  = "verdict.json"
)

// Manifest says what a run was: all that a judge needs beside the timeline.
// Run and the counts mean nothing until Ended.
type Manifest struct {
	Version int    `json:"version"` // of the folder's format; filled in by Create and Close
	Tool    string `json:"tool"`    // version of hammer that fired; empty: not known

	// Started is the wall clock at the run's start, for people: every other
	// moment of the run is nanoseconds since then on the monotonic clock.
	Started time.Time `json:"started"`
	Ended   bool      `json:"ended"` // the record is complete; false: still running, killed, or the disk was full

	Scenario string   `json:"scenario"`         // the whole scenario as YAML, with the promise; empty: the promise is not known
	Seed     uint64   `json:"seed"`             // of the plan; the same scenario and seed give the same plan
	Nonce    string   `json:"nonce,omitempty"`  // what fresh keys were made of; empty: no key was made fresh
	URL      string   `json:"url"`              // what was fired at
	Server   string   `json:"server,omitempty"` // what is behind it, where that is the reference server; empty: unknown
	Phases   []string `json:"phases,omitempty"` // names, by Hit.Phase

	Embedded bool     `json:"embedded,omitempty"` // the reference server ran inside hammer, and is gone with it
	Defects  []string `json:"defects,omitempty"`  // that it was given

	OS        string `json:"os"`         // GOOS of hammer
	Arch      string `json:"arch"`       // GOARCH of hammer
	GoVersion string `json:"go_version"` // that built hammer
	CPUs      int    `json:"cpus"`       // that hammer could use; 0: not known
	TickNS    int64  `json:"tick_ns"`    // measured step of the monotonic clock in nanoseconds, by which a moment may be early; 0: not measured
	WSL       bool   `json:"wsl"`        // hammer ran under WSL, whose clocks are corrected by the host

	Keys  []string `json:"keys,omitempty"`  // labels of the keys that were given; empty: fresh ones were invented
	Notes []string `json:"notes,omitempty"` // what was left out, assumed or granted, for people

	Run        results.Run `json:"run"`                   // what the generator says of the run; zero until Ended
	StoppedWhy string      `json:"stopped_why,omitempty"` // why recording ended early; empty: it did not
	Parts      int         `json:"parts"`                 // files of the timeline; filled in by Close
	Hits       int64       `json:"hits"`                  // in those files; filled in by Close
	MarkLines  int64       `json:"mark_lines"`            // in marks.jsonl; filled in by Close
}

// ErrNoRun is the error of Open for a folder without a manifest.
var ErrNoRun = errors.New("holds no run")

func (m Manifest) save(dir string) error {
	m.Version = Version
	return saveJSON(filepath.Join(dir, manifestName), m)
}

// loadManifest reads the manifest of dir. What is wrong with it comes back as a
// clause that can be followed by what else the folder holds.
func loadManifest(dir string) (Manifest, error) {
	var m Manifest
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, fmt.Errorf("%w: %s is missing", ErrNoRun, manifestName)
	case err != nil:
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s is damaged (%w)", manifestName, err)
	}
	if m.Version < 1 {
		return m, fmt.Errorf("%s gives no format version, so it is not one of hammer's", manifestName)
	}
	return m, nil
}

// ReadManifest is what the manifest in a run's folder says, without a look at the
// record. The error is ErrNoRun where there is none.
func ReadManifest(dir string) (Manifest, error) {
	m, err := loadManifest(dir)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return m, fmt.Errorf("%s %w", dir, err)
	}
	return m, nil
}

// check refuses a format that this package does not know.
func (m Manifest) check() error {
	if m.Version > Version {
		return fmt.Errorf("%s is of format %d and this hammer reads up to %d: use the hammer that wrote it (%s) or a newer one", manifestName, m.Version, Version, m.Tool)
	}
	return nil
}

// saveJSON writes v to be read by people too: indented, with < and > as they are.
func saveJSON(path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return replaceFile(path, b.Bytes())
}
