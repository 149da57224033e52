package limiter

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// MaxLevel bounds the levels of a bucket, in units. A full bucket holds at most
// MaxLevel and a wrong limiter may take a level down to -MaxLevel, so that the
// difference of two levels always fits in 64 bits.
const MaxLevel = 1<<62 - 1

// TokenBucket is the token bucket with continuous refill: it holds at most
// burst tokens, starts full, and gains rate tokens per time, in fractions.
//
// Its arithmetic is exact. With the rate in lowest terms, num tokens in den
// nanoseconds, a token is den units, and num units are gained in a nanosecond:
// at 5/s a token is 200,000,000 units and a nanosecond brings 1. Every level is
// a whole number of units, so nothing is rounded and nothing drifts.
//
// The clock of a right limiter never goes back. If now is earlier than the
// last moment seen all the same, it is taken for that last moment: no token is
// made or lost, and Wait counts from there.
type TokenBucket struct {
	promise scenarios.Limit
	num     int64 // units gained in a nanosecond
	unit    int64 // units in a token
	full    int64 // units in a full bucket
}

// Bucket is the state of one key: 16 bytes.
type Bucket struct {
	Level int64 // units there at Last
	Last  int64 // nanoseconds: the latest moment seen
}

// Clone is a copy.
func (k *Bucket) Clone() State {
	c := *k
	return &c
}

func tokenBucket() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "token-bucket",
			Settings: "burst=TOKENS,rate=TOKENS/TIME",
			Example:  "token-bucket{burst=10,rate=5/1s}",
			Text:     "Holds at most burst tokens, starts full and refills continuously; at most burst + rate*T pass in any time T.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			burst, rate := r.Int("burst"), r.Rate("rate")
			if err := r.Done(); err != nil {
				return nil, err
			}
			// An explicit nil: a nil *TokenBucket in an Algorithm would not be one.
			b, err := NewTokenBucket(burst, rate)
			if err != nil {
				return nil, err
			}
			return b, nil
		},
	}
}

// NewTokenBucket gives a bucket of burst tokens that refills at rate. It
// returns an error if the two are no limit, or if a full bucket has more than
// MaxLevel units.
func NewTokenBucket(burst int64, rate scenarios.Rate) (*TokenBucket, error) {
	p := scenarios.Limit{Contract: scenarios.TokenBucket, Burst: burst, Rate: rate}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("token-bucket: %w", err)
	}
	num, den := rate.Units()
	hi, full := bits.Mul64(uint64(burst), uint64(den))
	if hi > 0 || full > MaxLevel {
		return nil, fmt.Errorf("token-bucket: burst %d at the odd rate %v cannot be counted exactly in 64 bits; give a burst of at most %d or a rate that reduces further", burst, rate, MaxLevel/den)
	}
	return &TokenBucket{promise: p, num: num, unit: den, full: int64(full)}, nil
}

// Promise is the burst and the rate.
func (b *TokenBucket) Promise() scenarios.Limit { return b.promise }

// Fresh is a full bucket.
func (b *TokenBucket) Fresh(now int64) State { return &Bucket{Level: b.full, Last: now} }

// Decide refills, and then takes cost tokens if they are there. The refill is
// stored on a refusal too: dropping it would make the Wait of the refusal a
// lie, and a client that asks often enough would never be admitted.
func (b *TokenBucket) Decide(s State, now, cost int64) (Decision, error) {
	if cost < 1 || cost > b.promise.Burst {
		return Decision{}, &CostError{Cost: cost, Most: b.promise.Burst}
	}
	k := s.(*Bucket)
	b.refill(k, now)
	need := cost * b.unit // at most full
	before := k.Level
	if before < need {
		d := b.figures(before, before)
		d.Wait = b.time(need - before)
		return d, nil
	}
	k.Level -= need
	d := b.figures(before, k.Level)
	d.Admitted = true
	return d, nil
}

// View refills a copy.
func (b *TokenBucket) View(s State, now int64) Decision {
	k := *s.(*Bucket)
	b.refill(&k, now)
	return b.figures(k.Level, k.Level)
}

func (b *TokenBucket) figures(before, after int64) Decision {
	return Decision{
		Before: before, After: after, Unit: b.unit, Limit: b.promise.Burst,
		// Only a wrong limiter has a level below 0; it is not told to clients.
		Remaining: max(0, after/b.unit),
		Reset:     b.time(b.full - after),
	}
}

// refill adds what the time since k.Last has earned. The product is taken in
// 128 bits: a key may have been idle for years.
func (b *TokenBucket) refill(k *Bucket, now int64) {
	if now <= k.Last {
		return
	}
	elapsed := uint64(now) - uint64(k.Last) // right even where now - k.Last overflows
	room := uint64(b.full - k.Level)
	k.Last = now
	if hi, gain := bits.Mul64(elapsed, uint64(b.num)); hi > 0 || gain >= room {
		k.Level = b.full
	} else {
		k.Level += int64(gain)
	}
}

// time is how long units take to be gained, rounded up.
func (b *TokenBucket) time(units int64) time.Duration {
	t := units / b.num
	if units%b.num > 0 {
		t++
	}
	return time.Duration(t)
}

// Forgettable reports whether the bucket is full again at now, as a fresh one
// is. A bucket last seen after now is kept: it must not gain from moments that
// it has seen already, and a fresh one would.
func (b *TokenBucket) Forgettable(s State, now int64) bool {
	k := *s.(*Bucket)
	if now < k.Last {
		return false
	}
	b.refill(&k, now)
	return k.Level == b.full
}
