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
	clock   *clock.Clock
	limits  []Limit
	torn    bool // whether one of them is
	cells   []*cell
	tables  []*Table[limiter.State] // of the cells
	file    *journal                // where what has become of states is written; nil: nowhere
	written func()                  // is told of every decision, once no key is locked, if there is a file
	calls   sync.Pool               // of *call
}

// NewMemory gives a store in this process for the limits, which goes by c and has
// its states to itself.
func NewMemory(limits []Limit, c *clock.Clock) Store {
	var cells []*cell
	for i, l := range limits {
		cells = append(cells, newCell(l, i))
	}
	return newMemory(cells, limits, c, nil)
}

func newMemory(cells []*cell, limits []Limit, c *clock.Clock, file *journal) *memory {
	m := &memory{clock: c, limits: slices.Clone(limits), torn: slices.ContainsFunc(limits, torn), cells: cells, file: file}
	for i := range m.limits {
		if m.limits[i].Now == nil {
			m.limits[i].Now = clock.Instant.Since1970
		}
		if cells[i].decides != nil {
			m.limits[i].Algorithm = cells[i].decides
		}
		m.tables = append(m.tables, cells[i].table)
	}
	m.calls.New = func() any { return new(call) }
	return m
}

// place is where the state of one ask is.
type place struct {
	shard *guardedShard[limiter.State]
	limit int           // of the ask
	order int           // of locking: the same for all requests, so that no two wait for each other
	hash  uint64        // of the key
	found limiter.State // what is known of the key; nil: nothing
	turn  int           // which shard has to be swept then; -1: none
}

// call is the room that one Decide needs, kept for the next one.
type call struct {
	places []place
	locks  []place // the places in the order of locking, each shard once
	parts  []limiter.Part
	at     clock.Instant
	answer Answer
}

func (m *memory) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if err := check(asks, len(m.limits)); err != nil {
		return err
	}
	if m.torn && tears(m.limits, asks) {
		return m.decideTorn(ctx, asks, settle)
	}
	c := m.calls.Get().(*call)
	err := m.decide(c, asks, settle)
	for _, p := range c.locks {
		if p.turn >= 0 { // by the clock of its own limit: others may run otherwise
			m.tables[p.limit].sweep(p.turn, m.limits[p.limit].Now(c.at))
		}
	}
	c.forget()
	m.calls.Put(c)
	if m.file != nil {
		m.written()
	}
	return err
}

func (m *memory) decide(c *call, asks []Ask, settle func(*Answer)) error {
	m.locate(c, asks)
	c.lock()
	defer c.unlock()
	if c.moved() {
		return ErrMoved
	}
	at := m.clock.Read()
	c.at = at
	for i := range asks {
		c.parts = append(c.parts, m.part(&c.places[i], &asks[i], at))
	}
	refused, err := limiter.DecideAll(c.parts)
	for i := range asks {
		c.keep(i, asks[i].Key, refused, err)
		asks[i].Lease = 0
		if refused < 0 && err == nil {
			asks[i].Lease = 1 // which place is held does not matter here
		}
	}
	if err == nil && m.file != nil { // before anybody is told
		err = m.file.write(m.cells, asks, c)
	}
	if err == nil && settle != nil {
		c.settle(refused, at, settle)
	}
	return err
}

// locate finds the shards of all keys, and the order in which to lock them.
func (m *memory) locate(c *call, asks []Ask) {
	for i := range asks {
		a := &asks[i]
		t := m.tables[a.Limit]
		hash := t.hash(a.Key)
		c.places = append(c.places, place{shard: t.shard(hash), limit: a.Limit, order: m.cells[a.Limit].order*shardCount + number(hash), hash: hash})
	}
	c.locks = append(c.locks, c.places...)
	if len(asks) > 1 {
		slices.SortFunc(c.locks, func(a, b place) int { return cmp.Compare(a.order, b.order) })
		c.locks = slices.CompactFunc(c.locks, func(a, b place) bool { return a.order == b.order })
	}
}

func (m *memory) part(p *place, a *Ask, at clock.Instant) limiter.Part {
	l := &m.limits[a.Limit]
	part := limiter.Part{Algorithm: l.Algorithm, Now: l.Now(at), Cost: a.Cost, Apart: l.Apart}
	if at := p.shard.find(a.Key, p.hash); at >= 0 {
		p.found = *p.shard.state(at)
		part.State = p.found
	} else {
		part.State = l.Algorithm.Fresh(part.Now)
	}
	return part
}

// keep stores what has become of the state of an ask. A key that was not known
// and of which nothing was spent stays unknown. A state that was changed in place
// is there already.
func (c *call) keep(i int, key string, refused int, err error) {
	p, part := &c.places[i], &c.parts[i]
	unspent := err != nil || refused >= 0 && part.Decision.Admitted && !part.Apart
	switch {
	case p.found == part.State:
		p.shard.paid++
	case p.found != nil || !unspent:
		p.shard.put(key, p.hash, p.shard.find(key, p.hash), part.State)
	}
}

func (c *call) settle(refused int, at clock.Instant, settle func(*Answer)) {
	a := &c.answer
	a.Admitted, a.Refused, a.From, a.At = refused < 0, refused, at, at
	for i := range c.parts {
		a.Moments = append(a.Moments, c.parts[i].Now)
		a.Decisions = append(a.Decisions, c.parts[i].Decision)
	}
	settle(a)
}

// moved reports whether a state that is asked for is elsewhere.
func (c *call) moved() bool {
	for _, p := range c.locks {
		if p.shard.gone {
			return true
		}
	}
	return false
}

func (c *call) lock() {
	for _, p := range c.locks {
		p.shard.mu.Lock()
	}
}

func (c *call) unlock() {
	for i := range c.locks {
		c.locks[i].turn = c.locks[i].shard.unlock()
	}
}

// forget lets go of the states and empties the call.
func (c *call) forget() {
	clear(c.places)
	clear(c.parts)
	*c = call{places: c.places[:0], locks: c.locks[:0], parts: c.parts[:0], answer: Answer{Decisions: c.answer.Decisions[:0], Moments: c.answer.Moments[:0]}}
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

// release gives back what is held where the state is now.
func (m *memory) release(r limiter.Releaser, a Ask) {
	for c := m.cells[a.Limit]; c != nil && !m.releasedAt(c.table, r, a); {
		c = c.next.Load()
	}
}

// releasedAt is false if the state is not in that table any more.
func (m *memory) releasedAt(t *Table[limiter.State], r limiter.Releaser, a Ask) bool {
	hash := t.hash(a.Key)
	g := t.shard(hash)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return false
	}
	if at := g.find(a.Key, hash); at >= 0 {
		r.Release(*g.state(at), m.limits[a.Limit].Now(m.clock.Read()), a.Cost)
	}
	return true
}

func (m *memory) Len() int {
	n := 0
	for _, t := range m.tables {
		n += t.Len()
	}
	return n
}

func (m *memory) Close() error { return nil }
