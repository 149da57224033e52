package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// clock is a time source that stands still until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{at: time.Unix(1_000_000, 0)} }

// still is a world whose clock stands, so that only Close and counts close parts.
func still() world { return world{now: newClock().now, create: createFile} }

func mustCreate(t testing.TB, dir string, o world) *Writer {
	t.Helper()
	w, err := create(dir, Manifest{Scenario: "limits: []"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mustWrite(t testing.TB, w *Writer, blocks ...results.Block) {
	t.Helper()
	for _, b := range blocks {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
}

func mustClose(t testing.TB, w *Writer) {
	t.Helper()
	if err := w.Close(Manifest{Scenario: "limits: []"}); err != nil {
		t.Fatal(err)
	}
}

// record is all that was read from a run.
type record struct {
	hits   []results.Hit
	marks  []results.Mark
	blocks []results.Block
	damage []Damage
}

// readAll reads a run to its end and checks what holds for every reading.
func readAll(t testing.TB, dir string) record {
	t.Helper()
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var r record
	for b, err := range run.Blocks() {
		if err != nil {
			r.damage = append(r.damage, err.(Damage))
			continue
		}
		if len(b.Hits) > blockMax || len(b.Marks) > blockMax {
			t.Errorf("got a block of %d hits and %d marks, want at most %d", len(b.Hits), len(b.Marks), blockMax)
		}
		r.hits = append(r.hits, b.Hits...)
		r.marks = append(r.marks, b.Marks...)
		r.blocks = append(r.blocks, b)
	}
	if got := run.Damage(); !slices.Equal(got, r.damage) {
		t.Errorf("Damage(): got %v, want what the loop was given: %v", got, r.damage)
	}
	checkLow(t, r.blocks)
	return r
}

// checkLow demands of each block that nothing behind it lies before its Low.
func checkLow(t testing.TB, blocks []results.Block) {
	t.Helper()
	first := int64(math.MaxInt64)
	for i, b := range slices.Backward(blocks) {
		if b.Low > first {
			t.Errorf("block %d: got Low %d, but something behind it is of %d", i, b.Low, first)
		}
		for _, h := range b.Hits {
			first = min(first, h.Sent)
		}
		for _, m := range b.Marks {
			first = min(first, m.At)
		}
	}
}

func equalHits(t testing.TB, got, want []results.Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d hits, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("hit %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

// steady is a run of n requests, one every 200 µs, as a limiter on the same
// machine answers it: a third admitted, 64 connections, 100 keys, answers that
// overtake each other, with every header that is recorded.
func steady(n int) []results.Hit {
	rnd := rand.New(rand.NewPCG(1, 2))
	hits := make([]results.Hit, n)
	for i := range hits {
		h := &hits[i]
		at := int64(i) * 200_000
		second := 1_762_937_999 + at/1e9
		*h = results.Hit{
			Seq: int64(i + 1), Conn: int32(rnd.IntN(64) + 1), Peer: "127.0.0.1:8080", Cost: 1,
			Key: fmt.Sprintf("client-%d", rnd.IntN(100)), Planned: at,
			Sent:    at + 2000 + int64(rnd.ExpFloat64()*5000),
			Outcome: results.Limited, Status: 429, RetryAfter: "1",
			Date:    time.Unix(second, 0).UTC().Format(time.RFC1123),
			Headers: fmt.Sprintf("x-ratelimit-limit: 10\nx-ratelimit-remaining: %d\nx-ratelimit-reset: %d", rnd.IntN(10), second),
		}
		h.First = h.Sent + 250_000 + int64(rnd.ExpFloat64()*300_000)
		h.Done = h.First + 3000 + int64(rnd.ExpFloat64()*2000)
		switch {
		case rnd.IntN(5000) == 0:
			h.Outcome, h.Status, h.First, h.RetryAfter, h.Err = results.Unknown, 0, results.Never, "", "timeout after 1s"
		case rnd.IntN(3) == 0:
			h.Outcome, h.Status, h.RetryAfter = results.Admitted, 200, ""
		}
	}
	slices.SortStableFunc(hits, func(a, b results.Hit) int { return int(a.Done - b.Done) })
	return hits
}

// cut is hits in blocks of size, each with the highest Low that is true.
func cut(hits []results.Hit, size int) []results.Block {
	var blocks []results.Block
	for b := range slices.Chunk(hits, size) {
		blocks = append(blocks, results.Block{Hits: b})
	}
	low := int64(math.MaxInt64)
	for i := range slices.Backward(blocks) {
		blocks[i].Low = low
		for _, h := range blocks[i].Hits {
			low = min(low, h.Sent)
		}
	}
	return blocks
}

// partFiles are the names of the parts in dir, in their order.
func partFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, timelineName, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func copyRun(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}
