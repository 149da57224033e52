package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// overRedis starts the reference server with its states in a Redis.
func overRedis(t *testing.T, redis *lab.RedisServer, down string, nodes int, defects ...string) *server.Server {
	t.Helper()
	parse := func(s string) mode.Mode {
		m, err := mode.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	k, err := key.Parse("header:X-Api-Key")
	if err != nil {
		t.Fatal(err)
	}
	l := server.Limit{Name: server.DefaultName, Algorithm: parse("token-bucket{burst=5,rate=5/s}"), Key: k, Store: parse("redis{address=" + redis.Address + ",timeout=400ms,down=" + down + "}")}
	if down == "local" {
		l.Fallback = parse("token-bucket{burst=2,rate=1/s}")
	}
	for _, d := range defects {
		l.Defects = append(l.Defects, parse(d))
	}
	c := server.Config{Limits: []server.Limit{l}, Listeners: []server.Listener{{Address: fmt.Sprintf("127.0.0.1:%d", lab.Port(t))}}}
	if nodes > 1 {
		c.Nodes, c.Front = nodes, parse(fmt.Sprintf("round-robin{address=127.0.0.1:%d}", lab.Port(t)))
		c.Listeners = append(c.Listeners, server.Listener{Address: fmt.Sprintf("127.0.0.1:%d", lab.Port(t))})
	}
	s, err := server.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func findingOf(r report.Report, check string) (f results.Finding) {
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	return f
}

// A Redis is killed, paused and slow while requests come: what was declared is accepted,
// and what is something else is named.
func TestRedisOutages(t *testing.T) {
	const local = "local,burst=2,rate=1/s"
	tests := []struct {
		down, fault, expect string
		wrong               bool
		says                string // in the finding
	}{
		{"closed", "process: pause, on: store, for: 1s", "closed", false, "it was closed, as declared"},
		{"open", "process: pause, on: store, for: 1s", "closed", true, "that looks like open"},
		{"local", "process: kill, on: store", local, false, "it was local, as declared"},
		{"local", "process: kill, on: store", "open", true, "that looks like local budgets"},
		{"none", "process: kill, on: store", "open", true, "that looks like closed"},
		{"closed", "store: {delay: 1s}, for: 1s", "open", true, "that looks like closed"},
		{"open", "store: {delay: 20ms}, for: 1s", "closed", false, "nor the store itself"},
	}
	var all sync.WaitGroup // they have little to do but to wait
	defer all.Wait()
	for i, tt := range tests {
		all.Go(func() {
			t.Run(fmt.Sprintf("%s, %s, declared %s", tt.down, tt.fault, tt.expect), func(t *testing.T) {
				redis := lab.Redis(t)
				s := overRedis(t, redis, tt.down, 1)
				file := fmt.Sprintf("%s/%d.yaml", t.TempDir(), i)
				text := fmt.Sprintf("target: %s/\nlimit: {burst: 5, rate: 5/s, key: \"header:X-Api-Key\"}\nphases:\n  - {name: pressure, pace: 20/s, for: 3s, keys: 1}\n  - {name: within, at: 0s, pace: 4/s, for: 3s, keys: 2}\nactions:\n  - {at: 1s, %s, expect: \"%s\"}\n", s.URL(), tt.fault, tt.expect)
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				code, r := hammer(t, "run", file, "--store-pid", fmt.Sprint(redis.PID()), "--clock-admin", s.AdminURL())
				f := findingOf(r, assertions.CheckOutage)
				if broken := f.Status == results.Broken; broken != tt.wrong || (code == exitBroken) != tt.wrong {
					t.Errorf("got exit code %d, %v: %s", code, f.Status, r.Headline)
				}
				if !strings.Contains(f.Text, tt.says) {
					t.Errorf("got %q, want it to say %q", f.Text, tt.says)
				}
			})
		})
	}
}

// Two nodes whose clocks are a second apart share a Redis and are asked in turn: where
// each writes by its own clock too much is let through, and by that of Redis not.
func TestSkewedNodesOverRedis(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, defects := range [][]string{nil, {"race{gap=1ms}", "wall-clock{form=clamp}"}} {
		all.Go(func() {
			t.Run(strings.Join(defects, " "), func(t *testing.T) {
				s := overRedis(t, lab.Redis(t), "none", 2, defects...)
				code, r := hammer(t, "check", s.URL()+"/", "--burst", "5", "--rate", "5/s", "--clock", "skewed-nodes", "--clock-admin", s.AdminURL())
				switch f := findingOf(r, assertions.CheckUpper); {
				case len(defects) == 0 && code == exitBroken:
					t.Errorf("right nodes are accused: %s", r.Headline)
				case len(defects) > 0 && (code != exitBroken || f.Status != results.Broken):
					t.Errorf("got exit code %d: %s", code, r.Headline)
				}
			})
		})
	}
}

// A process that is not the server's store is noticed, and what was done to it accuses
// nobody.
func TestAnotherStore(t *testing.T) {
	s, other := overRedis(t, lab.Redis(t), "closed", 1), lab.Redis(t)
	file := t.TempDir() + "/another.yaml"
	text := fmt.Sprintf("target: %s/\nlimit: {burst: 5, rate: 5/s, key: \"header:X-Api-Key\"}\nphases:\n  - {name: pressure, pace: 20/s, for: 2s, keys: 1}\nactions:\n  - {at: 500ms, process: pause, on: store, for: 1s, expect: closed}\n", s.URL())
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, r := hammer(t, "run", file, "--store-pid", fmt.Sprint(other.PID()))
	f, doubt := findingOf(r, assertions.CheckOutage), fmt.Sprintf("it is not proven that process %d (redis-server) is the store", other.PID())
	if code != exitInconclusive || f.Status != results.Inconclusive || !strings.Contains(f.Text, doubt) {
		t.Errorf("got exit code %d, %v: %s", code, f.Status, f.Text)
	}
}
