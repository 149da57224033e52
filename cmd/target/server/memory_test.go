//go:build !race

package server

import (
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// A million clients of whom each asks once: a key costs less than 256 bytes that
// cannot be collected, beside the truth, of which a record costs about 200.
func TestMemoryOfAMillionKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const keys = 1_000_000
	cfg := byHeader(t, "token-bucket{burst=10,rate=1/1h}")
	cfg.TruthKeep = 256 * 1024
	r := newRig(t, cfg)
	before := heapBytes()
	w := &discard{header: http.Header{}}
	req := request("GET", "/", "x", "")
	req.Body = http.NoBody
	for i := range keys {
		req.Header["X-Api-Key"] = []string{"client-number-" + strconv.Itoa(i)}
		clear(w.header)
		r.nodes[0].life().routes[0].handle(w, req)
	}
	grown := heapBytes() - before
	if n := r.nodes[0].life().backings[0].store.Len(); n != keys {
		t.Fatalf("got %d keys, want %d", n, keys)
	}
	ring := int64(r.cfg.TruthKeep) * int64(unsafe.Sizeof(truth.Record{})+32) // 32 for the key
	t.Logf("%.0f bytes a key, and %d a record", float64(grown-ring)/keys, ring/int64(r.cfg.TruthKeep))
	if bound := int64(keys*256) + ring; grown > bound {
		t.Errorf("got %d bytes, want at most %d", grown, bound)
	}
	runtime.KeepAlive(r)
}

// heap is what cannot be collected, in bytes.
func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
