package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// foundIn is the verdict on a record, and what was found, one finding a line: all but
// what the run says of itself, which is in the manifest, and not in a timeline.
func foundIn(t *testing.T, args ...string) (status results.Status, found string) {
	t.Helper()
	var out, talk bytes.Buffer
	run(append([]string{"judge", "--json", "--no-diagnose"}, args...), &out, &talk)
	var r report.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, &out, &talk)
	}
	var lines strings.Builder
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Check, "run") {
			continue
		}
		f.Recheck, f.Limit = "", ""
		if f.Status != results.Broken { // its words draw on what was planned
			f.Text = ""
		}
		line, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	return r.Status, lines.String()
}

// Whatever form a run is exported in, judging it comes to the same verdict with the same
// numbers, though the record goes on behind the breach.
func TestExportsAreJudgedAlike(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want int

		promised []string // to who judges what carries no promise
	}{
		{"broken, with follow-ups", []string{"--defect", "off-by-one{delta=3}", "--diagnose-for", "2s"}, exitBroken, nil},
		{"nothing broken", []string{"--resolution", "5%", "--accept-inconclusive"}, exitKept, []string{"--resolution", "5%"}},
	} {
		dir := t.TempDir()
		folder := filepath.Join(dir, "run")
		var out, talk bytes.Buffer
		if code := run(append([]string{"check", "--for", "2s", "--out", folder}, tt.args...), &out, &talk); code != tt.want {
			t.Fatalf("%s: exit code %d, want %d\n%s%s", tt.name, code, tt.want, &out, &talk)
		}
		if tt.want == exitBroken {
			if e, err := openEarlier(folder); err != nil || e.scenario.Asked() == len(e.scenario.Phases) {
				t.Fatalf("%s: no follow-ups were fired: %v", tt.name, err)
			}
		}
		status, found := foundIn(t, folder)
		for format, flags := range map[string][]string{"parquet": nil, "jsonl": nil, "csv": append([]string{"--full", "--burst", "10", "--rate", "5/s"}, tt.promised...)} {
			file := filepath.Join(dir, "run."+format)
			if code := run([]string{"export", folder, "--format", format, "-o", file}, &out, &talk); code != 0 {
				t.Fatalf("%s: export: exit code %d\n%s", format, code, &talk)
			}
			if gotStatus, got := foundIn(t, append([]string{file}, flags...)...); gotStatus != status || got != found {
				t.Errorf("%s as %s: got %v\n%s\nwant %v\n%s", tt.name, format, gotStatus, got, status, found)
			}
		}
	}
}
