package assertions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// wan is a network with this round trip, tails and losses.
func wan(rtt time.Duration) virtual.Network {
	return virtual.Network{OneWay: rtt / 2, Spread: 0.2, Tail: 0.01, TailBy: 10, Loss: 0.001}
}

// attack fires an attack at an algorithm whose clock began anywhere, and judges
// what comes back.
func attack(t *testing.T, text string, l scenarios.Limit, tactic scenarios.Tactic, n virtual.Network, seed uint64) results.Verdict {
	t.Helper()
	s := scenarios.Scenario{Limits: []scenarios.Limit{l}, Phases: []scenarios.Phase{
		{Name: "edge", Attack: tactic, Rounds: 1, Keys: scenarios.Keys{Fresh: 2}, Every: 150 * time.Millisecond}}}
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	offset := int64(seed) * 7_919_000_003 % int64(time.Hour)
	server := &virtual.Limited{Algorithm: algorithm(t, text), Now: func(at int64) int64 {
		now := offset + at + at/10_000*int64(seed%7) - at/10_000*3
		return now - now%int64(time.Millisecond)
	}}
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	run, last := results.Run{}, int64(0)
	for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack, Jitter: 300 * time.Microsecond}, n, server, seed) {
		run.Sent += int64(len(b.Hits))
		for _, h := range b.Hits {
			last = max(last, h.Planned)
		}
		j.Block(b)
	}
	if most := plan.Most(); run.Sent > int64(most) || last > int64(plan.Length) {
		t.Errorf("%s, seed %d: got %d requests, the last due at %v, of at most %d until %v", text, seed, run.Sent, time.Duration(last), most, plan.Length)
	}
	run.Planned = run.Sent
	return j.Verdict(&run)
}

// boundaries are promises, limiters that keep them nearly everywhere, and how
// many of 100 attacks must find out.
var boundaries = []struct {
	text         string
	tactic       scenarios.Tactic
	near, beyond int // with round trips of 0.4 and 14 ms, and of 70 ms
}{
	{"fixed-window{rate=20/2s,align=start}", scenarios.TacticBoundary, 95, 75},
	{"fixed-window{rate=20/2s,align=first-hit}", scenarios.TacticBoundary, 95, 75},
	{"fixed-window{rate=20/2s,align=first-hit}", scenarios.TacticPilot, 95, 75},
	{"lumps{burst=20,rate=20/2s,align=start}", scenarios.TacticBoundary, 95, 75},
	{"lumps{burst=20,rate=10/1s,align=first-hit}", scenarios.TacticBoundary, 95, 75},
	{"lumps{burst=20,rate=7/700ms,align=start}", scenarios.TacticBoundary, 95, 75},
	{"token-bucket{burst=20,rate=10/s}", scenarios.TacticBoundary, 0, 0},
	{"token-bucket{burst=20,rate=10/s}", scenarios.TacticPilot, 0, 0},
	{"sliding-log{rate=20/2s}", scenarios.TacticBoundary, 0, 0},
	{"sliding-log{rate=20/2s}", scenarios.TacticPilot, 0, 0},
	{"sliding-counter{rate=20/2s}", scenarios.TacticBoundary, 0, 0},
	{"sliding-counter{rate=20/2s}", scenarios.TacticPilot, 0, 0},
}

// A limiter that admits twice its burst around an edge is found out, and one
// that has no edges is not accused of admitting too much.
func TestBoundaryAttack(t *testing.T) {
	seeds := 10 // of the moment at which the windows began
	if raced {
		seeds = 1
	}
	l := declared(scenarios.Limit{Burst: 20, Rate: scenarios.Rate{Count: 10, Per: time.Second}})
	for _, tt := range boundaries {
		t.Run(fmt.Sprintf("%s/%v", tt.text, tt.tactic), func(t *testing.T) {
			for _, n := range []struct {
				rtt  string
				net  virtual.Network
				want int
			}{{"0.4 ms", virtual.LAN(), tt.near}, {"14 ms", wan(14 * time.Millisecond), tt.near}, {"70 ms", wan(70 * time.Millisecond), tt.beyond}} {
				found := 0
				for seed := range uint64(seeds) {
					if strings.Contains(strings.Join(broken(attack(t, tt.text, l, tt.tactic, n.net, seed)), " "), CheckUpper) {
						found++
					}
				}
				t.Logf("%s: found in %d of %d", n.rtt, found, seeds)
				if found*100 < n.want*seeds || n.want == 0 && found > 0 {
					t.Errorf("%s: got %d of %d, want %d of 100", n.rtt, found, seeds, n.want)
				}
			}
		})
	}
}
