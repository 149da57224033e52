package store

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// visit counts one visit of key at now.
func visit(t *Table[int], key string, now int64) (before int) {
	t.Update(key, func(old int, _ bool) (int, int64, bool) {
		before = old
		return old + 1, now, true
	})
	return before
}

func TestUpdate(t *testing.T) {
	table := New[int](nil)
	table.Update("a", func(old int, known bool) (int, int64, bool) {
		if old != 0 || known {
			t.Errorf("first update: got %d, %v, want 0, false", old, known)
		}
		return 7, 0, true
	})
	table.Update("a", func(old int, known bool) (int, int64, bool) {
		if old != 7 || !known {
			t.Errorf("second update: got %d, %v, want 7, true", old, known)
		}
		return 8, 0, false
	})
	if got := visit(table, "a", 0); got != 7 {
		t.Errorf("after an update that was not kept: got %d, want 7", got)
	}
	table.Update("b", func(int, bool) (int, int64, bool) { return 1, 0, false })
	if got := table.Len(); got != 1 {
		t.Errorf("Len after a new key was not kept: got %d, want 1", got)
	}
}

// While nothing may be forgotten, the table is a map, however often the sweep
// has gone round, and wherever it stands in a shard of many keys.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(1, 3000).Draw(t, "keys")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		table := New(func(int, int64) bool { return false })
		model := map[string]int{}
		for range 6000 {
			key := fmt.Sprint(random.IntN(keys))
			if got := visit(table, key, 0); got != model[key] {
				t.Fatalf("key %s: got %d visits, want %d", key, got, model[key])
			}
			model[key]++
		}
		if got, want := table.Len(), len(model); got != want {
			t.Fatalf("Len: got %d, want %d", got, want)
		}
	})
}

// Read and write are one step: of 8 x 1000 concurrent visits none is lost,
// though the sweep moves the keys about all the time.
func TestUpdateIsAtomic(t *testing.T) {
	table := New(func(int, int64) bool { return false })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				visit(table, fmt.Sprint(i%10), 0)
			}
		})
	}
	wg.Wait()
	for i := range 10 {
		if got := visit(table, fmt.Sprint(i), 0); got != 800 {
			t.Errorf("key %d: got %d visits, want 800", i, got)
		}
	}
}

func TestPanicUnlocks(t *testing.T) {
	table := New[int](nil)
	func() {
		defer func() { _ = recover() }()
		table.Update("a", func(int, bool) (int, int64, bool) { panic("the algorithm failed") })
	}()
	if got := visit(table, "a", 0); got != 0 {
		t.Errorf("after a panic: got %d, want 0", got)
	}
}

// last is a state that may be forgotten from 100 on.
type last struct{ at int64 }

func touch(t *Table[*last], key string, now int64) {
	t.Update(key, func(*last, bool) (*last, int64, bool) { return &last{now}, now, true })
}

// A million distinct keys come and go (fewer under the race detector): while
// they come, no more are kept than are in use and not swept yet; then one busy
// key is enough for the sweep to forget all the others, and their memory comes
// back.
func TestMillionKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	keys := 1_000_000
	if raced {
		keys = 100_000
	}
	table := New(func(s *last, now int64) bool { return now-s.at >= 100 })
	empty := heap()
	for i := range keys {
		touch(table, fmt.Sprintf("client-%07d", i), 0)
	}
	if got := table.Len(); got != keys {
		t.Fatalf("Len while all are in use: got %d, want %d", got, keys)
	}
	full := heap()
	// Every key needs one look, and 32 updates make 64 as long as there is something to
	// forget. The shards take turns and the largest has the last key: of 100,000 keys
	// it holds 391 +- 20 (one sigma), so a quarter more is enough, and some for the
	// last ones of each.
	for range keys*5/8 + 32*shardCount {
		touch(table, "busy", 100)
	}
	if got := table.Len(); got != 1 {
		t.Errorf("Len after the sweep: got %d, want 1, the busy key", got)
	}
	swept := heap()
	if swept-empty > (full-empty)/20 {
		t.Errorf("heap: got %d bytes after the sweep, want less than 5%% of the %d at the peak", swept-empty, full-empty)
	}
	t.Logf("bytes a key: %d", (full-empty)/int64(keys))
	runtime.KeepAlive(table)
}

// A stream of new keys, each in use for 100 updates, leaves the table small.
func TestStreamOfKeysStaysSmall(t *testing.T) {
	table := New(func(s *last, now int64) bool { return now-s.at >= 100 })
	most := 0
	for i := range int64(100_000) {
		touch(table, fmt.Sprint(i), i)
		if i%1000 == 0 {
			most = max(most, table.Len())
		}
	}
	// 100 are in use. A round of the sweep over n keys takes n/2 updates, in which n/2
	// come: n = 100 + n/2, so 200, and what waits for its round: a shard is looked at
	// after 1.9 of its updates.
	if most > 800 {
		t.Errorf("most keys at once: got %d, want at most 800", most)
	}
	t.Logf("most keys at once: %d", most)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkUpdate(b *testing.B) {
	table := New(func(s *last, now int64) bool { return now-s.at >= 100 })
	s := &last{}
	b.ReportAllocs()
	for i := range int64(b.N) {
		table.Update("key", func(*last, bool) (*last, int64, bool) { return s, i, true })
	}
}

func BenchmarkUpdateDistinct(b *testing.B) {
	table := New(func(s *last, now int64) bool { return now-s.at >= 1000 })
	names := make([]string, 1<<16)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range int64(b.N) {
		touch(table, names[i%int64(len(names))], i)
	}
}
