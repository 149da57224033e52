package scenarios

import (
	"strings"
	"testing"
	"time"
)

func TestForesee(t *testing.T) {
	bucket := func(burst int64, rate Rate) Limit { return Limit{Burst: burst, Rate: rate, Slack: DefaultSlack()} }
	window := Limit{Contract: SlidingLog, Rate: Rate{10, 2 * time.Second}, Slack: DefaultSlack()}
	tests := []struct {
		name  string
		limit Limit
		c     Circumstances
		says  []string
	}{
		{"on this machine", bucket(10, Rate{5, time.Second}), Circumstances{RTT: 400 * time.Microsecond}, nil},
		// 1000/s x 61 ms are 61 tokens, and 60 fit.
		{"a burst within a round trip", bucket(60, Rate{1000, time.Second}), Circumstances{RTT: 60 * time.Millisecond}, []string{"no refusal can be proven wrong"}},
		{"one more than a round trip", bucket(62, Rate{1000, time.Second}), Circumstances{RTT: 60 * time.Millisecond}, nil},
		// 2 x (20 + 1 ms and the time between two polls) of 2 s are more than 2 %.
		{"a short window far away", window, Circumstances{RTT: 20 * time.Millisecond}, []string{"the period of 2s"}},
		{"a short window nearby", window, Circumstances{RTT: 400 * time.Microsecond}, nil},
		{"an hour and no time", bucket(5, Rate{1, time.Hour}), Circumstances{RTT: time.Millisecond, Budget: 5 * time.Minute}, []string{"give the run 3h"}},
		{"nothing to see", Limit{Contract: Concurrency, Burst: 3}, Circumstances{}, nil},
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
