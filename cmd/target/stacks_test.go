package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// Any three defects that go together serve without a crash, whatever is done to
// the server meanwhile; every request is answered, and the truth is of what was
// answered.
func TestStacksOfThree(t *testing.T) {
	seeds := uint64(1000)
	if raceDetector {
		seeds = 50
	}
	ran := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		cfg, said, ok := stack(t, rng, seed)
		if !ok {
			continue
		}
		ran++
		if err := strain(cfg, rng); err != nil {
			t.Errorf("seed %d, %s: %v", seed, said, err)
		}
	}
	t.Logf("%d of %d seeds found three that go together", ran, seeds)
	if ran < int(seeds*9/10) {
		t.Errorf("only %d of %d seeds found three that go together", ran, seeds)
	}
}

// stack draws three defects and a server for them, until they go together.
func stack(t *testing.T, rng *rand.Rand, seed uint64) (cfg server.Config, said string, ok bool) {
	t.Helper()
	all := defect.Catalogue()
	for range 60 {
		var on defect.On
		var names []string
		for _, i := range rng.Perm(len(all))[:3] {
			e := all[i]
			names = append(names, e.Example)
			on.Limit, on.Key, on.Beside = cmp.Or(on.Limit, e.On.Limit), cmp.Or(on.Key, e.On.Key), cmp.Or(on.Beside, e.On.Beside)
			on.Mode, on.Store, on.Fields = cmp.Or(on.Mode, e.On.Mode), cmp.Or(on.Store, e.On.Store), cmp.Or(on.Fields, e.On.Fields)
		}
		flags := limitFlags{limits: []string{cmp.Or(on.Limit, server.DefaultLimit)}, keys: []string{cmp.Or(on.Key, defaultKey)}, defects: names, store: cmp.Or(on.Store, "memory"), costBody: []string{"", "array"}[rng.IntN(2)]}
		if on.Beside != "" {
			flags.limits = append(flags.limits, on.Beside)
		}
		cfg = server.Config{Seed: seed, Nodes: 1 + rng.IntN(3)}
		if err := addRoute(&cfg, "/", "stack", flags, answerFlags{mode: cmp.Or(on.Mode, "plain"), fields: list(on.Fields)}); err != nil {
			t.Fatal(err)
		}
		if cfg.Check() == nil {
			return cfg, fmt.Sprint(names, " on ", flags.limits, " with ", cfg.Nodes, " nodes"), true
		}
	}
	return cfg, "", false
}

// deeds are what is done meanwhile.
var deeds = []string{"/clock/step?by=-5s", "/clock/step?by=5s", "/clock/freeze", "/clock/resume", "/clock/strobe?step=-1s&every=250ms", "/clock/strobe?times=0",
	"/store/cut", "/store/delay?by=50ms", "/store/restore", "/restart?how=hard", "/restart?how=rolling", "/reload"}

// strain asks a server at odd moments for odd things, and holds its answers against
// its truth.
func strain(cfg server.Config, rng *rand.Rand) error {
	s, err := server.Simulate(cfg, time.Date(2026, 3, 28, 23, 59, 50, 0, time.UTC))
	if err != nil {
		return err
	}
	asked, answered := 0, map[int]int{}
	now := time.Duration(0)
	for range 60 {
		now += time.Duration(rng.Int64N(int64([]time.Duration{time.Microsecond, 300 * time.Millisecond, 4 * time.Second}[rng.IntN(3)])) + 1)
		if rng.IntN(8) == 0 {
			deed := deeds[rng.IntN(len(deeds))]
			if res := s.Admin(now, http.MethodPost, deed, ""); res == nil || res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: got %v", deed, res)
			}
			continue
		}
		for range 1 + rng.IntN(2)*rng.IntN(15) {
			asked++
			s.ArriveAt(1+rng.IntN(cfg.Nodes), now, odd(rng), func(_ time.Duration, w *http.Response) { answered[w.StatusCode]++ })
		}
	}
	s.Advance(now + 2*time.Hour)
	return consistent(s, asked, answered)
}

// odd is a request of one of a few clients.
func odd(rng *rand.Rand) *http.Request {
	body := []string{"[1, 2]", "[]", "{", "{}"}[rng.IntN(4)]
	r := httptest.NewRequest("POST", fmt.Sprintf("/v/%d?code=%d", rng.IntN(3), rng.IntN(3)), strings.NewReader(body))
	r.Header.Set("X-Api-Key", fmt.Sprint(rng.IntN(3)))
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.113.%d, 2001:db8::%d", rng.IntN(2), rng.IntN(3)))
	r.RemoteAddr = fmt.Sprintf("192.0.2.1:%d", 1000+rng.IntN(4))
	return r
}

// consistent says where the truth and the answers do not agree. A request that no
// limit was asked for has no truth: a 200 may be one.
func consistent(s *server.Sim, asked int, answered map[int]int) error {
	total := 0
	for _, n := range answered {
		total += n
	}
	if total != asked {
		return fmt.Errorf("%d of %d requests were answered", total, asked)
	}
	records, dropped := s.Truth()
	told, statuses, refused := map[int]int{}, map[int64]int{}, map[int64]bool{}
	admitted := map[int64]bool{}
	for _, r := range records {
		if status, known := statuses[r.Request]; !known {
			told[r.Status]++
			statuses[r.Request], admitted[r.Request] = r.Status, r.Admitted
		} else if status != r.Status || admitted[r.Request] != r.Admitted {
			return fmt.Errorf("two records of one request differ: %+v", r)
		}
		refused[r.Request] = refused[r.Request] || r.Refused
		if r.Unit < 1 || r.Admitted && r.Status == http.StatusTooManyRequests || !r.Admitted && r.Status == http.StatusOK {
			return fmt.Errorf("got %+v", r)
		}
	}
	for request, yes := range admitted {
		if yes == refused[request] {
			return fmt.Errorf("request %d: admitted %v and refused by a limit %v", request, yes, refused[request])
		}
	}
	if dropped != 0 || told[429] != answered[429] || told[200] > answered[200] {
		return fmt.Errorf("answers %v, truth %v and %d lost", answered, told, dropped)
	}
	return nil
}
