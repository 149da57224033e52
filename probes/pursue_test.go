package probes

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// windows is a server that admits so many in each window, for all together.
func windows(t *testing.T, most int, length time.Duration) string {
	var mu sync.Mutex
	var began, used int
	start := time.Now()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if now := int(time.Since(start) / length); now != began {
			began, used = now, 0
		}
		if used++; used > most {
			w.WriteHeader(429)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// edges is a plan of one attack on a limit of 10 in 600 ms.
func edges(t *testing.T, tactic scenarios.Tactic, rounds int) scenarios.Plan {
	t.Helper()
	s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 10, Rate: scenarios.Rate{Count: 10, Per: 600 * time.Millisecond}}},
		Phases: []scenarios.Phase{{Name: "edge", Rest: 200 * time.Millisecond, Attack: tactic, Rounds: rounds, Keys: scenarios.Keys{Fresh: 1}}}}
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What an attack fires is counted as planned, numbered behind the plan, and
// meets the edge. On a busy machine it may come too late for one.
func TestAttackIsFiredAndAccountedFor(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		admitted := 0
		for tries := 0; admitted < 30 && tries < 4; tries++ {
			admitted = attacked(t, path)
		}
		// The drain gets 10 at least, the strike 9 before the edge and 10 after it,
		// and the poll that found the edge one.
		if admitted < 30 {
			t.Errorf("got %d admitted, want 30 at least", admitted)
		}
	})
}

// attacked is how many one attack was admitted.
func attacked(t *testing.T, path Path) (admitted int) {
	k := &keep{t: t}
	plan := edges(t, scenarios.TacticBoundary, 1)
	run, err := aim(t, windows(t, 10, 600*time.Millisecond), path).Fire(t.Context(), plan, scenarios.Slack{}, 0, k, &Progress{})
	if err != nil {
		t.Fatal(err)
	}
	account(t, run, k)
	if run.Planned > int64(plan.Most()) || run.Phases[0].Planned != run.Planned || run.Phases[0].Sent != run.Sent {
		t.Errorf("got %d planned, phases %+v, want at most %d, all of one phase", run.Planned, run.Phases, plan.Most())
	}
	seqs := map[int64]bool{}
	for _, h := range k.hits {
		if seqs[h.Seq] || h.Seq < 1 || h.Seq > run.Planned || h.Sent < h.Planned || h.Key != "edge/1" {
			t.Errorf("got %+v", h)
		}
		seqs[h.Seq] = true
		if h.Outcome == results.Admitted {
			admitted++
		}
	}
	return admitted
}

// An attack that is interrupted ends at once, with all that it planned on record.
func TestInterruptedAttackIsAccountedFor(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		for _, after := range []time.Duration{50 * time.Millisecond, 190 * time.Millisecond, 450 * time.Millisecond} {
			k := &keep{t: t}
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			plan := edges(t, scenarios.TacticPilot, 900)
			run, err := aim(t, windows(t, 10, 600*time.Millisecond), path).Fire(ctx, plan, scenarios.Slack{}, 0, k, &Progress{})
			if err != nil {
				t.Fatal(err)
			}
			account(t, run, k)
			if run.Stopped == "" || time.Duration(run.LastedNS) > 3*time.Second {
				t.Errorf("interrupted after %v: got %+v", after, run)
			}
		}
	})
}
