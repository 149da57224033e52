package server

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The clock that a defect steps is that of its limit and of the Date there: another
// route, and the admin side, see nothing of it. It counts from when the defect came
// with a reload, goes on over one that leaves it as it is and over a restart, and
// ends with it.
func TestSteppingIsOfOneLimit(t *testing.T) {
	config := func(defects ...string) Config {
		cfg := in(t, "token-bucket{burst=2,rate=2/s}", "memory", "memory")
		cfg.Limits[1].Defects = parseAll(t, defects...)
		return cfg
	}
	next := config()
	cfg := config()
	cfg.Reread = func([]byte) (Config, error) { return next, nil }
	s := simulate(t, cfg)
	date := func(at time.Duration, path string) (behind time.Duration) {
		t.Helper()
		s.Arrive(at, request("GET", path, "a", ""), func(_ time.Duration, w *http.Response) {
			said, err := http.ParseTime(w.Header.Get("Date"))
			if err != nil {
				t.Fatal(err)
			}
			behind = start.Add(at).Sub(said)
		})
		return behind
	}
	do := func(at time.Duration, target string) {
		t.Helper()
		if res := s.Admin(at, "POST", target, ""); res.StatusCode != 200 {
			t.Fatalf("%s: got %d, %s", target, res.StatusCode, body(t, res))
		}
	}
	check := func(at, want time.Duration) {
		t.Helper()
		if got := date(at, "/b"); got != want {
			t.Errorf("at %v: got %v behind, want %v", at, got, want)
		}
		if got := date(at, "/"); got != 0 {
			t.Errorf("at %v: the other route is %v behind", at, got)
		}
		if got := body(t, s.Admin(at, "GET", "/clock", "")); !strings.Contains(got, `"offset_ns":0`) {
			t.Errorf("at %v: the server's own clock is %s", at, got)
		}
	}
	check(50*time.Second, 0)
	next = config("wall-clock{step=-10s,every=30s}")
	do(50*time.Second, "/reload")
	check(79*time.Second, 0)
	check(80*time.Second, 10*time.Second)
	do(90*time.Second, "/reload")
	do(91*time.Second, "/restart?how=hard")
	check(110*time.Second, 20*time.Second)
	next = config()
	do(115*time.Second, "/reload")
	check(120*time.Second, 0)
	next = config("wall-clock{step=-10s,every=30s}")
	do(125*time.Second, "/reload")
	check(154*time.Second, 0)
	check(155*time.Second, 10*time.Second)
}

// What is misspelt on the admin side is refused, with what there is.
func TestUnknownParameters(t *testing.T) {
	s := simulate(t, byHeader(t, ten))
	for target, says := range map[string]string{
		"POST /clock/step?by=-5s&nod=2": "there are node, by", "POST /restart?how=hard&when=now": "there are node, how", "POST /reload?keep=1": "nothing can be given here",
		"GET /truth?folow=1": "there are follow", "GET /limits?node=1": "nothing can be given here",
	} {
		method, path, _ := strings.Cut(target, " ")
		if res := s.Admin(0, method, path, ""); res.StatusCode != 400 {
			t.Errorf("%s: got %d, want 400", target, res.StatusCode)
		} else if said := body(t, res); !strings.Contains(said, says) {
			t.Errorf("%s: got %s, want one that says %q", target, said, says)
		}
	}
}

// The answer to a reload names what needs another start, and nothing that is as it was.
func TestNotReloaded(t *testing.T) {
	next := byHeader(t, ten)
	cfg := byHeader(t, ten)
	cfg.Reread = func([]byte) (Config, error) { return next, nil }
	s := simulate(t, cfg)
	if got := s.Admin(0, "POST", "/reload", "").Header.Get(notReloaded); got != "" {
		t.Errorf("nothing else: got %q", got)
	}
	next.Nodes, next.Clock, next.Admin, next.Front = 3, script(t, "step 1s"), "127.0.0.1:9", parse(t, "sticky")
	next.Listeners = []Listener{{Address: "127.0.0.1:8"}}
	if got, want := s.Admin(0, "POST", "/reload", "").Header.Get(notReloaded), "listeners, nodes, front, clock, admin"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
