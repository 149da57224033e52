package defect

import (
	"testing"
	"time"
)

// Asked every 10 ms for 100 s, what is admitted beyond the first volley.
func TestRate(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		want    int
	}{
		{"token-bucket{burst=10,rate=10/s}", nil, 1000},
		{"token-bucket{burst=10,rate=10/s}", []string{"rate{ppm=+20000}"}, 1020},
		{"token-bucket{burst=10,rate=10/s}", []string{"rate{ppm=-20000}"}, 980},
		{"token-bucket{burst=10,rate=10/s}", []string{"rate{ppm=1000}"}, 1001},
		{"gcra{burst=10,rate=10/s}", []string{"rate{ppm=+20000}"}, 1020},
		{"meter{burst=10,rate=10/s}", []string{"rate{ppm=-20000}"}, 980},
		{"fixed-window{rate=10/s,align=start}", nil, 1000},
		{"fixed-window{rate=10/s,align=start}", []string{"rate{ppm=+20000}"}, 1020},
		{"sliding-log{rate=10/s}", []string{"rate{ppm=+100000}"}, 1090}, // 109 windows of 0.90 s, of the 10 ms that it is asked at 0.91
	}
	for _, tt := range tests {
		r := newRig(t, tt.limit, tt.defects...)
		r.volley("a", 10)
		got := 0
		for r.now < 100*time.Second {
			r.now += 10 * time.Millisecond
			got += r.volley("a", 10)
		}
		if got != tt.want {
			t.Errorf("%s %v: got %d, want %d", tt.limit, tt.defects, got, tt.want)
		}
	}
}
