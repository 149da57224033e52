package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// crowdOf are 20 clients that are refused 50 ms apart, and come back at the moments
// that a rule gives, the last of which are refused again.
func crowdOf(back func(i int, refused time.Duration) time.Duration, again int, obeyed bool) (hits []results.Hit) {
	const ms = int64(time.Millisecond)
	for i := range 20 {
		refused := time.Duration(i) * 50 * time.Millisecond
		key := string(rune('a' + i))
		hits = append(hits, results.Hit{Seq: int64(i + 1), Key: key, Cost: 1, Sent: int64(refused), First: int64(refused) + ms, Done: int64(refused) + ms, Outcome: results.Limited, Status: 429, RetryAfter: "2"})
		h := results.Hit{Seq: int64(i + 101), Key: key, Cost: 1, Sent: int64(back(i, refused)), Outcome: results.Admitted, Status: 200}
		if h.First, h.Done = h.Sent+ms, h.Sent+ms; i >= 20-again {
			h.Outcome, h.Status = results.Limited, 429
		}
		if obeyed {
			h.Obeyed = int64(i + 1)
		}
		hits = append(hits, h)
	}
	return hits
}

func TestHerd(t *testing.T) {
	phase := func(r scenarios.Retry) []scenarios.Phase {
		return []scenarios.Phase{{Name: "herd", Pace: scenarios.Rate{Count: 1, Per: time.Second}, Count: 1, Retry: r, Keys: scenarios.Keys{Fresh: 20}}}
	}
	each := func(_ int, refused time.Duration) time.Duration { return refused + 2*time.Second }
	same := func(i int, _ time.Duration) time.Duration { return 3*time.Second + time.Duration(i)*time.Millisecond }
	tests := []struct {
		name   string
		phases []scenarios.Phase
		hits   []results.Hit
		factor float64
		says   []string
	}{
		// 20 in 950 ms are 2.1 in 100 ms; each comes as far from the next as it was refused.
		{"spread", phase(scenarios.RetryObey), crowdOf(each, 0, true), 0.95, []string{"20 clients that waited as told", "at most 2 in 100 ms", "0 of 20 were refused again"}},
		{"the same moment", phase(scenarios.RetryObey), crowdOf(same, 5, true), 9.5, []string{"at most 20 in 100 ms, 9.5 times", "5 of 20 were refused again, so that one was admitted for 1.33 that came"}},
		{"clients that come early", phase(scenarios.RetryEarly), crowdOf(each, 3, false), 0.95, []string{"a quarter of the wait too early", "3 of 20 were refused again"}},
		{"a record of a stranger", nil, crowdOf(same, 0, true), 0, []string{"20 clients that waited as told", "at most 20 in 100 ms;"}},
		{"nobody is known to come back", nil, crowdOf(same, 0, false), 0, []string{"not asked"}},
	}
	for _, tt := range tests {
		limit := scenarios.Limit{Burst: 1, Rate: scenarios.Rate{Count: 1, Per: time.Second}, Key: scenarios.Key{Kind: scenarios.KeyIP}}
		j, err := New([]scenarios.Limit{limit}, Options{Fresh: true, Phases: tt.phases, Checks: []string{CheckHerd}})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range results.Blocks(tt.hits) {
			j.Block(b)
		}
		for _, f := range j.Verdict(&results.Run{Sent: 40, Planned: 40}).Findings {
			if f.Check != CheckHerd {
				continue
			}
			if f.Level != results.Info || f.Got < tt.factor*0.98 || f.Got > tt.factor*1.02 {
				t.Errorf("%s: got a factor of %v at level %v, want %v", tt.name, f.Got, f.Level, tt.factor)
			}
			for _, s := range tt.says {
				if !strings.Contains(f.Text, s) {
					t.Errorf("%s: got %q, want it to say %q", tt.name, f.Text, s)
				}
			}
		}
	}
}
