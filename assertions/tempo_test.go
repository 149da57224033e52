package assertions

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Where a rate does not fit it is rounded to the side that accuses less: up for
// what may be admitted, down for what must be.
func TestTempoRoundsToTheInnocentSide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	exactOnes := 0
	for range 20_000 {
		r := scenarios.Rate{Count: 1 + rng.Int64N(1_000_000), Per: time.Duration(1 + rng.Int64N(int64(24*time.Hour)))}
		l := scenarios.Limit{Burst: 1 + rng.Int64N(1_000_000), Rate: r, Slack: scenarios.Slack{Over: rng.Int64N(3) * 250, Under: rng.Int64N(3) * 1000}}
		tick := tickOf([]scenarios.Limit{l})
		if tick > 1 && tick > r.Time(1)/1_000_000 {
			t.Fatalf("%v: a tick of %v is more than a millionth of a token's time %v", r, tick, r.Time(1))
		}
		up := newTempo(r, l.Slack.Over, tick, l.Burst, roundUp)
		down := newTempo(r, -l.Slack.Under, tick, l.Burst, roundDown)
		wantUp, wantDown := ratio(r, l.Slack.Over, tick), ratio(r, -l.Slack.Under, tick)
		if big.NewRat(up.num, up.den).Cmp(wantUp) < 0 || big.NewRat(down.num, down.den).Cmp(wantDown) > 0 {
			t.Fatalf("%v, burst %d: got %+v and %+v, want at least %v and at most %v", r, l.Burst, up, down, wantUp, wantDown)
		}
		if exact(l, tick) {
			exactOnes++
			if big.NewRat(up.num, up.den).Cmp(wantUp) != 0 || big.NewRat(down.num, down.den).Cmp(wantDown) != 0 {
				t.Fatalf("%v, burst %d: it fits and was rounded", r, l.Burst)
			}
		}
		if hi := up.weigh(l.Burst + 1<<16); hi > levelLimit {
			t.Fatalf("%v, burst %d: a level of %d could overflow", r, l.Burst, hi)
		}
	}
	if exactOnes == 0 || exactOnes == 20_000 {
		t.Errorf("%d of 20,000 were exact: the rates do not try both cases", exactOnes)
	}
}

func TestTickIsANanosecondWhereItFits(t *testing.T) {
	tests := []struct {
		rate  string
		burst int64
		want  time.Duration
	}{
		{"5/s", 10, 1},
		{"1/s", 1, 1},
		{"1000/s", 100_000, 1},
		{"100/m", 60, 1},
		{"1/h", 1, time.Microsecond},         // 3.6e12 ns x 2000 for the slack do not fit 65,536 times
		{"1/d", 1_000_000, time.Millisecond}, // a token takes 86,400,000 ms
		{"9999/s", 1_000_000_000, 1},         // does not fit, and a coarser tick would blur: rounded instead
	}
	for _, tt := range tests {
		r, err := scenarios.ParseRate(tt.rate)
		if err != nil {
			t.Fatal(err)
		}
		l := scenarios.Limit{Burst: tt.burst, Rate: r, Slack: scenarios.DefaultSlack()}
		if got := tickOf([]scenarios.Limit{l}); got != tt.want {
			t.Errorf("%s, burst %d: got a tick of %v, want %v", tt.rate, tt.burst, got, tt.want)
		}
	}
}
