package defect

import (
	"testing"
)

func TestRetryAfterForms(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		want    int64
	}{
		// An empty bucket of 5/s: a token takes 200 ms, all ten 2 s.
		{"token-bucket{burst=10,rate=5/s}", nil, 1},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=floor}"}, 0},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=zero}"}, 0},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=window}"}, 2},
		// One of 2/5s: a token takes 2.5 s, all three 7.5 s.
		{"token-bucket{burst=3,rate=2/5s}", nil, 3},
		{"token-bucket{burst=3,rate=2/5s}", []string{"ra{form=floor}"}, 2},
		{"token-bucket{burst=3,rate=2/5s}", []string{"ra{form=zero}"}, 0},
		{"token-bucket{burst=3,rate=2/5s}", []string{"ra{form=window}"}, 8},
		// Others than buckets: 3 in 10 s. The next edge or entry to leave is 10 s away.
		{"fixed-window{rate=3/10s,align=start}", nil, 10},
		{"fixed-window{rate=3/10s,align=start}", []string{"ra{form=window}"}, 10},
		{"sliding-log{rate=3/10s}", []string{"ra{form=zero}"}, 0},
		{"concurrency{burst=3}", nil, 1},
		{"concurrency{burst=3}", []string{"ra{form=floor}"}, 0},
	}
	for _, tt := range tests {
		r := newRig(t, tt.limit, tt.defects...)
		r.volley("a", 10)
		if got := r.parts.RetryAfter(r.ask("a"), 0); got != tt.want {
			t.Errorf("%s %v: got Retry-After %d, want %d", tt.limit, tt.defects, got, tt.want)
		}
	}
}
