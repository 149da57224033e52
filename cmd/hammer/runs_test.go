package main

import (
	"strings"
	"testing"
	"time"
)

func TestPruning(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := func(name string, hours, bytes int, running bool) saved {
		return saved{Folder: name, Started: now.Add(-time.Duration(hours) * time.Hour), Bytes: int64(bytes), Running: running}
	}
	all := []saved{run("a", 1, 100, false), run("b", 2, 100, false), run("c", 30, 100, true), run("d", 40, 100, false)}
	tests := []struct {
		name string
		p    pruning
		stay string
	}{
		{"none goes", pruning{number: -1, size: -1}, "abcd"},
		{"by age", pruning{age: 24 * time.Hour, number: -1, size: -1}, "abc"}, // c is being fired
		{"by number", pruning{number: 1, size: -1}, "ac"},
		{"all", pruning{number: 0, size: -1}, "c"},
		{"by size", pruning{number: -1, size: 250}, "abc"},
		{"the first that does not fit ends it", pruning{number: -1, size: 150}, "ac"},
		{"together", pruning{age: 35 * time.Hour, number: 3, size: -1}, "abc"},
	}
	for _, tt := range tests {
		stay, gone := tt.p.divide(all, now)
		var names strings.Builder
		for _, r := range stay {
			names.WriteString(r.Folder)
		}
		if names.String() != tt.stay || len(stay)+len(gone) != len(all) {
			t.Errorf("%s: got %s, want %s", tt.name, names.String(), tt.stay)
		}
	}
}

func TestSizesAndAges(t *testing.T) {
	for text, want := range map[string]int64{"0B": 0, "500MB": 5e8, "2 GB": 2e9, "7kB": 7000} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "MB", "-1MB", "1.5GB", "9999999999GB", "3XB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	if got, err := parseAge("30d"); err != nil || got != 720*time.Hour {
		t.Errorf("30d: got %v, %v", got, err)
	}
	if _, err := parseAge("d"); err == nil {
		t.Error("d was taken for an age")
	}
}
