package server

import (
	"net/http"
	"testing"
)

func BenchmarkAdmitted(b *testing.B) { benchmark(b, "token-bucket{burst=1000000000,rate=1000000/s}") }

func BenchmarkLimited(b *testing.B) { benchmark(b, "token-bucket{burst=1,rate=1/366d}") }

// benchmark measures the handler without net/http around it.
func benchmark(b *testing.B, limit string) {
	s, err := Start(byHeader(b, limit))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	req := request("GET", "/", "a", "")
	req.Body = http.NoBody
	b.ReportAllocs()
	for b.Loop() {
		s.handle(&discard{header: http.Header{}}, req)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
