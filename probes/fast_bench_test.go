package probes

import (
	"bufio"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// drop is a sink that counts.
type drop struct{ n int }

func (d *drop) Block(b results.Block) error {
	d.n += len(b.Hits)
	return nil
}

// plainAnswers is a server that answers without looking, and costs no memory.
func plainAnswers(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in, answer := bufio.NewReader(c), []byte("HTTP/1.1 200 OK\r\nDate: Tue, 01 Dec 2026 14:00:00 GMT\r\nX-RateLimit-Remaining: 3\r\nContent-Length: 0\r\n\r\n")
				buf := make([]byte, 4096)
				for {
					if _, err := in.Read(buf); err != nil {
						return
					}
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// saturated is one closed loop, and what it took of the heap for each request.
func saturated(t testing.TB, path Path, length time.Duration) (run results.Run, allocated, bytes float64) {
	g, err := Aim(t.Context(), Target{URL: plainAnswers(t), Path: path, Nonce: "n"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run, err = g.Saturate(t.Context(), Saturation{Key: "a", Connections: 16, For: length}, &drop{}, &Progress{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	n := float64(max(run.Sent, 1))
	return run, float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n
}

// In a closed loop nothing is planned and everything on record, and a request costs the
// memory of its hit, which is allocated by the block.
func TestSaturate(t *testing.T) {
	run, allocated, bytes := saturated(t, PathFast, 300*time.Millisecond)
	if run.Sent < 100 || run.Planned != run.Sent+run.Missed+run.InFlight || run.Unknown != 0 {
		t.Errorf("got %+v", run)
	}
	if run.Sent > 2000 && allocated > 0.5 { // what is set up is shared out among all
		t.Errorf("%.2f allocations and %.0f bytes a request", allocated, bytes)
	}
}

func BenchmarkSaturate(b *testing.B) {
	for _, path := range []Path{PathFast, PathPortable} {
		b.Run(path.String(), func(b *testing.B) {
			for b.Loop() {
				run, allocated, bytes := saturated(b, path, time.Second)
				b.ReportMetric(allocated, "allocs/request")
				b.ReportMetric(bytes, "B/request")
				b.ReportMetric(float64(run.Sent), "requests/s")
			}
		})
	}
}
