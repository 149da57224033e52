package assertions

import (
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// theory is one full account of how a limit may be kept: models for each key,
// and, where the windows of all keys lie on one grid, that grid. A promise that
// leaves something open, such as where its windows begin, has several; it is
// broken when each of them is.
type theory struct {
	name   string
	epoch  time.Duration // its periods begin at multiples of this since 1970; 0: anywhere
	make   func(at int64, fresh bool) []model
	grid   *grid     // nil: keys have nothing in common
	phased []*phased // accounts that need a phase to search for, of which one has to hold; nil: there are none
	apart  bool      // each key may have another phase of its own
	base   *theory   // asked before this one, whose first model is this one's as well; nil: there is none
	keys   []theoryKey
	wrong  int64 // refusals that were wrong for certain
}

type theoryKey struct {
	models []model
	grid   gridKey
}

// key is what is known of a slot, made when it is first heard of.
func (t *theory) key(slot int32, at int64, fresh bool) *theoryKey {
	for int(slot) >= len(t.keys) {
		t.keys = append(t.keys, theoryKey{})
	}
	k := &t.keys[slot]
	if k.models == nil {
		k.models = t.make(at, fresh)
		if heard := t.base.heard(slot); heard != nil {
			k.models[0] = echo{heard}
		}
		if t.grid != nil && !fresh {
			k.grid.unknown(at, t.grid.limit)
		}
	}
	return k
}

// heard is the first model of a key where that is already heard; nil: it is not,
// since the theory is none, or takes no part.
func (t *theory) heard(slot int32) *together {
	if t == nil || int(slot) >= len(t.keys) || t.keys[slot].models == nil {
		return nil
	}
	return t.keys[slot].models[0].(*together)
}

func (t *theory) start(k *theoryKey, b *brief) {
	for _, m := range k.models {
		m.start(b)
	}
	if t.grid != nil && b.spends() {
		k.grid.spend(b.cost)
	}
}

func (t *theory) spent(k *theoryKey, b *brief) {
	for _, m := range k.models {
		m.end(b)
	}
	if t.grid != nil {
		certain := b.certain()
		if b.torn {
			certain = 0
		}
		t.grid.spent(&k.grid, b.from, b.to, b.cost, certain, b.seq)
	}
}

// refused gives what there was room for, by the model that had least doubt.
func (t *theory) refused(k *theoryKey, b *brief) (r room) {
	for _, m := range k.models {
		r = r.surer(m.end(b))
	}
	return r
}

// heaviest is the window that tells most, and its slot.
func (t *theory) heaviest() (h heavy, slot int, over, used int) {
	for i := range t.keys {
		var most heavy
		for _, m := range t.keys[i].models {
			most = most.heavier(m.heaviest())
		}
		if !most.any {
			continue
		}
		used++
		if most.over {
			over++
		}
		if best := h.heavier(most); !h.any || best != h {
			h, slot = best, i
		}
	}
	return h, slot, over, used
}

func (t *theory) each(f func(model)) {
	for i := range t.keys {
		for _, m := range t.keys[i].models {
			f(m)
		}
	}
}

// theories are the accounts that a limit allows.
func theories(sc *scene, l scenarios.Limit) []*theory {
	window := sc.ticks(l.Rate.Per)
	n, b := l.Rate.Count, l.Burst
	up := func(burst int64) tempo { return newTempo(l.Rate, l.Slack.Over, sc.length(), burst, roundUp) }
	down := func(burst int64) tempo { return newTempo(l.Rate, -l.Slack.Under, sc.length(), burst, roundDown) }
	// Windows shrink or grow with the limiter's clock.
	short, long := window-share(window, l.Slack.Over), window+share(window, l.Slack.Under)
	one := func(name string, models func(at int64, fresh bool) []model) *theory {
		return &theory{name: name, make: models}
	}
	switch l.Contract {
	case scenarios.Lumps:
		return lumpTheories(sc, l, up, down)
	case scenarios.SlidingLog:
		return []*theory{one("a sliding log", func(at int64, fresh bool) []model {
			return []model{newLog(short, n, 0, at, fresh), newLog(long, 0, n, at, fresh)}
		})}
	case scenarios.SlidingCounter:
		return []*theory{counterTheory(sc, l, long, up)}
	case scenarios.FixedWindow:
		return fixedWindows(sc, l, short, long, up)
	case scenarios.Concurrency:
		lag := sc.ticks(serverLag)
		return []*theory{one("a limit on concurrency", func(int64, bool) []model { return []model{newConcurrent(b, lag)} })}
	case scenarios.Queue:
		return []*theory{one("a queue", func(at int64, fresh bool) []model {
			wait := sc.ticks(l.Fill()) + 1
			return []model{newBucket(up(1), 1, tempo{}, 0, at, fresh, sc.step()), newQueued(down(b+1), b, wait, at, fresh, sc.step())}
		})}
	}
	if l.Contract == scenarios.Quota {
		return quotaTheories(sc, l)
	}
	return []*theory{one("a token bucket", func(at int64, fresh bool) []model {
		return []model{newBucket(up(b), b, down(b), b, at, fresh, sc.step())}
	})}
}

// quotaTheories are those of every algorithm that a quota may be kept by, the one
// that admits most first. Refill in lumps of the whole quota is a fixed window, on
// a grid or counted from a key's first request.
func quotaTheories(sc *scene, l scenarios.Limit) (all []*theory) {
	for _, c := range []scenarios.Contract{scenarios.FixedWindow, scenarios.SlidingLog, scenarios.SlidingCounter, scenarios.TokenBucket} {
		one := l
		one.Contract = c
		if has, _ := c.Numbers(); has.Burst {
			one.Burst = l.Rate.Count
		}
		all = append(all, theories(sc, one)...)
	}
	return all
}

// counterTheory is the account of a sliding window that is estimated from two
// counts. There are several by how the estimate is held against the limit: with
// the request in it at most the limit, as it is or rounded to whole numbers, or
// below the limit without it, which is also what rounding down comes to; and by
// where its windows begin.
func counterTheory(sc *scene, l scenarios.Limit, long int64, up func(int64) tempo) *theory {
	n, window, drift := l.Rate.Count, sc.ticks(l.Rate.Per), max(l.Slack.Over, l.Slack.Under)
	t := &theory{name: "a sliding counter", epoch: epoch(l), apart: l.Align == "", make: func(at int64, fresh bool) []model {
		return []model{newBucket(up(n+1), n+1, tempo{}, 0, at, fresh, sc.step()), newCounter(long, n, at, fresh)}
	}}
	for halves, name := range []string{"that rounds down, or admits below its limit", "that rounds", ""} {
		common := &phased{name, window, func(lo, hi int64) func(int64, bool) []model {
			return func(at int64, fresh bool) []model {
				c := newCounted(window, drift, n, int64(halves), lo, hi)
				if !fresh {
					c.unknown(at)
				}
				return append(t.make(at, fresh), c)
			}
		}}
		own := &phased{strings.TrimSpace(name + " on windows counted from a key's first request"), 0, func(int64, int64) func(int64, bool) []model {
			return func(at int64, fresh bool) []model {
				if !fresh {
					return t.make(at, fresh)
				}
				return append(t.make(at, fresh), newOwnCounted(newCounted(window, drift, n, int64(halves), 0, 0)))
			}
		}}
		switch l.Align {
		case scenarios.AlignEpoch, scenarios.AlignStart:
			t.phased = append(t.phased, common)
		case scenarios.AlignFirstHit:
			t.phased = append(t.phased, own)
		default:
			t.phased = append(t.phased, common, own)
		}
	}
	return t
}

// epoch is the period of a limit whose periods begin at multiples of it since
// 1970; 0: they begin elsewhere.
func epoch(l scenarios.Limit) time.Duration {
	if l.Align == scenarios.AlignEpoch {
		return l.Rate.Per
	}
	return 0
}

// lumpTheories are the accounts of refill in lumps, by where they are counted
// from: each key's first request, or some moment, for all keys the same or for
// each its own. All lie between two buckets with continuous refill, which need no
// phase.
func lumpTheories(sc *scene, l scenarios.Limit, up, down func(int64) tempo) []*theory {
	period, drift := sc.ticks(l.Rate.Per), max(l.Slack.Over, l.Slack.Under)
	k, b := l.Rate.Count, l.Burst
	bounds := func(at int64, fresh bool) []model {
		m := newBucket(up(b+k), b+min(k, b), down(b), max(b-k, 0), at, fresh, sc.step())
		if m.lower != nil {
			m.lower.lag(min(k, b), !fresh)
		}
		return []model{&together{models: []model{m}}}
	}
	pinned := func(lo, hi int64) func(int64, bool) []model {
		return func(at int64, fresh bool) []model {
			m := newLumped(period, drift, k, b, lo, hi, true)
			m.thin = !sc.several
			if !fresh {
				m.unknown(at)
			}
			return []model{m}
		}
	}
	own := &theory{name: "lumps counted from a key's first request", make: func(at int64, fresh bool) []model {
		if !fresh {
			return bounds(at, fresh)
		}
		return append(bounds(at, fresh), newLumped(period, drift, k, b, 0, 0, false))
	}}
	common := &theory{name: "lumps on a grid", epoch: epoch(l), apart: l.Align == "", make: bounds, phased: []*phased{{"", period, pinned}}}
	switch l.Align {
	case scenarios.AlignFirstHit:
		return []*theory{own}
	case scenarios.AlignEpoch, scenarios.AlignStart:
		return []*theory{common}
	}
	common.base = own
	return []*theory{own, common}
}

// fixedWindows are the accounts of a fixed window, by where its windows begin.
func fixedWindows(sc *scene, l scenarios.Limit, short, long int64, up func(int64) tempo) []*theory {
	n := l.Rate.Count
	bounds := func(at int64, fresh bool) []model {
		return []model{&together{models: []model{newBucket(up(2*n), 2*n, tempo{}, 0, at, fresh, sc.step()), newLog(short, 2*n, 0, at, fresh), newLog(long, 0, n, at, fresh)}}}
	}
	grid := &theory{name: "windows on a grid", epoch: epoch(l), make: bounds,
		grid: newGrid(sc.ticks(l.Rate.Per), n, max(l.Slack.Over, l.Slack.Under), 0)}
	open := &theory{name: "windows opened by a request", make: func(at int64, fresh bool) []model {
		return append(bounds(at, fresh), newOpened(short, long, n, at, fresh))
	}}
	// A window that comes every W since a key's first request is a bucket that is
	// filled up every W.
	tiled := &theory{name: "windows counted from a key's first request", make: func(at int64, fresh bool) []model {
		if !fresh {
			return bounds(at, fresh)
		}
		m := newLumped(sc.ticks(l.Rate.Per), max(l.Slack.Over, l.Slack.Under), n, n, 0, 0, false)
		m.steady = true
		return append(bounds(at, fresh), m)
	}}
	switch l.Align {
	case scenarios.AlignEpoch, scenarios.AlignStart:
		return []*theory{grid}
	case scenarios.AlignFirstHit:
		tiled.base = open
		return []*theory{open, tiled}
	}
	// A key whose windows are counted from its first request has a grid of its own.
	grid.grid.apart = true
	open.base = grid
	return []*theory{grid, open}
}

// share is so many millionths of x, without overflow.
func share(x, ppm int64) int64 { return x/1_000_000*ppm + x%1_000_000*ppm/1_000_000 }
