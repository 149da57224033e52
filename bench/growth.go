//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// spreadRate is the requests a second of all keys together while growth is measured.
const spreadRate = 10_000

// growth prints what a request costs, and how late it is, with more and more keys, which
// share connections, and with more and more connections, one a key.
func (b *bench) growth() {
	_ = os.Setenv(saidFile, filepath.Join(os.TempDir(), "bench-"+strconv.Itoa(os.Getpid())+".said"))
	type row struct {
		name string
		keys int
		own  bool
	}
	rows := []row{{"1 key", 1, false}, {"1,000 keys", 1_000, false}, {"100,000 keys", 100_000, false},
		{"1 connection", 1, true}, {"100 connections", 100, true}, {"10,000 connections", 10_000, true}}
	got := map[string][][]float64{}
	for range b.rounds {
		for _, r := range rows {
			args := self(b.url, "fast", "grow", strconv.Itoa(spreadRate), b.length.String(), strconv.Itoa(r.keys), strconv.FormatBool(r.own))
			cpu, at, n, err := b.run(args, "0,1", true)
			if err != nil || n == 0 {
				fmt.Fprintln(os.Stderr, "bench: growth:", r.name, n, err)
				continue
			}
			told := b.said("hammer")
			e := even(at, spreadRate, told)
			got[r.name] = append(got[r.name], []float64{float64(cpu) / 1e3 / float64(n), float64(ownAt(told, 50)) / 1e3, float64(ownAt(told, 99)) / 1e3, e.achieved})
		}
	}
	fmt.Printf("\nGrowth at %d/s for %v, fast path, both cores shared with the server\n%-20s %12s %12s %12s %12s\n", spreadRate, b.length, "", "CPU us", "late p50", "late p99", "achieved/s")
	for _, r := range rows {
		fmt.Printf("%-20s", r.name)
		for col := range 4 {
			var v []float64
			for _, g := range got[r.name] {
				v = append(v, g[col])
			}
			fmt.Printf(" %12.1f", median(v))
		}
		fmt.Println()
	}
	fmt.Println("(CPU: of the generator for each request, its start, its keys and its connections with it; late: us, as hammer reports it)")
}

// spread is a plan of one rate on many keys, each with a connection of its own or not.
func spread(rate int, length time.Duration, keys int, own bool) scenarios.Plan {
	total := float64(rate) * length.Seconds()
	p := scenarios.Phase{Name: "spread", Rest: time.Second, Keys: scenarios.Keys{Fresh: keys}, Count: max(1, int(total)/keys),
		Pace: scenarios.Rate{Count: int64(rate), Per: time.Duration(keys) * time.Second}, Every: time.Second / time.Duration(rate)}
	if own {
		p.Vary = scenarios.Vary{Part: scenarios.PartConnection, Connections: 1}
	}
	return lay(p)
}
