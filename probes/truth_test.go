package probes

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// The reference server's own record of its decisions: each lies between the
// moment its request is said to have been sent and the one it was answered.
func TestStampsEncloseTheTruth(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s, err := server.Start(server.Config{Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		g := aim(t, s.URL(), path)
		plan := layOut(t, scenarios.Phase{Name: "spread", Rest: 200 * time.Millisecond, Volley: 1, Every: 500 * time.Microsecond, Keys: scenarios.Keys{Fresh: 3000}},
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
		checked := 0
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
		if checked < 1000 { // a busy machine sends fewer
			t.Errorf("only %d of %d requests could be compared", checked, len(k.hits))
		}
	})
}
