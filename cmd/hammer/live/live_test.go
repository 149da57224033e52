package live

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is two seconds of a run on three keys.
func sample() *Record {
	r := NewRecord()
	var b results.Block
	for i := range int64(400) {
		at := i * 5_000_000
		h := results.Hit{Seq: i + 1, Key: fmt.Sprintf("pressure/%d", i%3+1), Planned: at, Sent: at + i*1000, First: at + 2_000_000, Done: at + 2_000_000, Outcome: results.Limited}
		if i%20 == 0 || i < 30 {
			h.Outcome = results.Admitted
		}
		if i == 350 {
			h.Outcome, h.Key = results.Unknown, "odd\x1b[31m\tkey"
		}
		b.Hits = append(b.Hits, h)
	}
	r.Block(b)
	return r
}

func state() State {
	return State{Phase: "pressure", Elapsed: 2 * time.Second, Whole: 5 * time.Second, Most: 9 * time.Second, Planned: 1000, Sent: 400, Missed: 2, Admitted: 49, Limited: 350, Unknown: 1,
		AtMost: func(d time.Duration) (float64, bool) { return 10 + 5*d.Seconds(), true }}
}

// A frame fits the terminal, whatever its size, and shows what matters first.
func TestFrame(t *testing.T) {
	r := sample()
	for name, style := range map[string]Style{"80x24": {Width: 80, Height: 24, Unicode: true}, "40x10": {Width: 40, Height: 10, Unicode: true}, "200x50": {Width: 200, Height: 50, Unicode: true}, "ascii": {Width: 80, Height: 24}, "colour": {Width: 80, Height: 24, Unicode: true, Colour: true}} {
		got := strings.Join(r.Frame(state(), style), "\n") + "\n"
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (run go test -update and look at the change); got\n%s", path, got)
		}
	}
	r.Prove("on volley/1, 0.299 s: 13 requests admitted within 3.03 ms, where burst 10 and 5/s allow 10.02; too many on 19 of 20 keys")
	for width := 1; width < 130; width++ {
		for height := 1; height < 30; height += 3 {
			lines := r.Frame(state(), Style{Width: width, Height: height, Unicode: true, Colour: true})
			if len(lines) > max(height-1, 1) {
				t.Fatalf("%dx%d: got %d lines", width, height, len(lines))
			}
			for _, line := range lines {
				if n := columns(line); n >= max(width, 11) {
					t.Fatalf("%dx%d: got %d columns: %q", width, height, n, line)
				}
			}
		}
	}
	told := r.Frame(state(), Style{Width: 80, Height: 24})[3:5]
	if want := []string{"BROKEN already on volley/1, 0.299 s: 13 requests admitted within 3.03 ms,", "  where burst 10 and 5/s allow 10.02; too many on 19 of 20 keys"}; !slices.Equal(told, want) {
		t.Errorf("got %q in the place of the findings, want %q", told, want)
	}
	for _, line := range r.Frame(state(), Style{Width: 80, Height: 24}) {
		if strings.ContainsAny(line, "\x1b\t") {
			t.Errorf("without colours, and with a key that would steer the terminal, got %q", line)
		}
	}
}

// A run of any length fits.
func TestStripOfAnyLength(t *testing.T) {
	r := NewRecord()
	for i := range int64(5000) {
		r.Block(results.Block{Hits: []results.Hit{{Key: "k", Sent: i * i * 100_000, Outcome: results.Admitted}}})
	}
	if r.last < cells/2-1 || r.last >= cells {
		t.Errorf("got %d cells in use, want between half and all of %d", r.last, cells)
	}
	if got := r.all.cells[r.last]; got != sawAdmitted {
		t.Errorf("got %d in the last cell, want what was admitted last", got)
	}
	if r.all.admitted != 5000 || r.keys["k"].admitted != 5000 {
		t.Errorf("got %d and %d admitted, want 5000", r.all.admitted, r.keys["k"].admitted)
	}
}

// The lateness that a share was not later than is right to an eighth.
func TestLateness(t *testing.T) {
	for _, scale := range []int64{1, 7, 1000, 123_457, 9_999_999} {
		r := NewRecord()
		var b results.Block
		for i := int64(1); i <= 1000; i++ {
			b.Hits = append(b.Hits, results.Hit{Sent: i * scale})
		}
		r.Block(b)
		for _, share := range []float64{0.01, 0.5, 0.99, 1} {
			exact := int64(share * 1000 * float64(scale))
			if got := int64(r.lateness(share)); got < exact || got > exact+exact/8+1 {
				t.Errorf("scale %d: %g are late by %d, want %d to an eighth more", scale, share, got, exact)
			}
		}
	}
}

// There is a bound on what a run with very many keys takes.
func TestManyKeys(t *testing.T) {
	r := NewRecord()
	for i := range int64(5000) {
		r.Block(results.Block{Hits: []results.Hit{{Key: fmt.Sprint(i), Sent: i * 1000, Outcome: results.Admitted}}})
	}
	if len(r.keys) != mostKeys || r.all.admitted != 5000 {
		t.Errorf("got %d keys and %d admitted, want %d and 5000", len(r.keys), r.all.admitted, mostKeys)
	}
	if got := len(r.Frame(state(), Style{Width: 80, Height: 24})); got > 23 {
		t.Errorf("got %d lines", got)
	}
}

func BenchmarkBlock(b *testing.B) {
	r := NewRecord()
	var block results.Block
	for i := range int64(1000) {
		block.Hits = append(block.Hits, results.Hit{Key: fmt.Sprintf("pressure/%d", i%40), Sent: i * 1_000_000, Outcome: results.Outcome(i % 3)})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.Block(block)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/hit")
}

func BenchmarkFrame(b *testing.B) {
	r := sample()
	b.ReportAllocs()
	for b.Loop() {
		r.Frame(state(), Style{Width: 80, Height: 24, Unicode: true, Colour: true})
	}
}
