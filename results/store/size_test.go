package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/ratehammer/ratehammer/results"
)

// writeSteady writes hits as a run at 5,000 a second does: a block every 100
// ms, a part every second.
func writeSteady(t testing.TB, dir string, hits []results.Hit) *Writer {
	t.Helper()
	c := newClock()
	w := mustCreate(t, dir, world{now: c.now, create: createFile})
	for _, b := range cut(hits, 500) {
		mustWrite(t, w, b)
		c.at = c.at.Add(100 * time.Millisecond)
	}
	return w
}

func timelineSize(t testing.TB, dir string) int64 {
	t.Helper()
	var n int64
	for _, name := range partFiles(t, dir) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// TestBytesPerHit: 40 s at 5,000 a second with every header. BenchmarkWrite has
// the figure of a longer run.
func TestBytesPerHit(t *testing.T) {
	all := steady(200_000)
	dir := t.TempDir()
	mustClose(t, writeSteady(t, dir, all))
	got := float64(timelineSize(t, dir)) / float64(len(all))
	t.Logf("%.2f bytes a hit in %d parts", got, len(partFiles(t, dir)))
	if got > 20 {
		t.Errorf("got %.2f bytes a hit, want at most 20", got)
	}
	equalHits(t, readAll(t, dir).hits, all)
}

// TestMemoryOfWriter: with texts of which no two are alike, nothing of a run is
// kept that has left the buffers.
func TestMemoryOfWriter(t *testing.T) {
	w := mustCreate(t, t.TempDir(), still())
	long := strings.Repeat("y", 1000)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := heap(), int64(0)
	for i := range 150 {
		block := results.Block{Hits: steady(1000), Marks: []results.Mark{{Text: long}}}
		for j := range block.Hits {
			block.Hits[j].Headers = strings.Repeat(string(rune('a'+j%26)), 900) + grouped(int64(i*1000+j))
		}
		mustWrite(t, w, block)
		if i%10 == 9 {
			most = max(most, heap()-before)
		}
	}
	mustClose(t, w)
	// 150,000 hits carry 140 MB of text; a row group ends at 16 MiB of it.
	t.Logf("%d MiB of heap at most", most>>20)
	if most > 100<<20 {
		t.Errorf("got %d MiB of heap, want at most 100", most>>20)
	}
}

// TestColumns pins what other tools see, in the second file and the second row
// group as in the first.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir, still())
	hits := make([]results.Hit, partHits+3)
	for i := range hits {
		hits[i] = results.Hit{Seq: int64(i), Sent: 77, First: 78, Done: 79}
	}
	hits[500].Headers = strings.Repeat("h", groupText)
	hits[partHits].Headers = strings.Repeat("i", groupText)
	mustWrite(t, w, results.Block{Hits: hits[:partHits], Low: 66}, results.Block{Hits: hits[partHits : partHits+1], Low: 66}, results.Block{Hits: hits[partHits+1:], Low: 77})
	mustClose(t, w)
	for i, want := range []struct {
		low    string
		groups int
	}{{"66", 2}, {"77", 2}} {
		f, err := os.Open(filepath.Join(dir, "timeline", fmt.Sprintf("part-00000%d.parquet", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		p, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Schema().String(); got != columnsWanted {
			t.Errorf("part %d: got %s, want %s", i+1, got, columnsWanted)
		}
		if low, _ := p.Lookup("ratehammer.low_ns"); low != want.low {
			t.Errorf("part %d: got Low %q, want %s", i+1, low, want.low)
		}
		if got := len(p.RowGroups()); got != want.groups {
			t.Errorf("part %d: got %d row groups, want %d", i+1, got, want.groups)
		}
		checkPaths(t, p)
	}
	equalHits(t, readAll(t, dir).hits, hits)
}

// checkPaths demands that each column chunk carries the name of its column: the
// schema alone is not what every tool looks columns up by.
func checkPaths(t *testing.T, p *parquet.File) {
	t.Helper()
	for i, group := range p.Metadata().RowGroups {
		for j, column := range p.Schema().Columns() {
			if got := group.Columns[j].MetaData.PathInSchema; !slices.Equal(got, column) {
				t.Errorf("row group %d, column %d: got the name %q, want %q", i, j, got, column)
			}
		}
	}
}

const columnsWanted = `message row {
	required int64 seq (INT(64,true));
	required int32 phase (INT(32,true));
	required int32 conn (INT(32,true));
	required binary key (STRING);
	required binary peer (STRING);
	required int64 cost (INT(64,true));
	required int64 planned_ns (INT(64,true));
	required int64 sent_ns (INT(64,true));
	optional int64 first_ns (INT(64,true));
	required int64 done_ns (INT(64,true));
	required boolean fresh;
	required binary outcome (STRING);
	required int32 status (INT(32,true));
	required int64 obeyed (INT(64,true));
	optional binary retry_after (STRING);
	optional binary date (STRING);
	optional binary headers (STRING);
	optional binary err (STRING);
}`

// TestNulls: what is absent is null to other tools, and 0 is not absent.
func TestNulls(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir, still())
	mustWrite(t, w, results.Block{Hits: []results.Hit{{First: results.Never}, {First: 0, RetryAfter: "1"}}})
	mustClose(t, w)
	rows, err := parquet.ReadFile[struct {
		First      *int64  `parquet:"first_ns,optional"`
		RetryAfter *string `parquet:"retry_after,optional"`
	}](partFiles(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0]; r.First != nil || r.RetryAfter != nil {
		t.Errorf("got %+v, want nulls for no answer", r)
	}
	if r := rows[1]; r.First == nil || *r.First != 0 || r.RetryAfter == nil || *r.RetryAfter != "1" {
		t.Errorf("got %+v, want 0 and 1", r)
	}
}

func BenchmarkWrite(b *testing.B) {
	all := steady(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		b.StartTimer()
		mustClose(b, writeSteady(b, dir, all))
		b.StopTimer()
		b.ReportMetric(float64(timelineSize(b, dir))/float64(len(all)), "bytes/hit")
		b.StartTimer()
	}
	perHit(b, len(all))
}

func BenchmarkRead(b *testing.B) {
	all := steady(1_000_000)
	dir := b.TempDir()
	mustClose(b, writeSteady(b, dir, all))
	b.ReportAllocs()
	for b.Loop() {
		run, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for block, err := range run.Blocks() {
			if err != nil {
				b.Fatal(err)
			}
			n += len(block.Hits)
		}
		if n != len(all) {
			b.Fatalf("got %d hits, want %d", n, len(all))
		}
	}
	perHit(b, len(all))
}

func perHit(b *testing.B, hits int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(hits), "ns/hit")
}
