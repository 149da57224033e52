package library

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func TestForesee(t *testing.T) {
	bucket := func(burst int64, rate scenarios.Rate) scenarios.Limit {
		return scenarios.Limit{Burst: burst, Rate: rate, Slack: scenarios.DefaultSlack()}
	}
	window := scenarios.Limit{Contract: scenarios.SlidingLog, Rate: scenarios.Rate{Count: 10, Per: 2 * time.Second}, Slack: scenarios.DefaultSlack()}
	tests := []struct {
		name  string
		limit scenarios.Limit
		c     Circumstances
		says  []string
	}{
		{"on this machine", bucket(10, scenarios.Rate{Count: 5, Per: time.Second}), Circumstances{RTT: 400 * time.Microsecond}, nil},
		// 1000/s x 61 ms are 61 tokens, and 60 fit.
		{"a burst within a round trip", bucket(60, scenarios.Rate{Count: 1000, Per: time.Second}), Circumstances{RTT: 60 * time.Millisecond}, []string{"no refusal can be proven wrong"}},
		{"one more than a round trip", bucket(62, scenarios.Rate{Count: 1000, Per: time.Second}), Circumstances{RTT: 60 * time.Millisecond}, nil},
		// 2 x (20 + 1 ms and the time between two polls) of 2 s are more than 2 %.
		{"a short window far away", window, Circumstances{RTT: 20 * time.Millisecond}, []string{"the period of 2s"}},
		{"a short window nearby", window, Circumstances{RTT: 400 * time.Microsecond}, nil},
		{"an hour and no time", bucket(5, scenarios.Rate{Count: 1, Per: time.Hour}), Circumstances{RTT: time.Millisecond, Budget: 5 * time.Minute}, []string{"give the run 3h"}},
		{"nothing to see", scenarios.Limit{Contract: scenarios.Concurrency, Burst: 3}, Circumstances{}, nil},
	}
	for _, tt := range tests {
		got := Foresee(tt.limit, tt.c)
		if len(got) != len(tt.says) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.says)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], tt.says[i]) {
				t.Errorf("%s: got %q, want %q in it", tt.name, got[i], tt.says[i])
			}
		}
	}
}
