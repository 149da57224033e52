package probes

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// The reference server's own record of its decisions: each lies between the
// moment its request is said to have been sent and the one it was answered.
func TestStampsEncloseTheTruth(t *testing.T) {
	want, keys, every := 1000, 3000, 500*time.Microsecond
	if n, err := strconv.Atoi(os.Getenv("HAMMER_TRUTH")); err == nil {
		want, keys, every = n, 20_000, 100*time.Microsecond
	}
	eachPath(t, func(t *testing.T, path Path) {
		checked := 0
		for tries := 0; checked < want && tries < 20+want/1000; tries++ { // a busy machine sends fewer
			checked += enclosed(t, path, keys, every)
		}
		if checked < want {
			t.Errorf("only %d requests could be compared", checked)
		}
		t.Logf("%d requests compared", checked)
	})
}

// enclosed compares one run with the truth, and gives how many requests it could.
func enclosed(t *testing.T, path Path, keys int, every time.Duration) (checked int) {
	s, err := server.Start(server.Config{Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := aim(t, s.URL(), path)
	plan := layOut(t, scenarios.Phase{Name: "spread", Rest: 200 * time.Millisecond, Volley: 1, Every: every, Keys: scenarios.Keys{Fresh: keys}},
		scenarios.Phase{Name: "together", Rest: 300 * time.Millisecond, Volley: 1, Keys: scenarios.Keys{Fresh: 200}})
	k := &keep{t: t}
	r := &run{gun: g, plan: plan, progress: &Progress{}, ctx: t.Context(), requests: t.Context()}
	if err := r.assign(); err != nil {
		t.Fatal(err)
	}
	r.clk = clock{time.Now()}
	if err := r.take(); err != nil {
		t.Fatal(err)
	}
	defer r.leave()
	r.rec = newRecorder(k, r.clk, func(error) {})
	r.pace()
	r.flying.Wait()
	if err := r.rec.close(); err != nil {
		t.Fatal(err)
	}

	decided := map[string]int64{}
	truth, _ := s.Truth()
	for _, d := range truth {
		decided[d.Key] = int64(s.Base().Add(time.Duration(d.MonoNS)).Sub(r.clk.start))
	}
	for _, h := range k.hits {
		at, ok := decided[g.value(scenarios.Ask{Key: h.Key})]
		if !ok || h.Outcome == results.Unknown {
			continue
		}
		checked++
		if at < h.Sent || at > h.First {
			t.Errorf("%s: decided at %d, recorded from %d to %d", h.Key, at, h.Sent, h.First)
		}
	}
	return checked
}
