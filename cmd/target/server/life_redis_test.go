package server

import (
	"testing"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// In a Redis, which all nodes share, a reload and a restart leave alone what has
// not changed, and a limit that has changed starts afresh.
func TestReloadOverRedis(t *testing.T) {
	store := "redis{address=" + lab.Redis(t).Address + "}"
	to := ten
	config := func() Config {
		return Config{Nodes: 2, Limits: []Limit{{Algorithm: parse(t, to), Key: parseKey(t, "header:X-Api-Key"), Store: parse(t, store)}}}
	}
	cfg := config()
	cfg.Reread = func([]byte) (Config, error) { return config(), nil }
	s := startServer(t, cfg)
	spend := func(node, n int) (admitted int) {
		for range n {
			if res, _ := fetch(t, "GET", s.nodes[node].endpoints()[0].url, "a", nil); res.StatusCode == 200 {
				admitted++
			}
		}
		return admitted
	}
	if got := spend(0, 4); got != 4 {
		t.Fatalf("got %d of 4", got)
	}
	if err := s.Reread(); err != nil {
		t.Fatal(err)
	}
	if err := s.restart(s.nodes, hard); err != nil {
		t.Fatal(err)
	}
	if got := spend(1, 20); got != 6 {
		t.Errorf("after a reload without a change and a restart: got %d more, want 6", got)
	}
	to = "fixed-window{rate=5/1h,align=first-hit}"
	if err := s.Reread(); err != nil {
		t.Fatal(err)
	}
	if got := spend(0, 20); got != 5 {
		t.Errorf("after a change: got %d, want 5", got)
	}
	to = "token-bucket{burst=10,rate=5/s}"
	store = "redis{address=127.0.0.1:1,prefix=x}"
	if err := s.Reread(); err != nil { // it may come up: its policy says what is done until then
		t.Errorf("to a Redis that is down: %v", err)
	}
	if got := spend(0, 1); got != 0 {
		t.Errorf("in a Redis that is down: got %d admitted", got)
	}
}
