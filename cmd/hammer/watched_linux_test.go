package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// What is shown and kept of a run costs CPU beside what firing costs: every way is fired
// in turns, and the medians are printed. Whichever it is, the pace is the same: what was
// not sent was missed, and a scrape is answered meanwhile.
func TestWhatWatchingCosts(t *testing.T) {
	rounds := asked("HAMMER_COST", 1)
	length := 500 * time.Millisecond
	if rounds > 1 {
		length = 4 * time.Second
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	took := map[string][]float64{}
	for round := range rounds {
		for _, as := range watchings {
			cpu, sent, missed := watchedIn(t, as, server.URL, filepath.Join(t.TempDir(), fmt.Sprint(round)), length)
			if planned := int64(length.Seconds() * 5000); sent+missed != planned || sent == 0 {
				t.Errorf("%s: %d sent and %d missed, want %d together", as, sent, missed, planned)
			}
			took[as] = append(took[as], cpu.Seconds()*1e6/float64(max(sent, 1)))
		}
	}
	median := func(as string) float64 { slices.Sort(took[as]); return took[as][len(took[as])/2] }
	bare := median("nothing")
	for _, as := range watchings {
		t.Logf("%-10s %6.2f us of CPU a request, %.3f of what firing alone takes (%d rounds)", as, median(as), median(as)/bare, rounds)
	}
}

// watchedIn fires in a process of its own, and gives the CPU that it took.
func watchedIn(t *testing.T, as, url, dir string, length time.Duration) (cpu time.Duration, sent, missed int64) {
	t.Helper()
	c := exec.Command(os.Args[0], url, dir, length.String())
	c.Env = append(os.Environ(), watchedAs+"="+as, "TERM=xterm", "LC_ALL=C.UTF-8")
	var out, talk strings.Builder
	c.Stdout, c.Stderr = &out, &talk
	if as == "live view" {
		c.Stderr = lab.Terminal(t, 80, 24)
	}
	var scrapes atomic.Int64
	done := make(chan struct{})
	if as == "prometheus" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		c.Env = append(c.Env, "HAMMER_SCRAPED="+address)
		go scrape("http://"+address+"/metrics", &scrapes, done)
	}
	err := c.Run()
	close(done)
	if err != nil {
		t.Fatalf("%s: %v\n%s", as, err, &talk)
	}
	if as == "prometheus" && scrapes.Load() == 0 {
		t.Errorf("no scrape was answered")
	}
	if _, err := fmt.Sscan(out.String(), &sent, &missed); err != nil {
		t.Fatalf("%s: %v in %q", as, err, &out)
	}
	u := c.ProcessState.SysUsage().(*syscall.Rusage)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), sent, missed
}

// scrape asks for the numbers every fifth of a second, much more often than Prometheus.
func scrape(url string, answered *atomic.Int64, done <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if r, err := http.Get(url); err == nil {
				if _, err := io.Copy(io.Discard, r.Body); err == nil {
					answered.Add(1)
				}
				r.Body.Close()
			}
		}
	}
}
