package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
)

// How large a run is written and judged, and how often one is killed; make large asks
// for 5,000,000 requests and 20 kills.
const (
	largeHits  = "HAMMER_LARGE"
	largeKills = "HAMMER_KILLS"
	// largeInto makes the test binary write a record into that folder and end.
	largeInto = "HAMMER_LARGE_INTO"
)

func asked(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

const largeScenario = `limit: {burst: 50, rate: 100/s}
phases: [{name: load, pace: 200/s, count: 1, keys: 100}]
`

// writeLarge writes a record as one of 100 clients that ask for twice what they may,
// as blocks come from the recorder: 4,096 hits, a block every fifth of a second.
func writeLarge(dir string, n int) error {
	m := store.Manifest{Scenario: largeScenario, Nonce: "n", Phases: []string{"load"}, Seed: 1}
	w, err := store.Create(dir, m)
	if err != nil {
		return err
	}
	const gap = 50_000 // nanoseconds between requests: 20,000 a second
	const token, most = 10_000_000, 50 * 10_000_000
	levels, last := [100]int64{}, [100]int64{}
	for i := range levels {
		levels[i] = most
	}
	block := results.Block{}
	for i := range n {
		k := i % 100
		at := int64(i) * gap
		levels[k] = min(most, levels[k]+at-last[k])
		last[k] = at
		h := results.Hit{Seq: int64(i + 1), Conn: int32(k + 1), Key: fmt.Sprintf("load/%d", k+1), Peer: "127.0.0.1:8080", Cost: 1,
			Planned: at - 40_000, Sent: at - 30_000, First: at + 200_000, Done: at + 210_000 + int64(i%7),
			Outcome: results.Limited, Status: 429, RetryAfter: "1", Date: "Sun, 01 Mar 2026 12:00:00 GMT"}
		if levels[k] >= token {
			levels[k] -= token
			h.Outcome, h.Status, h.RetryAfter = results.Admitted, 200, ""
		}
		m.Run.Add(h.Outcome)
		block.Hits = append(block.Hits, h)
		if len(block.Hits) == 4096 || i == n-1 {
			block.Low = at - 30_000
			if err := w.Write(block); err != nil {
				return err
			}
			block.Hits = block.Hits[:0]
		}
	}
	m.Run.Planned, m.Run.Sent, m.Run.LastedNS = int64(n), int64(n), int64(n)*gap
	return w.Close(m)
}
