package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/ratehammer/ratehammer/results"
)

// fiveParts writes a run of five parts of 300 hits, each with one mark, and
// gives its folder and its blocks.
func fiveParts(t testing.TB) (string, []results.Block) {
	t.Helper()
	c, dir := newClock(), t.TempDir()
	w := mustCreate(t, dir, world{now: c.now, create: createFile})
	blocks := cut(steady(1500), 300)
	for i := range blocks {
		at := blocks[i].Hits[299].Sent
		blocks[i].Marks = []results.Mark{{At: at, To: at, Kind: results.MarkMiss, Seq: int64(i)}}
		c.at = c.at.Add(time.Second)
		mustWrite(t, w, blocks[i])
		c.at = c.at.Add(time.Second)
		mustWrite(t, w, results.Block{Low: blocks[i].Low})
	}
	mustClose(t, w)
	if got := len(partFiles(t, dir)); got != 5 {
		t.Fatalf("got %d parts, want 5", got)
	}
	return dir, blocks
}

func cutInHalf(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0xff
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedParts: what is left is delivered, and each hole reaches from the
// Low in front of it to the last end of the part behind it.
func TestDamagedParts(t *testing.T) {
	type hole struct {
		file, text string
		after      int // parts in front of it
		before     int // part behind it; 0: none
	}
	tests := []struct {
		name string
		harm func(t *testing.T, parts []string)
		lost []int // parts, from 1
		want []hole
	}{
		{"cut in half", func(t *testing.T, p []string) { cutInHalf(t, p[2]) }, []int{3},
			[]hole{{"timeline/part-000003.parquet", "is damaged", 2, 4}}},
		{"empty", func(t *testing.T, p []string) { os.Truncate(p[0], 0) }, []int{1},
			[]hole{{"timeline/part-000001.parquet", "is damaged", 0, 2}}},
		{"a byte of the data is wrong", func(t *testing.T, p []string) { flip(t, p[3], 100) }, []int{4},
			[]hole{{"timeline/part-000004.parquet", "is damaged", 3, 5}}},
		{"not Parquet", func(t *testing.T, p []string) { os.WriteFile(p[1], []byte("PAR1 hello PAR1"), 0o644) }, []int{2},
			[]hole{{"timeline/part-000002.parquet", "is damaged", 1, 3}}},
		{"one missing", func(t *testing.T, p []string) { os.Remove(p[1]) }, []int{2},
			[]hole{{"timeline/part-000002.parquet", "is missing", 1, 3}}},
		{"three missing, at the start", func(t *testing.T, p []string) { os.Remove(p[0]); os.Remove(p[1]); os.Remove(p[2]) }, []int{1, 2, 3},
			[]hole{{"timeline/part-000001.parquet to part-000003.parquet", "is missing", 0, 4}}},
		{"the last two missing", func(t *testing.T, p []string) { os.Remove(p[3]); os.Remove(p[4]) }, []int{4, 5},
			[]hole{{"timeline/part-000004.parquet to part-000005.parquet", "is missing", 3, 0}}},
		{"one missing before a cut one", func(t *testing.T, p []string) { os.Remove(p[1]); cutInHalf(t, p[2]) }, []int{2, 3},
			[]hole{{"timeline/part-000002.parquet", "is missing", 1, 4}, {"timeline/part-000003.parquet", "is damaged", 1, 4}}},
		{"the last one cut", func(t *testing.T, p []string) { cutInHalf(t, p[4]) }, []int{5},
			[]hole{{"timeline/part-000005.parquet", "is damaged", 4, 0}}},
		{"all missing", func(t *testing.T, p []string) { os.RemoveAll(filepath.Dir(p[0])) }, []int{1, 2, 3, 4, 5},
			[]hole{{"timeline/part-000001.parquet to part-000005.parquet", "is missing", 0, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, blocks := fiveParts(t)
			tt.harm(t, partFiles(t, dir))
			var want []results.Hit
			for i, b := range blocks {
				if !slices.Contains(tt.lost, i+1) {
					want = append(want, b.Hits...)
				}
			}
			got := readAll(t, dir)
			equalHits(t, got.hits, want)
			if len(got.marks) != 5 {
				t.Errorf("got %d marks, want all 5", len(got.marks))
			}
			if len(got.damage) != len(tt.want) {
				t.Fatalf("got %v, want %d holes", got.damage, len(tt.want))
			}
			for i, d := range got.damage {
				h := tt.want[i]
				from, to := int64(0), int64(results.Never)
				if h.after > 0 {
					from = blocks[h.after-1].Low
				}
				if h.before > 0 {
					to = 0
					for _, hit := range blocks[h.before-1].Hits {
						to = max(to, hit.Done)
					}
				}
				if d.File != h.file || !strings.Contains(d.Text, h.text) || d.From != from || d.To != to {
					t.Errorf("got %+v, want %s %s from %d to %d", d, h.file, h.text, from, to)
				}
			}
		})
	}
}

// TestPartChangesWhileRead: a part that is whole when the run is opened is cut
// before it is read, and another one while it is.
func TestPartChangesWhileRead(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir, still())
	all := steady(200_000)
	mustWrite(t, w, cut(all, 100_000)...)
	mustClose(t, w)
	for _, before := range []int{0, 1} {
		copied := copyRun(t, dir)
		run, err := Open(copied)
		if err != nil {
			t.Fatal(err)
		}
		blocks, hits := 0, 0
		for b, err := range run.Blocks() {
			if hits += len(b.Hits); err != nil {
				continue
			}
			if blocks++; blocks == before {
				os.Truncate(partFiles(t, copied)[0], 1000)
			}
			os.Truncate(partFiles(t, copied)[1], 1000)
		}
		d := run.Damage()
		if len(d) != 1+before || d[before].From != run.parts[0].low || d[before].To != results.Never {
			t.Errorf("got %v, want a hole for each part that was cut", d)
		}
		// 100,000 hits of the first part, or of its first blocks.
		if before == 0 && hits != 100_000 || before == 1 && (hits < blockMax || hits >= 100_000) {
			t.Errorf("got %d hits", hits)
		}
	}
}

// TestPartOfAnotherKind: a sealed Parquet file that has other columns.
func TestPartOfAnotherKind(t *testing.T) {
	dir, _ := fiveParts(t)
	f, err := os.Create(partFiles(t, dir)[1])
	if err != nil {
		t.Fatal(err)
	}
	s := &sealer{to: f}
	enc := parquet.NewGenericWriter[struct{ A int }](s, parquet.WriteBufferSize(0))
	enc.SetKeyValueMetadata(sealKey, sealMark+sealBlank)
	s.hold()
	if err := errors.Join(enc.Close(), s.finish(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if d := readAll(t, dir).damage; len(d) != 1 || !strings.Contains(d[0].Text, "columns") {
		t.Errorf("got %v, want that its columns are others", d)
	}
}

// TestEveryByteFlipped: one wrong bit anywhere in a part is noticed.
func TestEveryByteFlipped(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir, still())
	want := steady(20)
	want[3].Fresh = true
	mustWrite(t, w, results.Block{Hits: want, Low: 4_000_000})
	mustClose(t, w)
	path := partFiles(t, dir)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		b := slices.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, dir); len(got.damage) != 1 || len(got.hits) > 0 {
			t.Errorf("bit %d of byte %d of %d: got %d hits and damage %v, want none and the part", at%8, at, len(whole), len(got.hits), got.damage)
		}
	}
}

func TestDamagedMarks(t *testing.T) {
	tests := []struct {
		name  string
		harm  func(lines []string) string
		marks []int64 // Seq of those that are left
		text  string
		after int // parts in front of the hole
	}{
		{"the last line is cut", func(l []string) string { s := strings.Join(l, ""); return s[:len(s)-5] }, []int64{0, 1, 2, 3}, "line 5, the last one, is cut", 4},
		{"only the last newline is gone", func(l []string) string { return strings.TrimSpace(strings.Join(l, "")) }, []int64{0, 1, 2, 3, 4}, "", 0},
		{"a line is damaged", func(l []string) string { l[2] = "{\"at_ns\": x}\n"; return strings.Join(l, "") }, []int64{0, 1, 3, 4}, "line 3 is damaged", 2},
		{"lines are missing", func(l []string) string { return strings.Join(l[:2], "") }, []int64{0, 1}, "ends behind 2 of 3 marks", 2},
		{"empty", func([]string) string { return "" }, nil, "ends behind 0 of 1 marks", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, blocks := fiveParts(t)
			path := filepath.Join(dir, marksName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(path, []byte(tt.harm(slices.Collect(strings.Lines(string(b))))), 0o644)
			got := readAll(t, dir)
			var seqs []int64
			for _, m := range got.marks {
				seqs = append(seqs, m.Seq)
			}
			if !slices.Equal(seqs, tt.marks) {
				t.Errorf("got marks %v, want %v", seqs, tt.marks)
			}
			if len(got.hits) != 1500 {
				t.Errorf("got %d hits, want all 1500", len(got.hits))
			}
			if tt.text == "" {
				if len(got.damage) > 0 {
					t.Errorf("got %v, want no damage", got.damage)
				}
				return
			}
			from := int64(0)
			if tt.after > 0 {
				from = blocks[tt.after-1].Low
			}
			want := Damage{File: marksName, Text: tt.text, From: from, To: results.Never}
			if len(got.damage) != 1 || !strings.HasPrefix(got.damage[0].Text, tt.text) || got.damage[0].From != from || got.damage[0].To != results.Never {
				t.Errorf("got %+v, want %+v", got.damage, want)
			}
		})
	}
}

func TestMarksGone(t *testing.T) {
	dir, _ := fiveParts(t)
	os.Remove(filepath.Join(dir, marksName))
	if got := readAll(t, dir); len(got.hits) != 1500 || len(got.damage) != 1 || got.damage[0].File != marksName {
		t.Errorf("got %d hits and %v, want 1500 and one damage", len(got.hits), got.damage)
	}
}

func TestBlocksStopsWhenTold(t *testing.T) {
	dir, _ := fiveParts(t)
	cutInHalf(t, partFiles(t, dir)[1])
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 9; n++ {
		seen := 0
		for range run.Blocks() {
			if seen++; seen == n {
				break
			}
		}
		if seen != n {
			t.Errorf("got %d steps, want %d", seen, n)
		}
	}
}

// TestOpenErrors: the message says what is missing, and what is there.
func TestOpenErrors(t *testing.T) {
	tests := []struct {
		name string
		harm func(dir string)
		want []string
		none bool
	}{
		{"no such folder", func(dir string) { os.RemoveAll(dir) }, []string{"holds no run: manifest.json is missing"}, true},
		{"an empty folder", func(dir string) { os.RemoveAll(dir); os.Mkdir(dir, 0o755) }, []string{"holds no run: manifest.json is missing"}, true},
		{"no manifest", func(dir string) { os.Remove(filepath.Join(dir, manifestName)) },
			[]string{"manifest.json is missing", "timeline is there with 5 parts and 1,500 hits", "put it back"}, true},
		{"cut manifest", func(dir string) { os.Truncate(filepath.Join(dir, manifestName), 30) },
			[]string{"manifest.json is damaged", "5 parts and 1,500 hits"}, false},
		{"another JSON file", func(dir string) { os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"name":"web"}`), 0o644) },
			[]string{"gives no format version"}, false},
		{"a newer format", func(dir string) {
			os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"version":2,"tool":"v9"}`), 0o644)
		}, []string{"format 2", "reads up to 1", "hammer that wrote it (v9)"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := fiveParts(t)
			tt.harm(dir)
			_, err := Open(dir)
			if err == nil {
				t.Fatal("got no error")
			}
			t.Log(err)
			for _, want := range append(tt.want, dir) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
			if errors.Is(err, ErrNoRun) != tt.none {
				t.Errorf("got ErrNoRun %t, want %t", !tt.none, tt.none)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	dir, _ := fiveParts(t)
	if _, err := ReadVerdict(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is none", err)
	}
	for _, s := range []results.Status{results.Broken, results.Kept} {
		if err := SaveVerdict(dir, results.Verdict{Status: s, Headline: "12 <= 10 + 2"}); err != nil {
			t.Fatal(err)
		}
		b, err := ReadVerdict(dir)
		if err != nil || !strings.Contains(string(b), `"verdict": "`+s.String()+`"`) || !strings.Contains(string(b), "12 <= 10 + 2") {
			t.Errorf("got %s, %v, want %v", b, err, s)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(names) > 0 {
		t.Errorf("got %v left behind", names)
	}
}
