package limiter

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Lumps is the token bucket whose refill comes in lumps: it holds at most b
// tokens, starts full, and gains k at once every P. Between two lumps it gains
// nothing. A key takes 16 bytes.
//
// Aligned to the epoch or to the start of the server, it admits at most
// f(T) = b + min(k,b) * ceil(T/P) in a closed window of length T > 0, and b if
// T is 0: a window that begins just before a lump meets ceil(T/P) of them, each
// of which fills in at most min(k,b).
//
// With FirstHit the time to the first lump begins with the request that finds
// the bucket full, and stops when it is full again, as a key that is forgotten
// starts anew. So a bucket that is about to be refilled has given a token away
// already, and f(T) is less by 1 unless P divides T.
type Lumps struct {
	promise scenarios.Limit
	grid    Grid
}

// Lump is the state of one key: 16 bytes.
type Lump struct {
	Level int64 // tokens there at Mark
	Mark  int64 // nanoseconds: the last lump that has been added, or FirstHit: where the time to the next one began
}

// Clone is a copy.
func (k *Lump) Clone() State {
	c := *k
	return &c
}

func lumps() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "lumps",
			Settings: "burst=TOKENS,rate=LUMP/PERIOD,align=first-hit|epoch|start",
			Example:  "lumps{burst=10,rate=6/3s,align=first-hit}",
			Text:     "A token bucket that is refilled in lumps, at the end of each period and not in between; at most burst + lump*ceil(T/period) pass in any time T.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			burst, rate, align := r.Int("burst"), r.Rate("rate"), readAlign(r, FirstHit, Epoch, Start)
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewLumps(burst, rate, align))
		},
	}
}

// NewLumps gives a bucket of burst tokens that gains rate.Count of them every
// rate.Per. It returns an error if the two are no limit.
func NewLumps(burst int64, rate scenarios.Rate, align Align) (*Lumps, error) {
	p := scenarios.Limit{Contract: scenarios.Lumps, Burst: burst, Rate: rate}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("lumps: %w", err)
	}
	grid, err := newGrid(align, rate.Per)
	if err != nil {
		return nil, fmt.Errorf("lumps: %w", err)
	}
	if n := (burst-1)/rate.Count + 2; n > MaxLevel/int64(rate.Per) {
		return nil, fmt.Errorf("lumps: burst %d takes %d periods of %v, more than can be counted; give a smaller burst, a larger lump or a shorter period", burst, n-1, rate.Per)
	}
	return &Lumps{promise: p, grid: grid}, nil
}

// Promise is the burst, and the lump and its period as the rate.
func (l *Lumps) Promise() scenarios.Limit { return l.promise }

// Grid is when the lumps come.
func (l *Lumps) Grid() Grid { return l.grid }

// Start is the algorithm of a server that was started at now.
func (l *Lumps) Start(now int64) Algorithm {
	return &Lumps{promise: l.promise, grid: l.grid.started(now)}
}

// Fresh is a full bucket.
func (l *Lumps) Fresh(now int64) State {
	k := &Lump{Level: l.promise.Burst, Mark: now}
	if l.grid.Align != FirstHit {
		k.Mark = l.grid.Floor(now)
	}
	return k
}

// Decide adds the lumps that have come, and then takes cost tokens if they are
// there.
func (l *Lumps) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > l.promise.Burst {
		return d, &CostError{Cost: cost, Most: l.promise.Burst}
	}
	k := s.(*Lump)
	l.refill(k, now)
	before := k.Level
	if d.Admitted = before >= cost; d.Admitted {
		k.Level -= cost
	} else {
		d.Wait = l.until(k, cost, now)
	}
	l.tell(&d, before, k, now)
	return d, nil
}

// View refills a copy.
func (l *Lumps) View(s State, now int64) (d Decision) {
	k := *s.(*Lump)
	l.refill(&k, now)
	l.tell(&d, k.Level, &k, now)
	return d
}

// tell fills in the figures of a key that had so many tokens before.
func (l *Lumps) tell(d *Decision, before int64, k *Lump, now int64) {
	d.Before, d.After, d.Unit, d.Limit = before, k.Level, 1, l.promise.Burst
	d.Remaining = k.Level
	d.Reset = l.until(k, l.promise.Burst, now)
}

// until is the time to the lump with which level tokens are there.
func (l *Lumps) until(k *Lump, level, now int64) time.Duration {
	if k.Level >= level {
		return 0
	}
	lumps := (level - k.Level + l.promise.Rate.Count - 1) / l.promise.Rate.Count
	return time.Duration(k.Mark - now + lumps*l.grid.Period) // which NewLumps has bounded
}

// refill adds the lumps that have come since k.Mark. A time of several periods
// brings several: one that comes late is not lost. Nothing comes of a now that
// is earlier than k.Mark.
func (l *Lumps) refill(k *Lump, now int64) {
	if k.Level < l.promise.Burst && l.grid.holds(k.Mark, now) {
		return
	}
	passed := int64(elapsed(k.Mark, now) / uint64(l.grid.Period))
	missing := l.promise.Burst - k.Level
	if passed > missing/l.promise.Rate.Count {
		k.Level = l.promise.Burst
	} else {
		k.Level += passed * l.promise.Rate.Count
	}
	if l.grid.Align == FirstHit && k.Level == l.promise.Burst {
		k.Mark = max(k.Mark, now) // the time to the next lump begins with the next request
	} else {
		k.Mark += passed * l.grid.Period
	}
}

// Forgettable reports whether the bucket is full, and was not seen later.
func (l *Lumps) Forgettable(s State, now int64) bool {
	k := *s.(*Lump)
	if now < k.Mark {
		return false
	}
	l.refill(&k, now)
	return k.Level == l.promise.Burst
}
