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
	const size, times = 200, 4
	fmt.Printf("\n%d requests on %d connections, kept back at their ends and let go together: us from the first to the last\n", size, size)
	for _, path := range []string{"fast", "portable", "full"} {
		var spans []float64
		for range b.rounds * times {
			_, at, n, err := b.run(self(b.url, path, "volley", strconv.Itoa(size), "0s"), "0,1", true)
			if err != nil || n < size {
				fmt.Fprintln(os.Stderr, "bench: volley:", n, err)
				continue
			}
			spans = append(spans, float64(at[len(at)-1]-at[0])/1e3)
		}
		fmt.Printf("hammer %-11s median %8.0f   least %8.0f   of %d\n", path, median(spans), least(spans), len(spans))
	}
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
