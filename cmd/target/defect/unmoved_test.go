package defect_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios"
)

// answered are the statuses of one client that asks a server every 25 ms for 20 s,
// while its wall clock steps.
func answered(t *testing.T, limit string, defects []string, steps map[time.Duration]time.Duration) (statuses []int) {
	t.Helper()
	parse := func(text string) mode.Mode {
		m, err := mode.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	cfg := server.Config{Limit: parse(limit), Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}
	for _, d := range defects {
		cfg.Defects = append(cfg.Defects, parse(d))
	}
	s, err := server.Simulate(cfg, time.Date(2026, 3, 1, 12, 0, 1, 675_000_000, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for at := time.Duration(0); at < 20*time.Second; at += 25 * time.Millisecond {
		if by := steps[at]; by != 0 {
			s.Advance(at)
			if err := s.Step(by); err != nil {
				t.Fatal(err)
			}
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Api-Key", "a")
		i := len(statuses)
		statuses = append(statuses, 0)
		s.Arrive(at, r, func(_ time.Duration, w *http.Response) { statuses[i] = w.StatusCode })
	}
	s.Advance(time.Hour)
	return statuses
}

// No step of the wall clock changes an answer of a right limiter, whichever it is.
func TestStepsDoNotMoveRightLimiters(t *testing.T) {
	strobe := map[time.Duration]time.Duration{}
	for i := range time.Duration(42) {
		strobe[5*time.Second+i*250*time.Millisecond] = []time.Duration{-time.Second, time.Second}[i%2]
	}
	at := 5 * time.Second
	courses := []map[time.Duration]time.Duration{{at: -2 * time.Second}, {at: -10 * time.Second}, {at: 2 * time.Second}, {at: time.Hour}, strobe}
	for _, d := range limiter.List() {
		want := answered(t, d.Example, nil, nil)
		if d.Name != "concurrency" && !slices.Contains(want, http.StatusTooManyRequests) {
			t.Errorf("%s: nothing was refused", d.Example)
		}
		for _, steps := range courses {
			if got := answered(t, d.Example, nil, steps); !slices.Equal(got, want) {
				t.Errorf("%s: answers otherwise after %v", d.Example, steps)
			}
		}
	}
}

// A limiter that fails where time goes back answers with a 500 until it has come up
// again, and is as it was then.
func TestPanicOnTimeThatGoesBack(t *testing.T) {
	got := answered(t, "token-bucket{burst=10,rate=5/s}", []string{"wall-clock{form=panic}"}, map[time.Duration]time.Duration{5 * time.Second: -2 * time.Second})
	failed := 0
	for i, status := range got {
		at := time.Duration(i) * 25 * time.Millisecond
		if back := at >= 5*time.Second && at < 7*time.Second-25*time.Millisecond; back != (status == http.StatusInternalServerError) {
			t.Errorf("at %v: got %d", at, status)
		}
		if status == http.StatusInternalServerError {
			failed++
		}
	}
	if failed != 79 { // 2 s of asking, but for the moment that was seen last
		t.Errorf("got %d answers of 500, want 79", failed)
	}
}
