package store

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ratehammer/ratehammer/results"
)

func hits() *rapid.Generator[results.Hit] {
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"a", "Wed, 12 Nov 2025 09:02:58 GMT", "ключ 🔑", "\x00", "crc32c:12345678"}))
	moment := rapid.OneOf(rapid.Int64Range(0, 1e9), rapid.Int64Min(0), rapid.Just(int64(results.Never)))
	return rapid.Custom(func(t *rapid.T) results.Hit {
		return results.Hit{
			Seq: rapid.Int64().Draw(t, "seq"), Phase: rapid.Int32().Draw(t, "phase"), Conn: rapid.Int32().Draw(t, "conn"),
			Key: text.Draw(t, "key"), Peer: text.Draw(t, "peer"), Cost: rapid.Int64().Draw(t, "cost"),
			Planned: rapid.Int64().Draw(t, "planned"), Sent: moment.Draw(t, "sent"), First: moment.Draw(t, "first"), Done: moment.Draw(t, "done"),
			Fresh: rapid.Bool().Draw(t, "fresh"), Outcome: results.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")),
			Status: rapid.Int32().Draw(t, "status"), Obeyed: rapid.Int64().Draw(t, "obeyed"),
			RetryAfter: text.Draw(t, "retry"), Date: text.Draw(t, "date"), Headers: text.Draw(t, "headers"), Err: text.Draw(t, "err"),
		}
	})
}

func marks() *rapid.Generator[results.Mark] {
	kinds := rapid.SampledFrom([]results.MarkKind{results.MarkPhase, results.MarkStall, results.MarkMiss})
	return rapid.Custom(func(t *rapid.T) results.Mark {
		return results.Mark{
			At: rapid.Int64Min(0).Draw(t, "at"), To: rapid.Int64().Draw(t, "to"), Kind: kinds.Draw(t, "kind"),
			Size: rapid.Int64().Draw(t, "size"), Seq: rapid.Int64().Draw(t, "seq"), Text: rapid.String().Draw(t, "text"),
		}
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		blocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) results.Block {
			return results.Block{Hits: rapid.SliceOfN(hits(), 0, 30).Draw(t, "hits"), Marks: rapid.SliceOfN(marks(), 0, 3).Draw(t, "marks")}
		}), 0, 6).Draw(rt, "blocks")
		low := int64(math.MaxInt64)
		for i := range slices.Backward(blocks) {
			blocks[i].Low = rapid.Int64Range(0, low).Draw(rt, "low")
			for _, h := range blocks[i].Hits {
				low = min(low, h.Sent)
			}
			for _, m := range blocks[i].Marks {
				low = min(low, m.At)
			}
		}
		c, dir := newClock(), filepath.Join(t.TempDir(), "a", "run")
		w := mustCreate(t, dir, world{now: c.now, create: createFile})
		var wantHits []results.Hit
		var wantMarks []results.Mark
		for _, b := range blocks {
			mustWrite(t, w, b)
			wantHits, wantMarks = append(wantHits, b.Hits...), append(wantMarks, b.Marks...)
			c.at = c.at.Add(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
		}
		mustClose(t, w)
		got := readAll(t, dir)
		equalHits(t, got.hits, wantHits)
		if !slices.Equal(got.marks, wantMarks) {
			rt.Errorf("got marks %+v, want %+v", got.marks, wantMarks)
		}
		if len(got.damage) > 0 {
			rt.Errorf("got damage %v, want none", got.damage)
		}
	})
}

// TestBytesThatAreNotText: a header may hold any byte, a column of strings not.
func TestBytesThatAreNotText(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir, still())
	mustWrite(t, w, results.Block{Hits: []results.Hit{{RetryAfter: "1\xff é\xc3"}}})
	mustClose(t, w)
	if got, want := readAll(t, dir).hits[0].RetryAfter, `1\xff é\xc3`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPartsByCount: parts end at 100,000 hits wherever the blocks end, and the
// Low of a part that ends inside a block is that of the block before.
func TestPartsByCount(t *testing.T) {
	all := make([]results.Hit, 250_001)
	for i := range all {
		all[i] = results.Hit{Seq: int64(i), Sent: int64(i), First: results.Never, Done: int64(i + 3)}
	}
	for _, size := range []int{8192, 250_001} {
		dir := t.TempDir()
		w := mustCreate(t, dir, still())
		mustWrite(t, w, cut(all, size)...)
		if got, want := w.Saved(), int64(200_000); got != want {
			t.Errorf("blocks of %d: got %d hits saved before Close, want %d", size, got, want)
		}
		mustClose(t, w)
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, p := range run.parts {
			got = append(got, p.hits)
		}
		if want := []int64{100_000, 100_000, 50_001}; !slices.Equal(got, want) {
			t.Errorf("blocks of %d: got parts of %v, want %v", size, got, want)
		}
		equalHits(t, readAll(t, dir).hits, all)
	}
}

func TestPartsByAge(t *testing.T) {
	one := results.Block{Hits: steady(1)}
	tests := []struct {
		name   string
		pause  time.Duration
		block  results.Block
		writes int
		want   int // parts closed by then
	}{
		{"young", 999 * time.Millisecond, one, 1, 0},
		{"a second old", time.Second, one, 1, 1},
		{"closed by a block without hits", time.Second, results.Block{}, 1, 1},
		{"each second, 400 ms apart: at 1.2 s and, opened at 1.6 s, at 2.8 s", 400 * time.Millisecond, one, 7, 2},
		{"nothing new to save", time.Hour, results.Block{}, 5, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, dir := newClock(), t.TempDir()
			w := mustCreate(t, dir, world{now: c.now, create: createFile})
			mustWrite(t, w, one)
			for range tt.writes {
				c.at = c.at.Add(tt.pause)
				mustWrite(t, w, tt.block)
			}
			if got := len(partFiles(t, dir)); got != tt.want {
				t.Errorf("got %d parts, want %d", got, tt.want)
			}
		})
	}
}

// TestMarksByAge: marks reach the disk every second although nothing is answered.
func TestMarksByAge(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	w := mustCreate(t, dir, world{now: c.now, create: createFile})
	mustWrite(t, w, results.Block{Marks: []results.Mark{{At: 5, To: 6, Kind: results.MarkStall}}})
	c.at = c.at.Add(time.Second)
	mustWrite(t, w, results.Block{})
	if got := readAll(t, dir).marks; len(got) != 1 || got[0].At != 5 {
		t.Errorf("got %v, want the mark of 5 ns", got)
	}
}

func TestCreateRefusesARun(t *testing.T) {
	for _, left := range []string{manifestName, timelineName, marksName} {
		dir := t.TempDir()
		w := mustCreate(t, dir, still())
		mustClose(t, w)
		for _, name := range []string{manifestName, timelineName, marksName} {
			if name != left {
				os.RemoveAll(filepath.Join(dir, name))
			}
		}
		if _, err := Create(dir, Manifest{}); err == nil || !strings.Contains(err.Error(), "already holds a run") {
			t.Errorf("with %s left: got %v, want a refusal", left, err)
		}
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644)
	if _, err := Create(dir, Manifest{}); err != nil {
		t.Errorf("beside other files: got %v, want no error", err)
	}
}

func TestWriteBehindClose(t *testing.T) {
	w := mustCreate(t, t.TempDir(), still())
	mustClose(t, w)
	if err := w.Write(results.Block{Hits: steady(1)}); !errors.Is(err, errClosed) {
		t.Errorf("got %v, want %v", err, errClosed)
	}
}

func TestManifestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	m := Manifest{
		Tool: "v1.2.3", Started: time.Unix(1_762_937_999, 123).UTC(), Scenario: "limits:\n  - rate: 5/s # <= b + rT\n", Seed: math.MaxUint64,
		Nonce: "n", URL: "http://127.0.0.1:1/", Phases: []string{"warm", "burst"}, OS: "linux", Arch: "amd64", GoVersion: "go1.26", CPUs: 2,
		TickNS: 100, WSL: true, Keys: []string{"key 1"},
	}
	w, err := Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	m.Run = results.Run{Planned: 3, Sent: 1, Missed: 1, InFlight: 1, LastedNS: 7, Stopped: "interrupted"}
	mustWrite(t, w, results.Block{Hits: steady(2), Marks: []results.Mark{{}, {}, {}}})
	if err := w.Close(m); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Version, m.Ended, m.Parts, m.Hits, m.MarkLines = 1, true, 1, 2, 3
	got := run.Manifest
	if !slices.Equal(got.Phases, m.Phases) {
		t.Errorf("got phases %v, want %v", got.Phases, m.Phases)
	}
	got.Phases, m.Phases = nil, nil
	if a, b := manifestText(t, got), manifestText(t, m); a != b {
		t.Errorf("got %s, want %s", a, b)
	}
}

func manifestText(t *testing.T, m Manifest) string {
	t.Helper()
	dir := t.TempDir()
	if err := m.save(dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
