// Package store is where the states of keys live between decisions. It stands
// beside limiter, which decides on a state, and below server, which brings the
// two together.
package store

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	shardCount = 64
	sweepSteps = 2 // keys looked at after each update; more than 1, so that sweeping outruns the adding of keys
)

// Table keeps one state per key in memory. The read, the decision and the write
// of an Update are one step: no other Update of the same key comes between.
//
// States that need not be kept are forgotten as a side effect of updates: each
// looks at a fixed number of keys of some shard, whatever key it is for. So the
// cost per update is bounded, no timer runs, and a table that nobody updates
// stays as it is.
type Table[S any] struct {
	forget func(state S, now int64) bool
	seed   maphash.Seed // decides which keys share a lock, and nothing that could be seen
	hand   atomic.Uint32
	shards [shardCount]shard[S]
}

// New gives an empty table. forget reports whether a state need not be kept
// any more at now; nil keeps all for ever. It is called under the lock of a
// shard and must not use the table.
func New[S any](forget func(state S, now int64) bool) *Table[S] {
	return &Table[S]{forget: forget, seed: maphash.MakeSeed()}
}

// Update calls step with the state of key and keeps the one that it returns.
// known tells whether the key has a state; if not, old is the zero S. now is
// the moment of the decision, by which states are forgotten. With keep false
// the table stays as it was.
//
// step runs while the key is locked, together with others of its shard, and
// must not use the table. A clock that is read inside step gives moments in
// the order of the decisions.
func (t *Table[S]) Update(key string, step func(old S, known bool) (next S, now int64, keep bool)) {
	now := t.shard(key).update(key, step)
	t.tidy(now)
}

// tidy looks at some keys of some shard, and forgets those that need not be
// kept at now.
func (t *Table[S]) tidy(now int64) {
	if t.forget == nil {
		return
	}
	// The next shard in turn, not the one just used: else the keys of a shard
	// that is not asked any more would stay. A busy one is left for next time.
	s := &t.shards[t.hand.Add(1)%shardCount]
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		for range sweepSteps {
			s.sweep(now, t.forget)
		}
	}
}

// Len is how many keys have a state.
func (t *Table[S]) Len() int {
	n := 0
	for i := range t.shards {
		n += t.shards[i].size()
	}
	return n
}

func (t *Table[S]) shard(key string) *shard[S] { return &t.shards[t.number(key)] }

func (t *Table[S]) number(key string) int { return int(maphash.String(t.seed, key) % shardCount) }

// shard is the part of a table under one lock. It holds two generations: a
// sweep walks through the older one and moves what has to be kept into the
// newer one; at its end the older one is dropped and the newer one becomes the
// older. This is what gives memory back: a Go map whose keys are deleted keeps
// its size, and so does a slice.
type shard[S any] struct {
	mu         sync.Mutex
	young, old generation[S]
	swept      int // how many of old.order the sweep has passed
}

type generation[S any] struct {
	states map[string]S
	order  []string // every key ever put into states, so that a sweep can go on where it was
}

// add puts in a key that g has not had.
func (g *generation[S]) add(key string, s S) {
	if g.states == nil {
		g.states = make(map[string]S)
	}
	g.states[key] = s
	g.order = append(g.order, key)
}

// generationName says where in a shard a key is.
type generationName uint8

const (
	nowhere generationName = iota
	inOld
	inYoung
)

// find gives the state of a key that has one. The shard must be locked.
func (s *shard[S]) find(key string) (state S, where generationName) {
	if state, ok := s.young.states[key]; ok {
		return state, inYoung
	}
	if state, ok := s.old.states[key]; ok {
		return state, inOld
	}
	return state, nowhere
}

// put keeps the state of a key that was found where it says. The shard must
// have been locked since then.
func (s *shard[S]) put(key string, state S, where generationName) {
	switch where {
	case inYoung:
		s.young.states[key] = state
		return
	case inOld:
		delete(s.old.states, key)
	}
	// The caller's string may be a piece of a whole request: keep only the key.
	s.young.add(strings.Clone(key), state)
}

func (s *shard[S]) update(key string, step func(S, bool) (S, int64, bool)) (now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, where := s.find(key)
	next, now, keep := step(state, where != nowhere)
	if keep {
		s.put(key, next, where)
	}
	return now
}

// sweep looks at one key of the old generation.
func (s *shard[S]) sweep(now int64, forget func(S, int64) bool) {
	if s.swept == len(s.old.order) {
		s.old, s.young, s.swept = s.young, generation[S]{}, 0
		if len(s.old.order) == 0 {
			return
		}
	}
	key := s.old.order[s.swept]
	s.swept++
	state, there := s.old.states[key]
	if !there {
		return // updated since, and so moved already
	}
	delete(s.old.states, key)
	if !forget(state, now) {
		s.young.add(key, state)
	}
}

func (s *shard[S]) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.young.states) + len(s.old.states)
}
