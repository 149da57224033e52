package defect

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// Any two defects of bounds and clocks go together, in either order alike, or one
// of them says in a sentence why not. No request then makes nonsense.
func TestPairs(t *testing.T) {
	kinds := slices.Concat(boundKinds(), clockKinds())
	together, apart := 0, 0
	for _, a := range kinds {
		for _, b := range kinds {
			if a.Name == b.Name {
				continue
			}
			limit := cmp.Or(a.on.Limit, "token-bucket{burst=10,rate=5/s}")
			one, err := applied(t, limit, a.Example, b.Example)
			if err != nil {
				text := err.Error()
				if !strings.HasPrefix(text, "defect "+a.Name+": ") && !strings.HasPrefix(text, "defect "+b.Name+": ") || strings.Contains(text, "write for example "+a.Example) {
					t.Errorf("%s and %s: got %v", a.Name, b.Name, err)
				}
				apart++
				continue
			}
			together++
			other, err := applied(t, limit, b.Example, a.Example)
			if err != nil {
				t.Errorf("%s and %s: apply in one order only: %v", a.Name, b.Name, err)
				continue
			}
			sameAnswers(t, a.Name+" and "+b.Name, one, other)
		}
	}
	if together < apart {
		t.Errorf("%d pairs go together and %d do not", together, apart)
	}
	t.Logf("%d pairs go together, %d do not", together, apart)
}

func applied(t *testing.T, limit string, defects ...string) (*Parts, error) {
	t.Helper()
	a, err := limiter.New(parse(t, limit))
	if err != nil {
		t.Fatal(err)
	}
	p := Right(a, clock.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), func() int64 { return 0 }), 1)
	var modes []mode.Mode
	for _, d := range defects {
		modes = append(modes, parse(t, d))
	}
	return &p, Apply(&p, modes)
}

// sameAnswers asks both at the same odd moments.
func sameAnswers(t *testing.T, name string, one, other *Parts) {
	t.Helper()
	odd := rand.New(rand.NewPCG(1, 2))
	now := one.Clock.Base().UnixNano()
	a, b := one.Algorithm.Fresh(now), other.Algorithm.Fresh(now)
	for range 500 {
		now += odd.Int64N(600_000_000)
		seen := now
		if odd.IntN(100) == 0 { // a wall clock that goes back
			seen -= odd.Int64N(5_000_000_000)
		}
		d, err := one.Algorithm.Decide(a, seen, 1)
		e, err2 := other.Algorithm.Decide(b, seen, 1)
		if err != nil || err2 != nil || d != e {
			t.Fatalf("%s: got %+v, %v in one order and %+v, %v in the other", name, d, err, e, err2)
		}
		if d.Unit < 1 || d.Remaining < 0 || d.Limit != one.Algorithm.Promise().Size() || d.Delay != 0 || d.Reset < 0 ||
			d.Admitted != (d.Wait == 0) || d.RetryAfter() < 1 != d.Admitted {
			t.Fatalf("%s: got %+v", name, d)
		}
		if v := one.Algorithm.View(a, seen); v.Admitted || v.Remaining < 0 || v.Reset < 0 {
			t.Fatalf("%s: sees %+v", name, v)
		}
	}
}

// What makes no sense is told in one error, with what would.
func TestBoundAndClockErrors(t *testing.T) {
	tests := []struct{ limit, defect, says string }{
		{"fixed-window{rate=10/s}", "window", "none decides for this fixed-window limit"},
		{"token-bucket{burst=10,rate=5/s}", "window{align=day}", "none of epoch, start, first-hit"},
		{"fixed-window{rate=10/s}", "shared-reset", "choose one with align=first-hit"},
		{"token-bucket{burst=10,rate=5/s}", "weighted", "is a defect of sliding logs"},
		{"sliding-log{rate=10/s}", "weighted{arith=decimal}", "none of float, int"},
		{"concurrency{burst=10}", "burst-map{form=plus1}", "has no burst beside a rate"},
		{"token-bucket{burst=1,rate=5/s}", "burst-map{form=none}", "cannot be lost"},
		{"token-bucket{burst=10,rate=5/s}", "burst-map", "form: is missing"},
		{"token-bucket{burst=10,rate=5/s}", "coarse-clock{granularity=0s}", "give more than a nanosecond"},
		{"gcra{burst=10,rate=5/s}", "int-refill", "is a defect of token buckets"},
		{"token-bucket{burst=10,rate=5/s}", "int-refill{tick=-1s}", "give more than 0"},
		{"token-bucket{burst=10,rate=5/s}", "round-up{ppm=0}", "give 1 to 1000000"},
		{"token-bucket{burst=10,rate=5/s}", "rate{ppm=0}", "but not 0"},
		{"nginx{rate=5/s}", "rate{ppm=1000}", "cannot be given another rate"},
		{"token-bucket{burst=10,rate=5/s}", "idle", "form: is missing"},
		{"token-bucket{burst=10,rate=5/s}", "idle{form=uncapped,after=1h}", "goes with form=overflow"},
		{"token-bucket{burst=10,rate=5/s}", "underfill{eff=1}", "above 0 and below 1"},
		{"token-bucket{burst=10,rate=5/s}", "underfill{eff=0.5,tick=1h}", "fills the whole bucket"},
		{"token-bucket{burst=10,rate=5/s}", "calendar{form=utc}", "other zones than UTC"},
		{"calendar{quota=10,per=day}", "calendar{form=utc}", "other zones than UTC"},
		{"token-bucket{burst=10,rate=5/s}", "fallback{burst=100}", "rate: is missing"},
		{"concurrency{burst=10}", "fallback{burst=100,rate=100/s}", "nothing takes the place of a concurrency limit"},
		{"token-bucket{burst=10,rate=5/s}", "lockout{for=0s}", "give more than 0"},
		{"sliding-log{rate=10/s}", "lumpy{lump=5}", "none decides for this sliding-log limit"},
		{"token-bucket{burst=10,rate=5/s}", "lumpy{lump=0}", "give at least 1"},
		{"concurrency{burst=10}", "wall-clock", "goes by no clock"},
		{"gcra{burst=10,rate=5/s}", "wall-clock{form=clamp}", "leave form out"},
		{"fixed-window{rate=10/s,align=first-hit}", "wall-clock{form=naive}", "leave form out"},
		{"fixed-window{rate=10/s}", "wall-clock{form=drain}", "for windows there are naive, max"},
		{"token-bucket{burst=10,rate=5/s}", "wall-clock{form=back}", "none of naive, floor, clamp, max, drain, panic"},
	}
	for _, tt := range tests {
		if _, err := applied(t, tt.limit, tt.defect); err == nil || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), "defect ") {
			t.Errorf("%s %s: got %v, want an error that says %q", tt.limit, tt.defect, err, tt.says)
		}
	}
}
