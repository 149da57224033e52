package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func script(t testing.TB, text string) []clock.Scripted {
	t.Helper()
	events, err := clock.ParseScript(text)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func simulate(t testing.TB, cfg Config) *Sim {
	t.Helper()
	s, err := Simulate(cfg, start)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at asks a node at a moment, and gives the status.
func (s *Sim) at(node int, at time.Duration, key string) (status int) {
	s.ArriveAt(node, at, request("GET", "/", key, ""), func(_ time.Duration, w *http.Response) { status = w.StatusCode })
	return status
}

// admitted counts those of n requests of a key at one moment that a node admits.
func (s *Sim) admitted(node int, at time.Duration, key string, n int) (admitted int) {
	for range n {
		if s.at(node, at, key) == 200 {
			admitted++
		}
	}
	return admitted
}

// Two nodes share a store and are a second apart. If the older moment is written
// over the newer one, each swing from one to the other and back earns a second's
// tokens once more; on one node, and without the defect, nothing comes of it.
func TestSkewedNodes(t *testing.T) {
	tests := []struct {
		name    string
		defects []string
		only    int // node that is asked; 0: both by turns
		want    int
	}{
		// 20 swings a second for 10 s: 30 and 300 at the most.
		{"right, both", nil, 0, 330},
		{"wrong, one", []string{"wall-clock{form=clamp}"}, 1, 330},
		// 100 times to the node ahead, each time with the tokens of more than a second.
		{"wrong, both", []string{"wall-clock{form=clamp}"}, 0, 30 + 100*30},
		{"wrong, but never back", []string{"wall-clock{form=max}"}, 0, 330},
	}
	for _, tt := range tests {
		cfg := byHeader(t, "token-bucket{burst=30,rate=30/1s}", tt.defects...)
		cfg.Nodes, cfg.Clock = 2, script(t, "node 2 step -1s")
		s := simulate(t, cfg)
		got := 0
		for i := range 200 {
			node := tt.only
			if node == 0 {
				node = 1 + i%2
			}
			got += s.admitted(node, time.Duration(i)*50*time.Millisecond, "a", 40)
		}
		if low, high := tt.want-35, tt.want+1; got < low || got > high {
			t.Errorf("%s: got %d admitted in 10 s, want %d to %d", tt.name, got, low, high)
		}
	}
}

// The monotonic clocks of nodes run apart, by as much as real ones do; a right
// limiter over all of them gives what the fastest would, and no more.
func TestNodesOfDifferentRates(t *testing.T) {
	cfg := byHeader(t, "token-bucket{burst=10,rate=10/1s}")
	cfg.Nodes, cfg.Clock = 3, script(t, "node 1 rate 500ppm; node 2 rate -500ppm")
	s := simulate(t, cfg)
	got := 0
	for i := range 20_000 {
		got += s.admitted(1+i%3, time.Duration(i)*50*time.Millisecond, "a", 1)
	}
	// 10 + 10/s * 999.99 s * 1.0005 = 10014.9
	if got < 10_005 || got > 10_015 {
		t.Errorf("got %d in 1000 s, want 10 + 10000 times 1.0005", got)
	}
}

// What nodes know of each other decides how much they admit together.
func TestNodeStores(t *testing.T) {
	tests := []struct {
		store string
		want  []int // admitted of 20 on node 1, at once of 20 on node 2, and 600 ms later of 20 on node 3
	}{
		{"shared", []int{10, 0, 0}},
		{"separate", []int{10, 10, 10}},
		{"lagging{lag=500ms}", []int{10, 10, 0}},
	}
	for _, tt := range tests {
		cfg := byHeader(t, "token-bucket{burst=10,rate=1/1h}")
		cfg.Nodes, cfg.NodeStore = 3, parse(t, tt.store)
		s := simulate(t, cfg)
		got := []int{s.admitted(1, 0, "a", 20), s.admitted(2, 0, "a", 20), s.admitted(3, 600*time.Millisecond, "a", 20)}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: got %v, want %v", tt.store, got, tt.want)
		}
		records, _ := s.Truth()
		if n := records[len(records)-1].Node; n != 3 {
			t.Errorf("%s: the truth says node %d of a decision of node 3", tt.store, n)
		}
	}
}

// The admin side is about one node or all of them.
func TestAdminOfNodes(t *testing.T) {
	cfg := byHeader(t, "token-bucket{burst=1,rate=1/1h}")
	cfg.Nodes = 3
	s := simulate(t, cfg)
	if got := body(t, s.Admin(0, "POST", "/clock/step?by=-5s&node=2", "")); !strings.Contains(got, `"node":2`) || !strings.Contains(got, `"offset_ns":-5000000000`) || strings.HasPrefix(got, "[") {
		t.Errorf("stepping node 2: got %s", got)
	}
	if got := body(t, s.Admin(0, "GET", "/clock", "")); strings.Count(got, `"offset_ns":0`) != 2 || strings.Count(got, "-5000000000") != 1 {
		t.Errorf("all clocks: got %s", got)
	}
	for _, target := range []string{"/clock/slew?ppm=500", "/clock/freeze", "/clock/resume", "/clock/strobe?step=-1s&every=1h", "/clock/strobe?times=0", "/clock/strobe?step=-1s&every=250ms&times=40", "/clock/rate?ppm=50"} {
		if res := s.Admin(0, "POST", target, ""); res.StatusCode != 200 {
			t.Errorf("%s: got %d: %s", target, res.StatusCode, body(t, res))
		}
	}
	s.Advance(time.Minute)
	// Node 2: -5 s, the strobe is over, 60 s * 1.00005 * 0.0005 forward.
	if got, want := s.server.nodes[1].clock.Read().Offset, int64(-5e9+30_001_500); got != want {
		t.Errorf("the clock of node 2: got %d, want %d", got, want)
	}
	for _, target := range []string{"/clock/step?by=-5s&node=4", "/clock/step?by=-5s&node=x", "/clock/step", "/clock/slew?ppm=x", "/clock/strobe?step=1s", "/clock/strobe?step=1s&every=1s&times=0", "/clock/strobe?step=1s&every=1s&times=-1", "/clock/strobe?step=1s&every=1s&times=2000000000", "/clock/stop", "/clock/rate?ppm=5000", "/restart", "/restart?how=soft", "/store/lose", "/store/delay?by=-1s"} {
		if res := s.Admin(time.Minute, "POST", target, ""); res.StatusCode != 400 {
			t.Errorf("%s: got %d, want 400", target, res.StatusCode)
		}
	}
}

// A front hands requests of many connections, or of one, or of clients to nodes
// with budgets of their own; a node that is down is left out.
func TestFronts(t *testing.T) {
	tests := []struct {
		front     string
		many, one int // admitted of 60 requests over connections of their own, and of 60 over one
	}{
		{"round-robin", 30, 30},
		{"connection", 30, 10},
		{"sticky{by=header:X-Api-Key}", 10, 10},
		{"sticky", 10, 10},
	}
	for _, tt := range tests {
		cfg := byHeader(t, "token-bucket{burst=10,rate=1/1h}")
		cfg.Nodes, cfg.NodeStore, cfg.Front = 3, parse(t, "separate"), parse(t, tt.front)
		s := startServer(t, cfg)
		got := [2]int{
			admittedOf(t, s.URL(), "many", 60, func() *http.Client { return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} }),
			admittedOf(t, s.URL(), "one", 60, once(&http.Client{Transport: &http.Transport{}})),
		}
		if got[0] != tt.many || got[1] != tt.one {
			t.Errorf("%s: got %d over many connections and %d over one, want %d and %d", tt.front, got[0], got[1], tt.many, tt.one)
		}
		if places := s.Places(); len(places) != 4 || places[0].Name != "front" || places[3].Node != 3 || s.URL() != places[0].URL {
			t.Errorf("%s: got places %+v", tt.front, places)
		}
		s.nodes[1].stop(hard)
		if n := admittedOf(t, s.URL(), "two", 60, once(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}})); tt.front == "round-robin" && n != 20 {
			t.Errorf("%s: with a node down got %d admitted, want 20", tt.front, n)
		}
	}
}

func once(c *http.Client) func() *http.Client { return func() *http.Client { return c } }

func admittedOf(t *testing.T, url, key string, n int, client func() *http.Client) (admitted int) {
	t.Helper()
	for range n {
		req, err := http.NewRequest("GET", url+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", key)
		res, err := client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		switch res.StatusCode {
		case 200:
			admitted++
		case 429:
		default:
			t.Fatalf("got %d", res.StatusCode)
		}
	}
	return admitted
}

func TestNodeErrors(t *testing.T) {
	three := []Listener{{Address: "127.0.0.1:1"}, {Address: "127.0.0.1:2"}, {Address: "127.0.0.1:3"}}
	tests := []struct {
		cfg  Config
		says string
	}{
		{Config{Nodes: -1}, "give 1 to 64"},
		{Config{Nodes: 2, Listeners: three}, "2 nodes and 3 addresses"},
		{Config{Nodes: 2, Listeners: []Listener{{Address: "unix:/x"}}}, "on one socket"},
		{Config{Nodes: 2, NodeStore: mode.Mode{Name: "share"}}, "did you mean shared"},
		{Config{Nodes: 2, NodeStore: parse(t, "lagging")}, "lag: is missing"},
		{Config{Nodes: 2, NodeStore: parse(t, "lagging{lag=1s}"), Limit: parse(t, "concurrency{burst=1}")}, "under way on one node"},
		{Config{Front: parse(t, "stick")}, "did you mean sticky"},
		{Config{Front: parse(t, "sticky{by=head:X}")}, "did you mean header"},
		{Config{Front: parse(t, "connection{address=x}")}, "write HOST:PORT"},
		{Config{Nodes: 2, Clock: script(t, "node 3 step 1s")}, "there is no node 3"},
		{Config{Clock: script(t, "step 400000h; step 400000h")}, "more than 50 years"},
	}
	for _, tt := range tests {
		if err := tt.cfg.Check(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: got %v, want an error that says %q", tt.cfg, err, tt.says)
		}
	}
	if err := (Config{Nodes: 3, Listeners: three}).Check(); err != nil {
		t.Errorf("an address for each node: %v", err)
	}
}

func body(t testing.TB, res *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
