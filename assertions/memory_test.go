package assertions

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// The judge holds what is in flight, what it knows of each key, and a sample of
// bounded size; a run that is ten times as long takes no more.
func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	l := promised(10, 50, time.Second)
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true, Wanted: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(1, l, time.Millisecond)
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
	}
	var heap [10]uint64
	at := int64(0)
	for tenth := range heap {
		for range 25 { // of 4,000 requests each, at 20,000 a second
			hits := make([]results.Hit, 4000)
			for i := range hits {
				at += 50_000
				h := &hits[i]
				*h = results.Hit{Seq: at, Key: keys[w.rng.IntN(100)], Cost: 1, Sent: at, First: at + w.way() + w.way(), Status: 429, Outcome: results.Limited, RetryAfter: "1"}
				if ok, _ := w.server.decide(h.Key, at, 1); ok {
					h.Status, h.Outcome, h.RetryAfter = 200, results.Admitted, ""
				}
				h.Done = h.First
			}
			j.Block(results.Block{Hits: hits, Low: at - int64(time.Second)})
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap[tenth] = m.HeapAlloc
	}
	t.Logf("heap after each 100,000 requests, in KiB: %v", kib(heap[:]))
	// The sample fills up within the first tenth.
	if last, first := heap[9], heap[1]; last > first+first/4 {
		t.Errorf("the heap grew from %d KiB after 200,000 requests to %d KiB after 1,000,000", first>>10, last>>10)
	}
}

func kib(bytes []uint64) (k []uint64) {
	for _, b := range bytes {
		k = append(k, b>>10)
	}
	return k
}
