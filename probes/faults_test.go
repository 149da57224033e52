package probes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// hostile is a server that does to each request what a server should not, by chance.
func hostile(t *testing.T, seed uint64) string {
	return listenRaw(t, func(c net.Conn, in *bufio.Reader) {
		defer c.Close()
		rng := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano())))
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if !mistreat(c, rng) {
				return
			}
		}
	})
}

// mistreat answers a request, and is false where the connection is of no use any more.
func mistreat(c net.Conn, rng *rand.Rand) bool {
	const fine = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	switch rng.IntN(16) {
	case 0: // a reset
		_ = c.(*net.TCPConn).SetLinger(0)
		return false
	case 1: // half closed before the answer
		_ = c.(*net.TCPConn).CloseWrite()
		time.Sleep(5 * time.Millisecond)
		return false
	case 2: // nothing, until the client gives up
		_, _ = io.Copy(io.Discard, c)
		return false
	case 3: // cut off in the head
		fmt.Fprint(c, fine[:1+rng.IntN(30)])
		return false
	case 4: // cut off in the body
		fmt.Fprint(c, fine[:len(fine)-1-rng.IntN(4)])
		return false
	case 5: // byte for byte
		for _, b := range []byte(fine) {
			_, _ = c.Write([]byte{b})
			time.Sleep(50 * time.Microsecond)
		}
	case 6: // no HTTP
		fmt.Fprint(c, "\x16\x03\x01 what is this")
		return false
	case 7: // more than was asked for
		fmt.Fprint(c, fine+fine)
	case 8: // half closed behind the answer
		fmt.Fprint(c, fine)
		_ = c.(*net.TCPConn).CloseWrite()
		return false
	case 9:
		fmt.Fprint(c, "HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\nuntil the end")
		return false
	case 10:
		fmt.Fprint(c, "HTTP/1.1 429 Too Many\r\nRetry-After: 0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
	default:
		fmt.Fprint(c, fine)
	}
	return true
}

// erratic is a plan of all kinds of phases, by chance.
func erratic(t *testing.T, rng *rand.Rand) scenarios.Plan {
	start := func() *time.Duration { d := time.Duration(rng.IntN(60)) * time.Millisecond; return &d }
	var phases []scenarios.Phase
	for i := range 1 + rng.IntN(4) {
		p := pace(fmt.Sprintf("p%d", i), 1+rng.IntN(40), int64(50+rng.IntN(800)))
		if rng.IntN(2) == 0 {
			p = volley(p.Name, 1+rng.IntN(30))
			p.Rest, p.Held = 0, rng.IntN(2) == 0
		}
		p.At, p.Apart = start(), rng.IntN(4) == 0
		p.Keys.Fresh = 1 + rng.IntN(3)
		p.Retry = []scenarios.Retry{scenarios.RetryNone, scenarios.RetryObey, scenarios.RetryIgnore, scenarios.RetryGiveUp}[rng.IntN(4)]
		if p.Volley > 0 && p.Retry == scenarios.RetryGiveUp {
			p.Retry = scenarios.RetryNone
		}
		if rng.IntN(5) == 0 && !p.Apart {
			p.Vary = scenarios.Vary{Part: scenarios.PartConnection, Connections: 1 + rng.IntN(3)}
		}
		phases = append(phases, p)
	}
	return layOut(t, phases...)
}

// Whatever servers do, and whenever a run is stopped: each shot that came due is on
// record once, as sent or as missed.
func TestEveryShotIsAccountedFor(t *testing.T) {
	log.SetOutput(io.Discard) // net/http logs what it was not asked for
	defer log.SetOutput(os.Stderr)
	runs := 8
	if n, err := strconv.Atoi(os.Getenv("HAMMER_RUNS")); err == nil {
		runs = n
	}
	eachPath(t, func(t *testing.T, path Path) {
		if path == PathFull {
			runs = min(runs, 100) // it is the same for long; the fast path is what is new
		}
		for n := range runs {
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			g, err := Aim(t.Context(), Target{URL: hostile(t, uint64(n)), Path: path, Key: keyOf(t, "header:X-Api-Key"),
				Answers: scenarios.DefaultAnswers(), Timeout: 100 * time.Millisecond, Nonce: "n"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			if rng.IntN(3) == 0 {
				time.AfterFunc(time.Duration(rng.IntN(150))*time.Millisecond, cancel)
			}
			k := &keep{t: t}
			plan := erratic(t, rng)
			run, err := g.Fire(ctx, plan, scenarios.Slack{}, 0, k, &Progress{})
			cancel()
			g.Close()
			if err != nil {
				t.Fatal(err)
			}
			account(t, run, k)
			once(t, plan, k, run.Stopped != "", path == PathFull)
			if t.Failed() {
				t.Fatalf("run %d: %+v", n, run)
			}
		}
	})
}

// once checks that each shot of the plan is on record once, of a run that was stopped
// each that came due, and that stamps are in order. A volley that is kept back may be let
// go before its moment by the full path when a run is stopped, since it cannot take back
// what it has handed over.
func once(t *testing.T, plan scenarios.Plan, k *keep, stopped, full bool) {
	t.Helper()
	hasty := stopped && full
	seen, early := map[int64]int{}, map[int64]bool{}
	for _, h := range k.hits {
		seen[h.Seq]++
		early[h.Seq] = h.Sent < h.Planned
		if h.Conn != 0 && h.Sent < h.Planned && !hasty || h.Done < h.Sent || h.Answered() && (h.First < h.Sent || h.Done < h.First) {
			t.Errorf("request %d: planned %d, sent %d, first %d, done %d", h.Seq, h.Planned, h.Sent, h.First, h.Done)
		}
		if h.Answered() != (h.Status != 0) || !h.Answered() && h.Err == "" {
			t.Errorf("request %d: status %d, first %d, %q", h.Seq, h.Status, h.First, h.Err)
		}
	}
	for _, m := range k.mark {
		if m.Kind == results.MarkMiss {
			seen[m.Seq]++
		}
	}
	due := int64(0) // the latest moment of which anything is on record
	for s := range plan.Shots.All() {
		if seen[s.Seq] > 0 && !early[s.Seq] {
			due = max(due, s.At)
		}
	}
	for s := range plan.Shots.All() {
		undue := stopped && s.At >= due // it had not come due when firing ended, and is neither sent nor missed
		if n := seen[s.Seq]; n > 1 || n == 0 && s.Retry != scenarios.RetryGiveUp && !undue {
			t.Errorf("shot %d is on record %d times", s.Seq, n)
		}
	}
}
