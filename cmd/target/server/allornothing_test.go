package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// in are limits in stores, all of the same key and asked on routes of their own.
func in(t *testing.T, algorithm string, stores ...string) Config {
	t.Helper()
	var cfg Config
	for i, s := range stores {
		name := string(rune('a' + i))
		cfg.Limits = append(cfg.Limits, Limit{Name: name, Algorithm: parse(t, algorithm), Key: parseKey(t, "header:X-Api-Key"), Store: parse(t, s)})
		path := "/" + name
		if i == 0 {
			path = "/"
		}
		cfg.Routes = append(cfg.Routes, Route{Path: path, Limits: []string{name}})
	}
	return cfg
}

// A reload of which one store cannot be had changes nothing: not the limit that is
// there, nor what was spent, nor that it can be restarted; and holds on to no file.
func TestReloadIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return "memory{persist=" + filepath.Join(dir, name) + "}" }
	own, free := file("own"), file("free")
	if err := os.WriteFile(filepath.Join(dir, "wrong"), []byte(`{"number":0,"limit":"b/header:X-Api-Key fixed-window{rate=20/1h,align=first-hit}"}
{"states":[{"limit":0,"key":"YQ==","state":"x"}]}
{"number":1,"limit":"x"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, _, err := store.OpenTables(filepath.Join(dir, "taken"))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct{ store, says string }{
		{file("no/such/folder"), "keeping states in "},
		{file("wrong"), "a state of limit b/header:X-Api-Key"},
		{file("taken"), "another server keeps its states there"},
		{"memory{persist=" + filepath.Join(dir, "own") + ",down=open}", "both write to one file"},
	}
	for _, how := range []string{own, "memory"} {
		for _, tt := range tests {
			cfg := in(t, ten, how)
			cfg.Reread = func([]byte) (Config, error) {
				return in(t, "fixed-window{rate=20/1h,align=first-hit}", how, tt.store, free), nil
			}
			if how == "memory" && strings.Contains(tt.store, "down=open") {
				continue
			}
			s := simulate(t, cfg)
			key := how + tt.store
			s.admitted(1, 0, key, 4)
			if res := s.Admin(0, "POST", "/reload", ""); res.StatusCode != 400 {
				t.Errorf("%s: got %d, want 400", tt.store, res.StatusCode)
			} else if said := body(t, res); !strings.Contains(said, tt.says) {
				t.Errorf("%s: got %s, want one that says %q", tt.store, said, tt.says)
			}
			if tables, _, err := store.OpenTables(filepath.Join(dir, "free")); err != nil {
				t.Errorf("%s: the file that the reload gave up is still held: %v", tt.store, err)
			} else if err := tables.Close(); err != nil {
				t.Error(err)
			}
			if got := s.admitted(1, 0, key, 3); got != 3 {
				t.Errorf("%s: got %d of 3", tt.store, got)
			}
			if res := s.Admin(0, "POST", "/restart?how=hard", ""); res.StatusCode != 200 {
				t.Errorf("%s: restart: got %d, %s", tt.store, res.StatusCode, body(t, res))
			}
			want := 10 // memory is gone with the node
			if how == own {
				want = 3
			}
			if got := s.admitted(1, 0, key, 20); got != want {
				t.Errorf("%s: after the restart got %d more, want %d", tt.store, got, want)
			}
			if err := s.server.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// What is done while a file cannot be reached is changed, and the file kept.
func TestReloadOfTheSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "states")
	cfg := in(t, ten, "memory{persist="+path+"}")
	cfg.Reread = func([]byte) (Config, error) { return in(t, ten, "memory{persist="+path+",down=open}"), nil }
	s := simulate(t, cfg)
	s.admitted(1, 0, "a", 4)
	for _, target := range []string{"/reload", "/restart?how=hard"} {
		if res := s.Admin(0, "POST", target, ""); res.StatusCode != 200 {
			t.Fatalf("%s: got %d, %s", target, res.StatusCode, body(t, res))
		}
	}
	if got := s.admitted(1, 0, "a", 20); got != 6 {
		t.Errorf("got %d, want 6", got)
	}
	// A node that could not be started again can be, once the file can be had.
	taken := filepath.Dir(path)
	if err := os.Rename(taken, taken+"-away"); err != nil {
		t.Fatal(err)
	}
	if res := s.Admin(0, "POST", "/restart?how=hard", ""); res.StatusCode != 500 {
		t.Errorf("without its folder: got %d, want 500", res.StatusCode)
	}
	if err := os.Rename(taken+"-away", taken); err != nil {
		t.Fatal(err)
	}
	if res := s.Admin(0, "POST", "/restart?how=hard", ""); res.StatusCode != 200 {
		t.Errorf("got %d, %s", res.StatusCode, body(t, res))
	}
	if got := s.admitted(1, 0, "a", 20); got != 0 {
		t.Errorf("got %d more, want none", got)
	}
	if err := s.server.Close(); err != nil {
		t.Error(err)
	}
}
