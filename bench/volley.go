//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
)

// volley prints within what time the requests of a volley have come, by the kernel's
// stamps of their last bytes.
func (b *bench) volley() {
	const size, streams = 200, 100
	fmt.Printf("\n%d requests on %d connections, kept back at their ends and let go together: us from the first to the last\n", size, size)
	for _, path := range []string{"fast", "portable", "full"} {
		b.spread(path, size)
	}
	server, url, err := listenStreams()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: volley:", err)
		return
	}
	over := bench{server: server, url: url, rounds: b.rounds}
	fmt.Printf("\n%d streams of HTTP/2 on one connection, kept back and let go in one write\n", streams)
	over.spread("h2c", streams)
}

// spread fires volleys over a path.
func (b *bench) spread(path string, size int) {
	const times = 4
	var spans []float64
	for range b.rounds * times {
		_, at, n, err := b.run(self(b.url, path, "volley", strconv.Itoa(size), "0s"), "0,1", true)
		if err != nil || n < int64(size) {
			fmt.Fprintln(os.Stderr, "bench: volley:", n, err)
			continue
		}
		spans = append(spans, float64(at[len(at)-1]-at[0])/1e3)
	}
	fmt.Printf("hammer %-11s median %8.0f   least %8.0f   of %d\n", path, median(spans), least(spans), len(spans))
}

func least(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	m := v[0]
	for _, x := range v {
		m = min(m, x)
	}
	return m
}
