package probes

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// flooding is a plan of a saturation beside a pace.
func flooding(t *testing.T, length time.Duration, most int) scenarios.Plan {
	t.Helper()
	at := 100 * time.Millisecond
	s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 1, Rate: scenarios.Rate{Count: 1, Per: time.Second}}}, Phases: []scenarios.Phase{
		{Name: "pace", Pace: scenarios.Rate{Count: 100, Per: time.Second}, Count: 40, Keys: scenarios.Keys{Fresh: 1}},
		{Name: "flood", At: &at, Saturate: 3, For: length, Count: most, Keys: scenarios.Keys{Fresh: 1}},
	}}
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// underWay is the most requests of a key that were on their way at once, and how many
// there were.
func underWay(t *testing.T, hits []results.Hit, key string) (most, n int) {
	for i := range hits {
		if hits[i].Key != key {
			continue
		}
		if n++; hits[i].Sent < hits[i].Planned {
			t.Errorf("hit %d was sent before it was due", hits[i].Seq)
		}
		with := 0
		for _, h := range hits {
			if h.Key == key && h.Sent <= hits[i].Sent && hits[i].Sent < h.Done {
				with++
			}
		}
		most = max(most, with)
	}
	return most, n
}

// Each connection of a saturation has one request under way, the next behind its answer,
// until time or number is up; each is on record once, and planned.
func TestSaturationIsFired(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Millisecond) }))
		t.Cleanup(s.Close)
		for _, most := range []int{50, 100_000} {
			g, err := Aim(t.Context(), Target{URL: s.URL, Path: path, Nonce: "n"})
			if err != nil {
				t.Fatal(err)
			}
			k := &keep{}
			run, err := g.Fire(t.Context(), flooding(t, 300*time.Millisecond, most), scenarios.Slack{}, 0, k, &Progress{})
			g.Close()
			if err != nil {
				t.Fatal(err)
			}
			at, n := underWay(t, k.hits, "flood/1")
			if at > 3 || n < 3 || n > most || most == 50 && n != 50 {
				t.Errorf("got %d requests, %d of them at once, want up to %d, 3 of them at once", n, at, most)
			}
			if c := run.Phases[1]; c.Planned != int64(n) || c.Sent != int64(n) || run.Planned != run.Sent+run.Missed {
				t.Errorf("got %+v, want %d planned and sent in phase flood", run, n)
			}
			seen := map[int64]bool{}
			for _, h := range k.hits {
				if seen[h.Seq] || h.Key == "flood/1" && h.Seq <= 40 {
					t.Errorf("hit %d on %s has the number of another", h.Seq, h.Key)
				}
				seen[h.Seq] = true
			}
		}
	})
}

// A server that is away is not asked as fast as it can be found to be.
func TestSaturationOfNobody(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		g, err := Aim(t.Context(), Target{URL: s.URL, Path: path, Nonce: "n"})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		s.Close()
		run, err := g.Fire(t.Context(), flooding(t, 300*time.Millisecond, 100_000), scenarios.Slack{}, 0, &keep{}, &Progress{})
		if err != nil {
			t.Fatal(err)
		}
		// Three connections, at 0, 100 and 200 ms.
		if n := run.Phases[1].Planned; n < 3 || n > 12 {
			t.Errorf("got %d requests to a server that is away, want 9", n)
		}
	})
}

// Inside a process a saturation is held to the same.
func TestSaturationInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := Aim(t.Context(), Target{URL: "http://127.0.0.1:1/", Nonce: "n"})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		asked := 0
		blocks, run := g.FireInside(t.Context(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			mu.Lock()
			asked++
			mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}), flooding(t, 300*time.Millisecond, 100_000), scenarios.Slack{})
		var hits []results.Hit
		for _, b := range blocks {
			hits = append(hits, b.Hits...)
		}
		// Three connections ask every 10 ms for 300 ms.
		if at, n := underWay(t, hits, "flood/1"); at != 3 || n != 90 || asked != 130 || run.Planned != 130 {
			t.Errorf("got %d requests, %d of them at once, %d in all, want 90, 3, 130", n, at, asked)
		}
	})
}
