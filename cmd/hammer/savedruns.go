package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// saved is a run in a list of runs.
type saved struct {
	Folder   string    `json:"folder"`
	Started  time.Time `json:"started"`
	Verdict  string    `json:"verdict"`           // kept, broken, inconclusive, or none: the run came to no end
	Running  bool      `json:"running,omitempty"` // it is written to
	Stopped  bool      `json:"stopped,omitempty"` // it has not ended, and nothing was written to it for a while
	Headline string    `json:"headline,omitempty"`
	Promise  []string  `json:"promise"`
	Target   string    `json:"target"`
	Server   string    `json:"server,omitempty"`
	Requests int64     `json:"requests"` // on record
	Bytes    int64     `json:"bytes"`    // of the folder
	touched  time.Time // when something in it was last written
}

// noVerdict is the verdict of a run that has none.
const noVerdict = "none"

// lively is how long nothing is written to a run that has not ended before it is said
// to be stopped.
const lively = 10 * time.Second

// quiet is how long nothing is written to a run that has not ended before it may
// be removed: a run that is being fired closes a part every second while anything
// happens, and its longest silences are waits for buckets to fill.
const quiet = time.Hour

// savedRuns are the runs right inside a folder, the newest first, and what is wrong
// with those that cannot be read. What is no run is left out.
func savedRuns(dir string) (all []saved, damaged []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !e.IsDir() { // a link to a folder is not one of ours
			continue
		}
		r, err := readSaved(filepath.Join(dir, e.Name()))
		switch {
		case err == nil:
			all = append(all, r)
		case !errors.Is(err, store.ErrNoRun):
			damaged = append(damaged, err.Error())
		}
	}
	slices.SortStableFunc(all, func(a, b saved) int { return b.Started.Compare(a.Started) })
	return all, damaged, nil
}

// readSaved is what a folder says of the run in it. The error is store.ErrNoRun where
// it holds none.
func readSaved(folder string) (s saved, err error) {
	m, err := store.ReadManifest(folder)
	if err != nil {
		return s, err
	}
	s = saved{Folder: folder, Started: m.Started, Verdict: noVerdict, Target: m.URL, Server: m.Server, Requests: m.Hits}
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			s.Bytes += info.Size()
			if info.ModTime().After(s.touched) {
				s.touched = info.ModTime()
			}
		}
		return nil // it may have been renamed meanwhile
	})
	if err != nil {
		return s, err
	}
	if !m.Ended && m.StoppedWhy == "" {
		s.Running = time.Since(s.touched) < lively
		s.Stopped = !s.Running
	}
	if !m.Ended { // its manifest does not count them yet
		if r, err := store.Open(folder); err == nil {
			s.Requests = r.Hits()
		}
	}
	if sc, err := scenarios.Parse(folder, []byte(m.Scenario), assertions.IDs()); err == nil {
		s.Promise = scenarios.Promises(sc.Limits)
	}
	text, err := store.ReadVerdict(folder)
	var r report.Report
	if err == nil && json.Unmarshal(text, &r) == nil {
		s.Verdict, s.Headline = r.Status.String(), r.Headline
	} else if m.Ended { // it was stopped between its end and its verdict
		s.Running = time.Since(s.touched) < quiet
	}
	return s, nil
}

// text is a run in two lines.
func (s *saved) text() string {
	word := strings.ToUpper(s.Verdict)
	switch {
	case s.Running:
		word = "RUNNING"
	case s.Stopped:
		word = "STOPPED"
	case s.Verdict == noVerdict:
		word = "NO VERDICT"
	}
	what := s.Target
	if s.Server != "" {
		what = s.Server
	}
	head := s.Headline
	if head == "" {
		head = "it was not judged: hammer judge " + quoted(s.Folder)
	}
	if s.Stopped {
		head = "it was killed, or waits: nothing is written to it; to judge what there is: hammer judge " + quoted(s.Folder)
	}
	if s.Running {
		head = "it has not ended yet"
	}
	return fmt.Sprintf("\n%s  %s  %d requests, %s\n  %s\n  %s at %s\n  %s\n", s.Started.Local().Format(time.DateTime), word, s.Requests, sizeText(s.Bytes),
		head, strings.Join(s.Promise, "; "), what, s.Folder)
}

// filter is which runs are meant.
type filter struct {
	verdict, target string
	newer, older    time.Duration // 0: any
}

func (f filter) takes(s saved, now time.Time) bool {
	age := now.Sub(s.Started)
	switch {
	case f.verdict != "" && s.Verdict != f.verdict,
		!strings.Contains(s.Target, f.target) && !strings.Contains(s.Server, f.target),
		f.newer > 0 && age > f.newer,
		f.older > 0 && age < f.older:
		return false
	}
	return true
}

// used reports whether a run may still be written to.
func (s *saved) used(now time.Time) bool {
	return s.Running || s.Stopped && now.Sub(s.touched) < quiet
}

// pruning is which runs go.
type pruning struct {
	age    time.Duration // older ones go; 0: none for that
	number int           // the newest so many stay; -1: any number
	size   int64         // and of those what fits into so many bytes, the newest first; -1: any size
}

// divide tells runs that stay from those that go; they are in order, the newest
// first. One that is still being fired stays, and counts.
func (p pruning) divide(runs []saved, now time.Time) (stay, gone []saved) {
	var size int64
	full := false
	for _, r := range runs {
		full = full || p.size >= 0 && size+r.Bytes > p.size
		goes := p.age > 0 && now.Sub(r.Started) > p.age || p.number >= 0 && len(stay) >= p.number || full
		if goes && !r.used(now) {
			gone = append(gone, r)
			continue
		}
		stay, size = append(stay, r), size+r.Bytes
	}
	return stay, gone
}
