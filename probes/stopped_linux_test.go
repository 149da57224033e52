package probes

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// child is what the process that is stopped tells of its run.
type child struct {
	Run  results.Run
	Hits []results.Hit
	Mark []results.Mark
}

// TestStoppedChild is the other process of TestStopped, and nothing by itself.
func TestStoppedChild(t *testing.T) {
	url := os.Getenv("HAMMER_CHILD")
	if url == "" {
		t.Skip("it is started by TestStopped")
	}
	path, err := ParsePath(os.Getenv("HAMMER_PATH"))
	if err != nil {
		t.Fatal(err)
	}
	k := &keep{t: t}
	run, err := aim(t, url, path).Fire(t.Context(), layOut(t, pace("walk", 500, 200)), scenarios.Slack{}, 0, k, &Progress{})
	if err != nil {
		t.Fatal(err)
	}
	account(t, run, k)
	_ = json.NewEncoder(os.Stderr).Encode(child{run, k.hits, k.mark})
}

// A client that does not run for a second says so, and does not make up for it.
func TestStopped(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		t.Parallel()
		begun := make(chan bool)
		var once sync.Once
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { once.Do(func() { close(begun) }) }))
		defer s.Close()
		c := exec.Command(os.Args[0], "-test.run=^TestStoppedChild$")
		c.Env = append(os.Environ(), "HAMMER_CHILD="+s.URL, "HAMMER_PATH="+path.String())
		out, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-begun
		time.Sleep(300 * time.Millisecond)
		_ = c.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Second)
		_ = c.Process.Signal(syscall.SIGCONT)
		var got child
		if err := json.NewDecoder(out).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		// 200 were due, of which the last may still have been in time.
		if got.Run.Missed < 195 {
			t.Errorf("got %d missed, want 195 at least: %+v", got.Run.Missed, got.Run)
		}
		stall := int64(0)
		for _, m := range got.Mark {
			if m.Kind == results.MarkStall {
				stall = max(stall, m.Size)
			}
		}
		if stall < int64(900*time.Millisecond) {
			t.Errorf("the longest stall on record is %v", time.Duration(stall))
		}
		late := 0
		for _, h := range got.Hits {
			if h.Sent-h.Planned > int64(100*time.Millisecond) {
				late++
			}
		}
		if late > 3 { // one is sent at the very moment that the process stops
			t.Errorf("%d requests were sent late, in a bunch", late)
		}
	})
}

// A server that does not answer for a second is asked on, on connections that are opened
// for it.
func TestStalledTarget(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		t.Parallel()
		var mu sync.Mutex
		var start time.Time
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			mu.Lock()
			if start.IsZero() {
				start = time.Now()
			}
			since := time.Since(start)
			mu.Unlock()
			if stall := 1300*time.Millisecond - since; stall > 0 && since > 300*time.Millisecond {
				time.Sleep(stall)
			}
		}))
		defer s.Close()
		k := &keep{t: t}
		run, err := aim(t, s.URL, path).Fire(t.Context(), layOut(t, pace("walk", 360, 200)), scenarios.Slack{}, 0, k, &Progress{})
		if err != nil {
			t.Fatal(err)
		}
		account(t, run, k)
		first := k.hits[0].Sent
		waiting, conns := 0, map[int32]bool{}
		for _, h := range k.hits {
			if at := h.Sent - first; at > int64(350*time.Millisecond) && at < int64(1200*time.Millisecond) {
				waiting++
				conns[h.Conn] = true
			}
		}
		unconnected := 0
		for _, m := range k.mark {
			if m.Kind == results.MarkMiss && m.Text != "" {
				unconnected++
			}
		}
		if unconnected > waiting/10 { // on a busy machine one may take its time
			t.Errorf("%d shots had no connection in time", unconnected)
		}
		// 170 were due in that time; a busy machine misses some.
		if waiting < 85 || len(conns) < waiting*9/10 {
			t.Errorf("%d requests were sent while the server stalled, on %d connections; %d missed", waiting, len(conns), run.Missed)
		}
	})
}
