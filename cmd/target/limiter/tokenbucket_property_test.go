package limiter

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ratehammer/ratehammer/scenarios"
)

// oddRates have no exact value in binary fractions of a token or nanosecond.
var oddRates = []string{"100/m", "1/7s", "9999/day", "1000000/s", "3/s", "5/1s", "1/366d", "7/11ns", "0.5/s", "999983/h"}

func drawBucket(t *rapid.T, rates []string) *TokenBucket {
	rate, err := scenarios.ParseRate(rapid.SampledFrom(rates).Draw(t, "rate"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewTokenBucket(rapid.Int64Range(1, 50).Draw(t, "burst"), rate)
	if err != nil {
		t.Skip(err)
	}
	return b
}

// drawPause gives a time of any size: nothing, some nanoseconds, about the time
// of a token, or years of idling.
func drawPause(t *rapid.T, b *TokenBucket) int64 {
	token := int64(b.promise.Rate.Time(1))
	switch rapid.IntRange(0, 4).Draw(t, "size") {
	case 0:
		return 0
	case 1:
		return rapid.Int64Range(1, 1000).Draw(t, "ns")
	case 2:
		return rapid.Int64Range(token-1, token+1).Draw(t, "about a token")
	case 3:
		return rapid.Int64Range(0, 3*token).Draw(t, "up to three tokens")
	}
	return rapid.Int64Range(0, int64(2*365*24*time.Hour)).Draw(t, "up to two years")
}

// model is the bucket in rational arithmetic, straight from its definition.
type model struct {
	burst, rate, level *big.Rat // tokens, tokens per ns, tokens
	last               int64
}

func newModel(b *TokenBucket) *model {
	p := b.Promise()
	burst := new(big.Rat).SetInt64(p.Burst)
	return &model{burst: burst, rate: big.NewRat(p.Rate.Count, int64(p.Rate.Per)), level: new(big.Rat).Set(burst)}
}

func (m *model) decide(now, cost int64) (admitted bool, before, wait *big.Rat) {
	gain := new(big.Rat).Mul(m.rate, new(big.Rat).SetInt64(now-m.last))
	m.level.Add(m.level, gain)
	if m.level.Cmp(m.burst) > 0 {
		m.level.Set(m.burst)
	}
	m.last = now
	before = new(big.Rat).Set(m.level)
	need := new(big.Rat).SetInt64(cost)
	if m.level.Cmp(need) >= 0 {
		m.level.Sub(m.level, need)
		return true, before, new(big.Rat)
	}
	lack := new(big.Rat).Sub(need, m.level)
	return false, before, lack.Quo(lack, m.rate)
}

// The bucket in integers is the bucket in rationals, level by level, at every
// rate and after every pause.
func TestAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBucket(t, oddRates)
		m := newModel(b)
		s := b.Fresh(0)
		now := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			now += drawPause(t, b)
			cost := rapid.Int64Range(1, b.promise.Burst).Draw(t, "cost")
			admitted, before, wait := m.decide(now, cost)
			d, err := b.Decide(s, now, cost)
			if err != nil {
				t.Fatal(err)
			}
			if d.Admitted != admitted || big.NewRat(d.Before, d.Unit).Cmp(before) != 0 || big.NewRat(d.After, d.Unit).Cmp(m.level) != 0 {
				t.Fatalf("at %d cost %d: got %+v, want admitted %v, %v before, %v after", now, cost, d, admitted, before, m.level)
			}
			// Rounded up: wait <= Wait < wait + 1 ns.
			over := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(d.Wait)), wait)
			if over.Sign() < 0 || over.Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("at %d cost %d: got wait %d ns, want %s rounded up", now, cost, d.Wait, wait.FloatString(3))
			}
		}
	})
}

// Who waits as told is admitted, and a nanosecond earlier is not.
func TestWaitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBucket(t, oddRates)
		s := b.Fresh(0)
		now := int64(0)
		for range 40 {
			now += drawPause(t, b)
			cost := rapid.Int64Range(1, b.promise.Burst).Draw(t, "cost")
			d, _ := b.Decide(s, now, cost)
			if d.Admitted {
				continue
			}
			early, late := *s.(*Bucket), *s.(*Bucket)
			if e, _ := b.Decide(&early, now+int64(d.Wait)-1, cost); e.Admitted {
				t.Fatalf("admitted 1 ns before the wait of %v was over", d.Wait)
			}
			if l, _ := b.Decide(&late, now+int64(d.Wait), cost); !l.Admitted {
				t.Fatalf("refused after the wait of %v", d.Wait)
			}
		}
	})
}

// bound is floor(b + r*T).
func bound(b *TokenBucket, window int64) int64 {
	return b.promise.Burst + b.promise.Rate.Tokens(time.Duration(window))
}

// In no closed window of any length T is more admitted than b + rT, whatever is
// asked: every pair of admissions is the edge of a window.
func TestBoundIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBucket(t, oddRates)
		s := b.Fresh(0)
		type spent struct{ at, cost int64 }
		var admitted []spent
		now := int64(0)
		for range rapid.IntRange(1, 120).Draw(t, "requests") {
			now += drawPause(t, b)
			cost := rapid.Int64Range(1, b.promise.Burst).Draw(t, "cost")
			if d, _ := b.Decide(s, now, cost); d.Admitted {
				admitted = append(admitted, spent{now, cost})
			}
		}
		for i, first := range admitted {
			sum := int64(0)
			for _, last := range admitted[i:] {
				sum += last.cost
				if most := bound(b, last.at-first.at); sum > most {
					t.Fatalf("%d tokens in the closed window from %d to %d, at most %d are allowed", sum, first.at, last.at, most)
				}
			}
		}
	})
}

// The bound is reached in every window from 0: exhaustively for small buckets,
// asked for as much as there is at every nanosecond. Where a token does not
// take whole nanoseconds, a bucket of one is full before the next moment to ask
// and loses the rest, so there only larger ones reach it.
func TestBoundIsReached(t *testing.T) {
	for burst := int64(1); burst <= 4; burst++ {
		for count := int64(1); count <= 3; count++ {
			for per := int64(300); per <= 340; per += 8 {
				if burst > 1 || per%count == 0 {
					checkReached(t, burst, scenarios.Rate{Count: count, Per: time.Duration(per)})
				}
			}
		}
	}
}

func checkReached(t *testing.T, burst int64, rate scenarios.Rate) {
	t.Helper()
	b, err := NewTokenBucket(burst, rate)
	if err != nil {
		t.Fatal(err)
	}
	s := b.Fresh(0)
	admitted := int64(0)
	for now := range 3 * int64(rate.Per) {
		for {
			d, err := b.Decide(s, now, 1)
			if err != nil {
				t.Fatal(err)
			}
			if !d.Admitted {
				break
			}
			admitted++
		}
		if want := bound(b, now); admitted != want {
			t.Fatalf("b = %d, r = %v: got %d within [0, %d ns], want %d", burst, rate, admitted, now, want)
		}
	}
}

// A key that was idle for b/r and a second may be forgotten, whatever it spent.
func TestForgettable(t *testing.T) {
	b := bucket(t, 2, "2/s") // b/r = 1 s
	const spent = 5000 * time.Millisecond
	tests := []struct {
		name string
		idle time.Duration // since two tokens were spent
		want bool
	}{
		{"just spent", 0, false},
		{"a nanosecond is missing", time.Second - 1, false},
		{"full again", time.Second, true},
		{"b/r + 1 s", 2 * time.Second, true},
		{"the clock went back", -time.Second, false},
	}
	for _, tt := range tests {
		s := b.Fresh(int64(spent))
		if d, err := b.Decide(s, int64(spent), 2); err != nil || !d.Admitted {
			t.Fatalf("got %+v, %v", d, err)
		}
		before := *s.(*Bucket)
		if got := b.Forgettable(s, int64(spent+tt.idle)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if got := *s.(*Bucket); got != before {
			t.Errorf("%s: the state changed from %+v to %+v by being looked at", tt.name, before, got)
		}
	}
	// Full, but seen later than now: a fresh bucket would gain what this one has had.
	if b.Forgettable(b.Fresh(int64(spent)), int64(spent-1)) {
		t.Errorf("a full bucket seen in the future is forgettable")
	}
}
