package limiter

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Meter is the leaky bucket as a meter: each request pours its cost in, rate
// tokens per time leak out, and what would overflow a bucket of burst tokens is
// refused. It never holds anything back. A key takes 16 bytes.
//
// It is the token bucket seen from the other side, water being what is missing
// there, and so f(T) = floor(b + rT), request by request.
type Meter struct {
	scale
	promise scenarios.Limit
}

// Water is the state of one key: 16 bytes.
type Water struct {
	Level int64 // units in the bucket at Last
	Last  int64 // nanoseconds: the latest moment seen
}

// Clone is a copy.
func (k *Water) Clone() State {
	c := *k
	return &c
}

func meter() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "meter",
			Settings: "burst=TOKENS,rate=TOKENS/TIME",
			Example:  "meter{burst=10,rate=5/1s}",
			Text:     "The leaky bucket as a meter: a request pours in, rate leaks out, what would overflow burst is refused; at most burst + rate*T pass in any time T.",
		},
		build: burstAndRate(NewMeter),
	}
}

// NewMeter gives a bucket for burst tokens that leaks at rate. It returns an
// error if the two are no limit, or if a full bucket has more than MaxLevel
// units.
func NewMeter(burst int64, rate scenarios.Rate) (*Meter, error) {
	p := scenarios.Limit{Contract: scenarios.TokenBucket, Burst: burst, Rate: rate}
	s, err := checked("meter", p, burst)
	if err != nil {
		return nil, err
	}
	return &Meter{scale: s, promise: p}, nil
}

// Promise is that of the token bucket, which is the same.
func (m *Meter) Promise() scenarios.Limit { return m.promise }

// Fresh is an empty bucket.
func (m *Meter) Fresh(now int64) State { return &Water{Last: now} }

// Decide lets leak, and then pours the cost in if it does not overflow.
func (m *Meter) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > m.promise.Burst {
		return d, &CostError{Cost: cost, Most: m.promise.Burst}
	}
	k := s.(*Water)
	m.leak(k, now)
	poured := cost * m.unit // at most full
	before := k.Level
	if over := before - (m.full - poured); over > 0 {
		d.Wait = m.time(over)
	} else {
		k.Level += poured
		d.Admitted = true
	}
	m.tell(&d, before, k.Level)
	return d, nil
}

// View lets a copy leak.
func (m *Meter) View(s State, now int64) (d Decision) {
	k := *s.(*Water)
	m.leak(&k, now)
	m.tell(&d, k.Level, k.Level)
	return d
}

// tell fills in the figures of the room above the water.
func (m *Meter) tell(d *Decision, before, after int64) {
	d.Before, d.After, d.Unit, d.Limit = m.full-before, m.full-after, m.unit, m.promise.Burst
	d.Remaining = d.After / m.unit
	d.Reset = m.time(after)
}

// leak takes out what the time since k.Last has let go. A now that is earlier
// is taken for that last moment.
func (m *Meter) leak(k *Water, now int64) {
	if now > k.Last {
		k.Level -= m.gain(elapsed(k.Last, now), k.Level)
		k.Last = now
	}
}

// Forgettable reports whether the bucket is empty again, and was not seen later.
func (m *Meter) Forgettable(s State, now int64) bool {
	k := *s.(*Water)
	if now < k.Last {
		return false
	}
	m.leak(&k, now)
	return k.Level == 0
}
