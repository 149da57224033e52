package library

import (
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Twelve keys that are drained alike bracket the moment at which they reopen to
// 50 ms, in 95 of 100 runs at least, and the moment lies within.
func TestTwinsBracketTheReopening(t *testing.T) {
	const runs, enough = 100, 95
	for _, text := range []string{"token-bucket{burst=10,rate=1/3s}", "gcra{burst=4,rate=2/1s}", "sliding-log{rate=5/4s}", "fixed-window{rate=5/4s,align=first-hit}"} {
		m, err := mode.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		narrow, within, widest := 0, 0, time.Duration(0)
		for seed := range uint64(runs) {
			a, err := limiter.New(m)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi := bracketed(t, a, virtual.LAN(), seed)
			if hi-lo <= 50*time.Millisecond {
				narrow++
			}
			if open := a.Promise().Longest(); lo <= open && open <= hi {
				within++
			}
			widest = max(widest, hi-lo)
		}
		t.Logf("%s: within 50 ms in %d of %d runs, widest %v", text, narrow, runs, widest)
		if narrow < enough || within < runs {
			t.Errorf("%s: within 50 ms in %d of %d runs, and right in %d: want %d and all", text, narrow, runs, within, enough)
		}
	}
}

// bracketed gives the longest time after which a twin was surely refused, and the
// shortest after which one was surely admitted, from the decision on the first
// request of its drain.
func bracketed(t *testing.T, a limiter.Algorithm, n virtual.Network, seed uint64) (lo, hi time.Duration) {
	t.Helper()
	l := a.Promise()
	l.Key, l.Answers, l.Slack = scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}, scenarios.DefaultAnswers(), scenarios.DefaultSlack()
	sc, _ := newDesign(l, Circumstances{RTT: 2 * n.OneWay, Seed: seed}).lay("bracket", []Trap{bracket()})
	plan, err := sc.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	type drain struct{ sent, first int64 } // between the two the first request was decided
	drains, asked := map[string]drain{}, map[string]*results.Hit{}
	for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack, Jitter: 300 * time.Microsecond}, n, &virtual.Limited{Algorithm: a}, seed) {
		for i := range b.Hits {
			h := &b.Hits[i]
			if h.Phase%2 == 1 {
				asked[h.Key] = h
				continue
			}
			d, known := drains[h.Key]
			if !known {
				d = drain{h.Sent, results.Never}
			}
			d.sent = min(d.sent, h.Sent)
			if h.Outcome == results.Admitted {
				d.first = min(d.first, h.First)
			}
			drains[h.Key] = d
		}
	}
	hi = time.Hour
	for key, h := range asked {
		if h.Outcome == results.Limited {
			lo = max(lo, time.Duration(h.Sent-drains[key].first))
		} else {
			hi = min(hi, time.Duration(h.First-drains[key].sent))
		}
	}
	return lo, hi
}

// What the twins show is enough to find a wait that is told too long, and no fault
// in one that is rounded up.
func TestTwinsFindLateWaits(t *testing.T) {
	m, err := mode.Parse("token-bucket{burst=5,rate=1/2s}")
	if err != nil {
		t.Fatal(err)
	}
	a, err := limiter.New(m)
	if err != nil {
		t.Fatal(err)
	}
	l := a.Promise()
	l.Key, l.Answers, l.Slack = scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}, scenarios.DefaultAnswers(), scenarios.DefaultSlack()
	tests := []struct {
		name  string
		tells func(limiter.Decision) string
		want  results.Status
	}{
		{"rounded up", func(d limiter.Decision) string { return strconv.FormatInt(d.RetryAfter(), 10) }, results.Kept},
		{"two seconds more", func(d limiter.Decision) string { return strconv.FormatInt(d.RetryAfter()+2, 10) }, results.Broken},
		{"until all is there", func(limiter.Decision) string { return "10" }, results.Broken},
	}
	for _, tt := range tests {
		sc, _ := newDesign(l, Circumstances{Seed: 1}).lay("bracket", []Trap{bracket()})
		plan, err := sc.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		j, err := assertions.New(sc.Limits, assertions.Options{Fresh: true, NoCauses: true})
		if err != nil {
			t.Fatal(err)
		}
		server := &virtual.Limited{Algorithm: a, RetryAfter: tt.tells}
		for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack}, virtual.LAN(), server, 1) {
			j.Block(b)
		}
		for _, f := range j.Verdict(&results.Run{Planned: 1, Sent: 1}).Findings {
			if f.Check == assertions.CheckTight && f.Status != tt.want {
				t.Errorf("%s: got %v, want %v: %s", tt.name, f.Status, tt.want, f.Text)
			}
		}
	}
}
