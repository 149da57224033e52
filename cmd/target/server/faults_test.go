package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// faultStage is a part of an outage: what is done to the way to the store, and what
// becomes of 20 requests of one key afterwards.
type faultStage struct {
	action string // of POST /store; empty: none
	took   time.Duration
}

var faultStages = []faultStage{
	{"", 0},
	{"cut", 0},
	{"restore", 0},
	{"delay?by=200ms", 200 * time.Millisecond},
	{"delay?by=30s", time.Second}, // the timeout
	{"restore", 0},
}

// policies are what each declared policy makes of each stage: the statuses of 20
// requests on a key that has 3 tokens when all begins, and 2 at the fallback.
var policies = map[string][]string{
	"":             {"200*3 429*17", "503*20", "429*20", "429*20", "503*20", "429*20"},
	",down=none":   {"200*3 429*17", "503*20", "429*20", "429*20", "503*20", "429*20"},
	",down=open":   {"200*3 429*17", "200*20", "429*20", "429*20", "200*20", "429*20"},
	",down=closed": {"200*3 429*17", "503*20", "429*20", "429*20", "503*20", "429*20"},
	",down=local":  {"200*3 429*17", "200*2 429*18", "429*20", "429*20", "429*20", "429*20"},
}

func policyConfig(t testing.TB, store string) Config {
	return Config{Limits: []Limit{{
		Algorithm: parse(t, "token-bucket{burst=3,rate=1/1000h}"), Key: parseKey(t, "header:X-Api-Key"),
		Store: parse(t, store), Fallback: parse(t, "token-bucket{burst=2,rate=1/1000h}"),
	}}}
}

// An outage in virtual time: what is slow takes as long as it says, and not a
// second longer.
func TestOutageInVirtualTime(t *testing.T) {
	for policy, want := range policies {
		s := simulate(t, policyConfig(t, "memory{timeout=1s"+policy+"}"))
		now := time.Duration(0)
		for i, stage := range faultStages {
			if stage.action != "" {
				if res := s.Admin(now, "POST", "/store/"+stage.action, ""); res.StatusCode != 200 {
					t.Fatalf("%s: got %d", stage.action, res.StatusCode)
				}
			}
			statuses := map[int]int{}
			for range 20 {
				answered := time.Duration(-1)
				s.Arrive(now, request("GET", "/", "a", ""), func(at time.Duration, w *http.Response) {
					statuses[w.StatusCode]++
					answered = at
				})
				s.Advance(now + 40*time.Second)
				if answered != now+stage.took {
					t.Errorf("down%s, %s: answered after %v, want %v", policy, stage.action, answered-now, stage.took)
				}
				now += 41 * time.Second
			}
			if got := told(statuses); got != want[i] {
				t.Errorf("down%s, after %q: got %s, want %s", policy, stage.action, got, want[i])
			}
		}
	}
}

// told is a count of statuses, as in 200*3 429*17.
func told(statuses map[int]int) string {
	var parts []string
	for _, s := range []int{200, 429, 502, 503} {
		if statuses[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d*%d", s, statuses[s]))
		}
	}
	return strings.Join(parts, " ")
}

// The same over sockets, and with a Redis on the wire.
func TestOutageOverSockets(t *testing.T) {
	redis := lab.Redis(t)
	stores := map[string]string{
		"memory": "memory{timeout=300ms%s}",
		"redis":  "redis{address=" + redis.Address + ",prefix=outage%d:,timeout=300ms%s}",
	}
	n := 0
	for name, store := range stores {
		for policy, want := range policies {
			n++
			text := fmt.Sprintf(store, policy)
			if name == "redis" {
				text = fmt.Sprintf(store, n, policy)
			}
			s := startServer(t, policyConfig(t, text))
			for i, stage := range faultStages {
				if stage.action != "" {
					if res, said := fetch(t, "POST", s.AdminURL()+"/store/"+strings.Replace(stage.action, "200ms", "20ms", 1), "", nil); res.StatusCode != 200 {
						t.Fatalf("%s: got %d, %s", stage.action, res.StatusCode, said)
					}
				}
				requests := 20
				if stage.took >= time.Second {
					requests = 2
				}
				statuses := map[int]int{}
				for range requests {
					res, _ := fetch(t, "GET", s.URL(), "a", nil)
					statuses[res.StatusCode]++
				}
				got := told(statuses)
				if requests == 2 {
					got = strings.Replace(got, "*2", "*20", 1)
				}
				if got != want[i] {
					t.Errorf("%s down%s, after %q: got %s, want %s", name, policy, stage.action, got, want[i])
				}
			}
			if res, said := fetch(t, "GET", s.AdminURL()+"/store", "", nil); res.StatusCode != 200 || !strings.Contains(said, `"cut":false,"delay_ns":0`) {
				t.Errorf("%s: got %d and %s", name, res.StatusCode, said)
			}
		}
	}
}

// One node can be cut off while the others go on.
func TestOutageOfOneNode(t *testing.T) {
	cfg := policyConfig(t, "memory{down=closed}")
	cfg.Nodes = 3
	s := simulate(t, cfg)
	s.Admin(0, "POST", "/store/cut?node=2", "")
	if got := []int{s.at(1, 0, "a"), s.at(2, 0, "a"), s.at(3, 0, "a")}; fmt.Sprint(got) != "[200 503 200]" {
		t.Errorf("got %v", got)
	}
}
