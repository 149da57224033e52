package limiter

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// TokenBucket is the token bucket with continuous refill: it holds at most
// burst tokens, starts full, and gains rate tokens per time, in fractions. A key
// takes 16 bytes.
//
// In a closed window of length T it admits at most f(T) = floor(b + rT). What
// is admitted in the window was in the bucket at its start, at most b, or has
// been gained since, at most rT; and a full bucket that is asked for all it has
// all the time gives as much.
//
// The clock of a right limiter never goes back. If now is earlier than the
// last moment seen all the same, it is taken for that last moment: no token is
// made or lost, and Wait counts from there.
type TokenBucket struct {
	scale
	promise scenarios.Limit
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
		build: burstAndRate(NewTokenBucket),
	}
}

// NewTokenBucket gives a bucket of burst tokens that refills at rate. It
// returns an error if the two are no limit, or if a full bucket has more than
// MaxLevel units.
func NewTokenBucket(burst int64, rate scenarios.Rate) (*TokenBucket, error) {
	p := scenarios.Limit{Contract: scenarios.TokenBucket, Burst: burst, Rate: rate}
	s, err := checked("token-bucket", p, burst)
	if err != nil {
		return nil, err
	}
	return &TokenBucket{scale: s, promise: p}, nil
}

// Promise is the burst and the rate.
func (b *TokenBucket) Promise() scenarios.Limit { return b.promise }

// Fresh is a full bucket.
func (b *TokenBucket) Fresh(now int64) State { return &Bucket{Level: b.full, Last: now} }

// Decide refills, and then takes cost tokens if they are there. The refill is
// stored on a refusal too: dropping it would make the Wait of the refusal a
// lie, and a client that asks often enough would never be admitted.
func (b *TokenBucket) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > b.promise.Burst {
		return d, &CostError{Cost: cost, Most: b.promise.Burst}
	}
	k := s.(*Bucket)
	b.refill(k, now)
	need := cost * b.unit // at most full
	before := k.Level
	if d.Admitted = before >= need; d.Admitted {
		k.Level -= need
	} else {
		d.Wait = b.time(need - before)
	}
	b.tell(&d, before, k.Level)
	return d, nil
}

// View refills a copy.
func (b *TokenBucket) View(s State, now int64) (d Decision) {
	k := *s.(*Bucket)
	b.refill(&k, now)
	b.tell(&d, k.Level, k.Level)
	return d
}

// tell fills in the figures between two levels.
func (b *TokenBucket) tell(d *Decision, before, after int64) {
	d.Before, d.After, d.Unit, d.Limit = before, after, b.unit, b.promise.Burst
	// Only a wrong limiter has a level below 0; it is not told to clients.
	d.Remaining = max(0, after/b.unit)
	d.Reset = b.time(b.full - after)
}

// refill adds what the time since k.Last has earned.
func (b *TokenBucket) refill(k *Bucket, now int64) {
	if now > k.Last {
		k.Level += b.gain(elapsed(k.Last, now), b.full-k.Level)
		k.Last = now
	}
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

// checked is the arithmetic of the promise of a named algorithm whose key holds
// so many tokens.
func checked(name string, p scenarios.Limit, tokens int64) (scale, error) {
	if err := p.Check(); err != nil {
		return scale{}, fmt.Errorf("%s: %w", name, err)
	}
	s, err := newScale(tokens, p.Rate)
	if err != nil {
		return scale{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// burstAndRate builds an algorithm that has these two settings.
func burstAndRate[A Algorithm](build func(int64, scenarios.Rate) (A, error)) func(*mode.Reader) (Algorithm, error) {
	return func(r *mode.Reader) (Algorithm, error) {
		burst, rate := r.Int("burst"), r.Rate("rate")
		if err := r.Done(); err != nil {
			return nil, err
		}
		return made(build(burst, rate))
	}
}

// made gives an explicit nil with an error: a nil *TokenBucket in an Algorithm
// would not be one.
func made[A Algorithm](a A, err error) (Algorithm, error) {
	if err != nil {
		return nil, err
	}
	return a, nil
}
