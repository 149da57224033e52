package store

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// memory keeps the states in this process, one table for each limit.
//
// All keys of a request are locked before the clock is read and until the
// answer is settled. So the moment that is settled is the one that was decided
// on, and the answers on a key are settled in the order of its decisions.
type memory struct {
	clock  *clock.Clock
	limits []Limit
	tables []*Table[limiter.State]
	calls  sync.Pool // of *call
}

// NewMemory gives a store in this process for the limits, which goes by c.
func NewMemory(limits []Limit, c *clock.Clock) Store {
	m := &memory{clock: c, limits: slices.Clone(limits)}
	for i := range m.limits {
		if m.limits[i].Now == nil {
			m.limits[i].Now = clock.Instant.Since1970
		}
		m.tables = append(m.tables, New(m.limits[i].Algorithm.Forgettable))
	}
	m.calls.New = func() any { return new(call) }
	return m
}

// place is where the state of one ask is.
type place struct {
	shard *shard[limiter.State]
	order int // of locking: the same for all requests, so that no two wait for each other
	where generationName
}

// call is the room that one Decide needs, kept for the next one.
type call struct {
	places []place
	locks  []place // the places in the order of locking, each shard once
	parts  []limiter.Part
	answer Answer
}

func (m *memory) Decide(_ context.Context, asks []Ask, settle func(*Answer)) error {
	if err := check(asks, len(m.limits)); err != nil {
		return err
	}
	c := m.calls.Get().(*call)
	err := m.decide(c, asks, settle)
	for i, a := range asks {
		m.tables[a.Limit].tidy(c.parts[i].Now)
	}
	c.forget()
	m.calls.Put(c)
	return err
}

func (m *memory) decide(c *call, asks []Ask, settle func(*Answer)) error {
	m.locate(c, asks)
	c.lock()
	defer c.unlock()
	at := m.clock.Read()
	for i, a := range asks {
		c.parts = append(c.parts, m.part(&c.places[i], a, at))
	}
	refused, err := limiter.DecideAll(c.parts)
	for i := range asks {
		c.keep(i, asks[i].Key, refused, err)
	}
	if err != nil {
		return err
	}
	for i := range asks {
		asks[i].Lease = 0
		if refused < 0 {
			asks[i].Lease = 1 // which place is held does not matter here
		}
	}
	if settle != nil {
		c.settle(refused, at, settle)
	}
	return nil
}

// locate finds the shards of all keys, and the order in which to lock them.
func (m *memory) locate(c *call, asks []Ask) {
	for _, a := range asks {
		t := m.tables[a.Limit]
		n := t.number(a.Key)
		c.places = append(c.places, place{shard: &t.shards[n], order: a.Limit*shardCount + n})
	}
	c.locks = append(c.locks, c.places...)
	if len(asks) > 1 {
		slices.SortFunc(c.locks, func(a, b place) int { return cmp.Compare(a.order, b.order) })
		c.locks = slices.CompactFunc(c.locks, func(a, b place) bool { return a.order == b.order })
	}
}

func (m *memory) part(p *place, a Ask, at clock.Instant) limiter.Part {
	l := m.limits[a.Limit]
	now := l.Now(at)
	var state limiter.State
	if state, p.where = p.shard.find(a.Key); p.where == nowhere {
		state = l.Algorithm.Fresh(now)
	}
	return limiter.Part{Algorithm: l.Algorithm, State: state, Now: now, Cost: a.Cost}
}

// keep stores what has become of the state of an ask. A key that was not known
// and of which nothing was spent stays unknown.
func (c *call) keep(i int, key string, refused int, err error) {
	p, part := c.places[i], &c.parts[i]
	unspent := err != nil || refused >= 0 && part.Decision.Admitted
	if p.where != nowhere || !unspent {
		p.shard.put(key, part.State, p.where)
	}
}

func (c *call) settle(refused int, at clock.Instant, settle func(*Answer)) {
	a := &c.answer
	a.Admitted, a.Refused, a.From, a.At, a.Moment = refused < 0, refused, at, at, c.parts[0].Now
	for i := range c.parts {
		a.Decisions = append(a.Decisions, c.parts[i].Decision)
	}
	settle(a)
}

func (c *call) lock() {
	for _, p := range c.locks {
		p.shard.mu.Lock()
	}
}

func (c *call) unlock() {
	for _, p := range c.locks {
		p.shard.mu.Unlock()
	}
}

// forget lets go of the states and empties the call.
func (c *call) forget() {
	clear(c.parts)
	*c = call{places: c.places[:0], locks: c.locks[:0], parts: c.parts[:0], answer: Answer{Decisions: c.answer.Decisions[:0]}}
}

func (m *memory) Release(_ context.Context, asks []Ask) error {
	if err := check(asks, len(m.limits)); err != nil {
		return err
	}
	for _, a := range asks {
		if r, ok := m.limits[a.Limit].Algorithm.(limiter.Releaser); ok {
			m.release(r, a)
		}
	}
	return nil
}

func (m *memory) release(r limiter.Releaser, a Ask) {
	t := m.tables[a.Limit]
	now := m.limits[a.Limit].Now(m.clock.Read())
	s := t.shard(a.Key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if state, where := s.find(a.Key); where != nowhere {
		r.Release(state, now, a.Cost)
	}
}

func (m *memory) Len() int {
	n := 0
	for _, t := range m.tables {
		n += t.Len()
	}
	return n
}

func (m *memory) Close() error { return nil }
