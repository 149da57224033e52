package limiter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func TestListedExamplesBuild(t *testing.T) {
	for _, d := range List() {
		m, err := mode.Parse(d.Example)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(m); err != nil || m.Name != d.Name {
			t.Errorf("%s: its example %s gives %v", d.Name, d.Example, err)
		}
	}
}

func TestNewErrors(t *testing.T) {
	tests := []struct{ in, says string }{
		{"tokenbucket{burst=1,rate=1/s}", "did you mean token-bucket?"},
		{"leaky", "there are token-bucket"},
		{"token-bucket{burst=10}", "rate: is missing"},
		{"token-bucket{burst=0,rate=1/s}", "burst 0"},
		{"token-bucket{burst=1000000000,rate=9999/day}", "64 bits"},
		{"meter{burst=1000000000,rate=9999/day}", "meter: burst"},
		{"gcra{burst=1000000000,rate=9999/day}", "64 bits"},
		{"queue{burst=0,rate=1/s}", "burst 0"},
		{"queue{burst=480383,rate=9999/day}", "480384"}, // a place more than the bucket: see TestBucketBounds
		{"lumps{burst=1,rate=1/s,align=middle}", "none of first-hit, epoch, start"},
		{"lumps{burst=1,rate=1000/11y}", "is not a period"},
		{"lumps{burst=1,rate=1000/90000h}", "give at most"}, // 10.3 years
		{"fixed-window{rate=1/s,burst=3}", "burst: is not a setting"},
		{"fixed-window{rate=1000/90000h}", "give at most"},
		{"sliding-log{rate=1/s,log-refused=maybe}", "neither true nor false"},
		{"sliding-counter{rate=1/s,test=ge}", "none of le, lt"},
		{"sliding-counter{rate=1/s,align=first-hit}", "none of epoch, start"},
		{"sliding-counter{rate=1000000/30d}", "64 bits"}, // 2 * 10^6 * 2.6 * 10^15 ns
		{"nginx{rate=2/10s}", "per second or per minute"},
		{"nginx{rate=2r/s}", "nginx's spelling"},
		{"nginx{rate=2/s,burst=-1}", "burst 0"},
		{"nginx{rate=2/s,delay=-1}", "delay -1"},
		{"nginx{rate=2/s,burst=5,delay=2,nodelay}", "exclude each other"},
		{"nginx{rate=1/m,burst=900000000}", "century"},
		{"concurrency{burst=0}", "burst 0"},
		{"concurrency{burst=1,rate=1/s}", "rate: is not a setting"},
	}
	for _, tt := range tests {
		m, err := mode.Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(m)
		if err == nil || a != nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("New(%s): got %v, %v, want no algorithm and an error that says %q", tt.in, a, err, tt.says)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		wait time.Duration
		want int64
	}{
		{1, 1},
		{500 * time.Millisecond, 1},
		{time.Second, 1},
		{time.Second + 1, 2},
		{1<<63 - 1, 9223372037}, // 9,223,372,036.85 s
		{Unknown, 1},
	}
	for _, tt := range tests {
		if got := (Decision{Wait: tt.wait}).RetryAfter(); got != tt.want {
			t.Errorf("wait %v: got Retry-After %d, want %d", tt.wait, got, tt.want)
		}
	}
}

func TestCostError(t *testing.T) {
	b := bucket(t, 3, "2/s")
	s := b.Fresh(0)
	for _, cost := range []int64{-1, 0, 4, -1 << 63, 1<<63 - 1} {
		d, err := b.Decide(s, 0, cost)
		var wrong *CostError
		if !errors.As(err, &wrong) || wrong.Cost != cost || wrong.Most != 3 || d != (Decision{}) {
			t.Errorf("cost %d: got %+v, %v, want a CostError with 3 at most", cost, d, err)
		}
	}
	// Nothing was spent, and time was not looked at either.
	if got, want := *s.(*Bucket), (Bucket{Level: b.full}); got != want {
		t.Errorf("state: got %+v, want %+v", got, want)
	}
}
