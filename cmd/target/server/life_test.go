package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// ten is a quota of ten an hour.
const ten = "fixed-window{rate=10/1h,align=first-hit}"

// What a client gets that has spent 4 of 10 before its nodes are restarted.
func TestRestart(t *testing.T) {
	file := func() string { return "memory{persist=" + filepath.Join(t.TempDir(), "states") + "}" }
	tests := []struct {
		name, store string
		nodes       int
		nodeStore   string
		defects     []string
		restarts    []string // queries of POST /restart
		want        int
	}{
		{"without a file the budget is back, as declared", "memory", 1, "", nil, []string{"how=hard"}, 10},
		{"gracefully as well", "memory", 1, "", nil, []string{"how=graceful"}, 10},
		{"with one it is not", file(), 1, "", nil, []string{"how=hard"}, 6},
		{"however often", file(), 1, "", nil, []string{"how=hard", "how=graceful", "how=rolling"}, 6},
		{"a shared store is not a node's", "memory", 3, "", nil, []string{"how=rolling", "how=hard"}, 6},
		{"separate ones are", "memory", 3, "separate", nil, []string{"how=hard&node=1"}, 10},
		{"those of other nodes are not touched", "memory", 3, "separate", nil, []string{"how=hard&node=2", "how=hard&node=3"}, 6},
		{"separate ones with a file each", file(), 3, "separate", nil, []string{"how=rolling"}, 6},

		{"D30, all three one by one", "memory", 3, "", []string{"persist{none}"}, []string{"how=rolling"}, 10},
		{"D30, with one survivor", "memory", 3, "", []string{"persist{none}"}, []string{"how=graceful&node=1", "how=hard&node=2"}, 6},
		{"D30, at once", "memory", 3, "", []string{"persist{none}"}, []string{"how=hard"}, 10},
		{"D30, a file that is not written", file(), 1, "", []string{"persist{none}"}, []string{"how=graceful"}, 10},
	}
	for _, tt := range tests {
		cfg := Config{Nodes: tt.nodes, Limits: []Limit{{Algorithm: parse(t, ten), Key: parseKey(t, "header:X-Api-Key"), Store: parse(t, tt.store), Defects: parseAll(t, tt.defects...)}}}
		if tt.nodeStore != "" {
			cfg.NodeStore = parse(t, tt.nodeStore)
		}
		s := simulate(t, cfg)
		if got := s.admitted(1, 0, "a", 4); got != 4 {
			t.Fatalf("%s: got %d of 4", tt.name, got)
		}
		now := time.Minute
		for _, query := range tt.restarts {
			if res := s.Admin(now, "POST", "/restart?"+query, ""); res.StatusCode != 200 {
				t.Errorf("%s: %s: got %d, %s", tt.name, query, res.StatusCode, body(t, res))
			}
			now += time.Second
		}
		if got := s.admitted(1, now, "a", 20); got != tt.want {
			t.Errorf("%s: got %d more, want %d", tt.name, got, tt.want)
		}
		s.server.Close()
	}
}

// D30: one request between two restarts tells all nodes, and so the count is kept.
func TestRollingRestartWithTraffic(t *testing.T) {
	cfg := byHeader(t, ten, "persist{none}")
	cfg.Nodes = 3
	s := simulate(t, cfg)
	got := s.admitted(1, 0, "a", 4)
	for node := 1; node <= 3; node++ {
		s.Admin(time.Duration(node)*time.Second, "POST", fmt.Sprintf("/restart?how=graceful&node=%d", node), "")
		if node == 2 {
			got += s.admitted(1, 2500*time.Millisecond, "a", 1)
		}
	}
	if got += s.admitted(2, 4*time.Second, "a", 20); got != 10 {
		t.Errorf("got %d, want 10", got)
	}
}

// What a reload does to a key that has spent some and to one that was never seen:
// how many each is admitted of 100 right after it.
func TestReload(t *testing.T) {
	tests := []struct {
		from, to  string
		defect    string
		spent     int
		used, new int
	}{
		{"token-bucket{burst=10,rate=1/h}", "token-bucket{burst=10,rate=1/h}", "", 7, 3, 10},
		{"token-bucket{burst=10,rate=1/h}", "token-bucket{burst=20,rate=1/h}", "", 7, 3, 20},
		{"token-bucket{burst=20,rate=1/h}", "token-bucket{burst=10,rate=1/h}", "", 3, 10, 10},
		{"fixed-window{rate=10/1h}", "fixed-window{rate=20/1h}", "", 7, 13, 20},
		{"fixed-window{rate=20/1h}", "fixed-window{rate=10/1h}", "", 7, 3, 10},
		{"fixed-window{rate=20/1h}", "sliding-log{rate=10/1h}", "", 7, 10, 10},

		{"token-bucket{burst=10,rate=1/h}", "token-bucket{burst=10,rate=1/h}", "reload{keep=false}", 10, 10, 10},
		{"fixed-window{rate=10/1h}", "fixed-window{rate=20/1h}", "reload{keep=false}", 10, 20, 20},
		{"token-bucket{burst=10,rate=1/h}", "token-bucket{burst=20,rate=1/h}", "reload{scope=none}", 7, 3, 10},
		{"token-bucket{burst=20,rate=1/h}", "token-bucket{burst=10,rate=1/h}", "reload{scope=none}", 3, 17, 20},
		{"token-bucket{burst=20,rate=1/h}", "token-bucket{burst=10,rate=1/h}", "reload{scope=new-keys}", 3, 17, 10},
		{"token-bucket{burst=10,rate=1/h}", "token-bucket{burst=20,rate=2/h}", "reload{scope=rate-only}", 10, 0, 10},
		{"token-bucket{burst=10,rate=1/h}", "token-bucket{burst=10,rate=1/h}", "reload{scope=inflate}", 3, 0, 10},
	}
	for _, tt := range tests {
		var defects []string
		if tt.defect != "" {
			defects = append(defects, tt.defect)
		}
		cfg := byHeader(t, tt.from, defects...)
		cfg.Reread = func([]byte) (Config, error) { return byHeader(t, tt.to, defects...), nil }
		s := simulate(t, cfg)
		s.admitted(1, 0, "a", tt.spent)
		res := s.Admin(0, "POST", "/reload", "")
		if said := body(t, res); res.StatusCode != 200 || !strings.Contains(said, `"algorithm":"`+tt.to+`"`) {
			t.Fatalf("%s to %s: got %d, %s", tt.from, tt.to, res.StatusCode, said)
		}
		got := [2]int{s.admitted(1, 0, "a", 100), s.admitted(1, 0, "b", 100)}
		if got != [2]int{tt.used, tt.new} {
			t.Errorf("%s to %s with %q after %d: got %v, want %d and %d", tt.from, tt.to, tt.defect, tt.spent, got, tt.used, tt.new)
		}
	}
}

// D31: what ten reloads without a change give away.
func TestReloadsInARow(t *testing.T) {
	for defect, want := range map[string]int{"": 10, "reload{keep=false}": 110} {
		var defects []string
		if defect != "" {
			defects = append(defects, defect)
		}
		s := simulate(t, byHeader(t, "token-bucket{burst=10,rate=1/h}", defects...))
		got := s.admitted(1, 0, "a", 50)
		for range 10 {
			s.Admin(0, "POST", "/reload", "")
			got += s.admitted(1, 0, "a", 50)
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", defect, got, want)
		}
	}
}

// D32: the new rate counts and the old burst stays, for keys old and new.
func TestReloadOfTheRateOnly(t *testing.T) {
	for defect, want := range map[string]int{"": 20, "reload{scope=rate-only}": 10} {
		cfg := byHeader(t, "token-bucket{burst=10,rate=1/h}", parsed(defect)...)
		cfg.Reread = func([]byte) (Config, error) {
			return byHeader(t, "token-bucket{burst=20,rate=10/s}", parsed(defect)...), nil
		}
		s := simulate(t, cfg)
		s.admitted(1, 0, "a", 10)
		s.Admin(0, "POST", "/reload", "")
		if got := s.admitted(1, time.Minute, "a", 100); got != want {
			t.Errorf("%q: got %d a minute later, want %d", defect, got, want)
		}
	}
}

func parsed(defect string) []string {
	if defect == "" {
		return nil
	}
	return []string{defect}
}

// A file that is wrong changes nothing, and says why.
func TestReloadErrors(t *testing.T) {
	cfg := byHeader(t, ten)
	cfg.Reread = func(file []byte) (Config, error) {
		switch string(file) {
		case "unreadable":
			return Config{}, fmt.Errorf("line 3: not understood")
		case "no listener":
			c := byHeader(t, ten)
			c.Listeners, c.Routes = []Listener{{Name: "x"}}, []Route{{Listeners: []string{"x"}, Limits: []string{DefaultName}}}
			return c, nil
		}
		return byHeader(t, "token-bucket{burst=0,rate=1/s}"), nil
	}
	s := simulate(t, cfg)
	s.admitted(1, 0, "a", 4)
	for file, says := range map[string]string{"unreadable": "line 3", "no listener": `listener \"x\" is not known`, "other": "burst 0"} {
		res := s.Admin(0, "POST", "/reload", file)
		if said := body(t, res); res.StatusCode != 400 || !strings.Contains(said, says) {
			t.Errorf("%s: got %d, %s, want 400 that says %s", file, res.StatusCode, said, says)
		}
	}
	if got := s.admitted(1, 0, "a", 20); got != 6 {
		t.Errorf("got %d more, want 6", got)
	}
}

// Requests that are decided while limits change are decided once, by old limits or
// new ones: of 3000 tokens not one more or less is given away, however often the
// limit changes to and fro.
func TestReloadUnderLoad(t *testing.T) {
	limits := []string{"fixed-window{rate=3000/1h}", "fixed-window{rate=4000/1h}"}
	cfg := byHeader(t, limits[0])
	var turn atomic.Int64
	cfg.Reread = func([]byte) (Config, error) { return byHeader(t, limits[turn.Add(1)%2]), nil }
	s := startServer(t, cfg)
	handler := s.nodes[0].handler(s.nodes[0].listeners[0].name())
	var admitted atomic.Int64
	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil && admitted.Load() < 2900 {
				if through(handler, "a") == 200 {
					admitted.Add(1)
				}
			}
		})
	}
	for admitted.Load() < 2900 {
		if err := s.Reread(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	clients.Wait()
	if turn.Load()%2 == 1 {
		if err := s.Reread(); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		if through(handler, "a") == 200 {
			admitted.Add(1)
		}
	}
	if got := admitted.Load(); got != 3000 {
		t.Errorf("got %d admitted in the window over %d reloads, want 3000", got, turn.Load())
	}
}

// Over sockets: a node comes back to its address, a hard restart cuts off what is
// under way, and a graceful one waits for it.
func TestRestartOverSockets(t *testing.T) {
	for _, how := range []string{hard, graceful} {
		cfg := byHeader(t, "queue{burst=10,rate=2/1s}")
		s := startServer(t, cfg)
		url := s.URL()
		fetch(t, "GET", url, "a", nil)
		ended := make(chan error)
		go func() {
			_, err := get(url, "a") // held back for half a second
			ended <- err
		}()
		for len(s.nodes[0].room.places) == 0 {
			time.Sleep(time.Millisecond)
		}
		if res, said := fetch(t, "POST", s.AdminURL()+"/restart?how="+how, "", nil); res.StatusCode != 200 {
			t.Fatalf("%s: got %d, %s", how, res.StatusCode, said)
		}
		if err := <-ended; (err != nil) != (how == hard) {
			t.Errorf("%s: the request under way ended with %v", how, err)
		}
		if res, _ := fetch(t, "GET", url, "b", nil); res.StatusCode != 200 {
			t.Errorf("%s: afterwards got %d", how, res.StatusCode)
		}
	}
}

func get(url, key string) (int, error) {
	req, err := http.NewRequest("GET", url+"/", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-Api-Key", key)
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}

// through is the status of a request that is handed to a handler.
func through(h http.Handler, key string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "/", key, ""))
	return w.Code
}

// What a reload has carried over is in the file, and under the new terms.
func TestReloadThenRestart(t *testing.T) {
	store := "memory{persist=" + filepath.Join(t.TempDir(), "states") + "}"
	limit := "token-bucket{burst=10,rate=1/1h}"
	config := func() Config {
		return Config{Limits: []Limit{{Algorithm: parse(t, limit), Key: parseKey(t, "header:X-Api-Key"), Store: parse(t, store)}}}
	}
	cfg := config()
	cfg.Reread = func([]byte) (Config, error) { return config(), nil }
	s := simulate(t, cfg)
	defer s.server.Close()
	s.admitted(1, 0, "a", 4)
	limit = "token-bucket{burst=8,rate=2/1h}"
	s.Admin(0, "POST", "/reload", "")
	s.admitted(1, 0, "a", 1)
	s.Admin(0, "POST", "/restart?how=hard", "")
	if got := s.admitted(1, 0, "a", 20); got != 5 {
		t.Errorf("got %d, want 10 - 4 - 1", got)
	}
	if got := s.admitted(1, time.Hour, "a", 20); got != 2 {
		t.Errorf("an hour later got %d, want 2", got)
	}
}
