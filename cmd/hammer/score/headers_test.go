package score

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// telling is a server whose answers tell of its limits in a dialect. All of its
// limits are on one key.
func telling(t *testing.T, settings dialect.Settings, limits []string, defects ...string) Subject {
	t.Helper()
	k, err := key.Parse(defaultKey)
	if err != nil {
		t.Fatal(err)
	}
	s := Subject{Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}
	route := server.Route{Answers: settings}
	for i, l := range limits {
		var modes []mode.Mode
		for _, text := range append([]string{l}, defects...) {
			m, err := mode.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			modes = append(modes, m)
		}
		name := fmt.Sprint("limit", i+1)
		s.Config.Limits = append(s.Config.Limits, server.Limit{Name: name, Algorithm: modes[0], Key: k, Defects: modes[1:]})
		route.Limits = append(route.Limits, name)
		defects = nil
	}
	s.Config.Routes = []server.Route{route}
	return s
}

// look is the verdict on a subject. Of several limits hammer is told of all, or
// of the first alone.
func look(t *testing.T, s Subject, n virtual.Network, seed uint64, draft int, first bool) results.Verdict {
	t.Helper()
	s.Config.Seed = seed
	sim, err := server.Simulate(s.Config, day.Add(time.Duration(seed*7_919_000_003)%(24*time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	limits := promised(sim, s.Key)
	if first {
		limits = limits[:1]
	}
	gun, err := probes.Aim(context.Background(), probes.Target{URL: "http://127.0.0.1:1/", Key: s.Key, Answers: limits[0].Answers, Nonce: fmt.Sprint("h", seed)})
	if err != nil {
		t.Fatal(err)
	}
	defer gun.Close()
	sc, _ := library.Standard(limits[0], library.Circumstances{RTT: 2 * n.OneWay, Seed: seed, Budget: time.Minute})
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	at := &site{sim: sim, gun: gun}
	j, err := assertions.New(limits, assertions.Options{Fresh: true, NoCauses: true, Draft: draft, Checks: []string{"retry-after", "ratelimit", "refusal"}})
	if err != nil {
		t.Fatal(err)
	}
	run := &results.Run{}
	for _, b := range virtual.RunAt(plan, virtual.Client{Answers: limits[0].Answers, Slack: limits[0].Slack, Jitter: 300 * time.Microsecond}, n, at, seed) {
		run.Sent += int64(len(b.Hits))
		j.Block(b)
	}
	if at.err != nil {
		t.Fatal(at.err)
	}
	run.Planned = run.Sent
	return j.Verdict(run)
}

// brokenOf are the checks that are broken, advice among them.
func brokenOf(v results.Verdict) (all []string) {
	for _, f := range v.Findings {
		if f.Status == results.Broken {
			all = append(all, f.Check+" ("+f.Level.String()+"): "+f.Text)
		}
	}
	return all
}

// dialects are those of the reference server, alone and two at a time.
var dialects = [][]string{{"draft", "x-ratelimit-epoch"}, {"draft-07"}, {"ratelimit", "x-ratelimit-epoch-ms"}, {"x-ratelimit"}, {"draft"}, {"x-ratelimit-epoch"}}

// No right server is accused of anything that its answers tell, not even by way
// of advice, in any dialect, by any algorithm, through any network.
func TestRightHeadersAreNotAccused(t *testing.T) {
	limits := [][]string{
		{"token-bucket{burst=10,rate=5/1s}"},
		{"gcra{burst=20,rate=1/1s}"},
		{"meter{burst=10,rate=5/1s}"},
		{"token-bucket{burst=3,rate=7/10s}"},
		{"nginx{burst=5,rate=10/s,nodelay}"},
		{"lumps{burst=10,rate=5/1s}"},
		{"lumps{burst=4,rate=4/2s}"},
		{"fixed-window{rate=10/2s}"},
		{"fixed-window{rate=10/2s,align=first-hit}"},
		{"sliding-log{rate=10/2s}"},
		{"sliding-counter{rate=10/2s,test=le}"},
		{"sliding-counter{rate=10/2s,test=lt}"},
		{"queue{burst=5,rate=10/1s}"},
		{"concurrency{burst=4}"},
		{"token-bucket{burst=10,rate=5/1s}", "fixed-window{rate=30/10s}"},
		{"sliding-log{rate=6/1s}", "token-bucket{burst=40,rate=2/1s}"},
	}
	seeds, from := uint64(1), uint64(0)
	if many := os.Getenv("HAMMER_SEEDS"); many != "" { // such as 8, for a longer look
		n, err := strconv.ParseUint(many, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds, from = n, 100
	}
	networks := []virtual.Network{virtual.LAN(), virtual.WAN(), virtual.Far()}
	runs, answered := 0, map[string]int{}
	for i, limit := range limits {
		for d, fields := range dialects {
			for seed := from; seed < from+seeds; seed++ {
				settings := dialect.Settings{Fields: fields}
				if (i+d)%3 == 1 {
					settings.RetryAfter = "date"
				}
				n := networks[(i+d+int(seed))%len(networks)]
				v := look(t, telling(t, settings, limit), n, seed*31+uint64(d)+1, 10+int(seed)%2, len(limit) > 1 && d%2 == 0)
				runs++
				for _, f := range v.Findings {
					if f.Status == results.Kept {
						answered[f.Check]++
					}
				}
				if all := brokenOf(v); len(all) > 0 {
					t.Errorf("%v in %v through %v, seed %d: accused of\n%s", limit, fields, n.OneWay, seed, strings.Join(all, "\n"))
				}
			}
		}
	}
	t.Logf("%d runs, kept: %v", runs, answered)
	for _, id := range []string{assertions.CheckRemaining, assertions.CheckReset, assertions.CheckPolicy, assertions.CheckConsistent, assertions.CheckFields, assertions.CheckHonest, assertions.CheckTight} {
		if answered[id] < runs/4 {
			t.Errorf("%s was answered in %d of %d runs", id, answered[id], runs)
		}
	}
}

// Each way in which the reference server tells something wrong is found by the
// standard scenario, by the check that is about it; advice is named.
func TestWrongHeadersAreFound(t *testing.T) {
	const bucket, slow = "token-bucket{burst=10,rate=5/1s}", "token-bucket{burst=5,rate=1/2s}"
	tests := []struct {
		defect, limit, fields, retry, want string
	}{
		{"ra{form=floor}", slow, "", "", "retry-after.honest (must)"},
		{"ra{form=floor}", bucket, "", "", "retry-after.positive (must)"},
		{"ra{form=exclusive}", bucket, "", "", "retry-after.honest (must)"},
		{"ra{form=zero}", bucket, "", "", "retry-after.positive (must)"},
		{"ra{form=neg}", bucket, "", "", "retry-after.syntax (must)"},
		{"ra{form=neg-epoch}", bucket, "", "", "retry-after.syntax (must)"},
		{"ra{form=window}", bucket, "", "", "retry-after.tight (must)"},
		{"ra{form=window}", "fixed-window{rate=10/5s}", "", "", "retry-after.consistent (should)"},
		{"ra{form=full-interval}", slow, "", "", "retry-after.consistent (should)"},
		{"ra{form=ms}", bucket, "", "", "retry-after.tight (must)"},
		{"ra{form=epoch}", bucket, "", "", "retry-after.tight (must)"},
		{"ra{form=common-deadline}", bucket, "", "", "retry-after.tight (must)"},
		{"ra{form=utc-zone}", bucket, "", "date", "retry-after.syntax (must)"},
		{"remaining{form=stale}", bucket, "x-ratelimit", "", "ratelimit.remaining (must)"},
		{"remaining{form=neg}", bucket, "x-ratelimit", "", "ratelimit.remaining (must)"},
		{"remaining{form=burst-only}", bucket, "ratelimit", "", "ratelimit.remaining (must)"},
		{"remaining{form=random}", bucket, "x-ratelimit", "", "ratelimit.remaining (must)"},
		{"remaining{form=stale}", "fixed-window{rate=10/2s}", "draft", "", "ratelimit.remaining (must)"},
		{"remaining{form=neg}", "sliding-log{rate=10/2s}", "draft-07", "", "ratelimit.remaining (must)"},
		{"remaining{form=burst-only}", "fixed-window{rate=10/2s}", "x-ratelimit-epoch", "", "ratelimit.remaining (must)"},
		{"remaining{form=burst-only}", "sliding-log{rate=10/2s}", "draft", "", "ratelimit.remaining (must)"},
		{"remaining{form=random}", "fixed-window{rate=10/2s,align=first-hit}", "draft-07", "", "ratelimit.remaining (must)"},
		{"remaining{form=random}", "sliding-counter{rate=10/2s,test=le}", "draft", "", "ratelimit.remaining (must)"},
		{"remaining{form=stale}", "lumps{burst=10,rate=5/1s}", "draft", "", "ratelimit.remaining (must)"},
		{"reset{form=zero}", bucket, "x-ratelimit", "", "ratelimit.reset (must)"},
		{"reset{form=zero}", "token-bucket{burst=3,rate=1/5s}", "x-ratelimit-epoch", "", "ratelimit.reset (must)"},
		{"reset{form=seconds}", bucket, "x-ratelimit", "", "ratelimit.reset (must)"},
		{"reset{form=epoch}", bucket, "ratelimit", "", "ratelimit.syntax (should)"},
		{"reset{form=epoch}", bucket, "draft-07", "", "ratelimit.reset (must)"},
		{"reset{form=epoch}", bucket, "x-ratelimit-epoch", "", "ratelimit.reset (must)"},
		{"policy-told{quota=20}", bucket, "draft", "", "ratelimit.policy (should)"},
		{"policy-told{rate=10/s}", bucket, "draft-07", "", "ratelimit.policy (should)"},
	}
	for _, tt := range tests {
		for i, n := range []virtual.Network{virtual.LAN(), virtual.WAN()} {
			settings := dialect.Settings{RetryAfter: tt.retry}
			if tt.fields != "" {
				settings.Fields = []string{tt.fields}
			}
			all := brokenOf(look(t, telling(t, settings, []string{tt.limit}, tt.defect), n, uint64(i)+5, 0, false))
			if !strings.Contains(strings.Join(all, "\n"), tt.want) {
				t.Errorf("%s of %s in %s through %v: got %q, want %s", tt.defect, tt.limit, tt.fields, n.OneWay, all, tt.want)
			}
		}
	}
}
