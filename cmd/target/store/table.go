// Package store is where the states of keys live between decisions, in memory or
// in Redis, and what decides when that is down. It stands on limiter, which
// decides on a state, and below server, which asks it.
package store

import (
	"hash/maphash"
	"strings"
	"sync"
)

const (
	shardCount = 256
	// An update pays for an eighth of a look at a key, and one that adds a key for
	// two more, so that sweeping outruns adding. Looks are made four at a time, and
	// go on up to 64 as long as half of them find something to forget: what is
	// forgotten has been paid for when it was added.
	payAdd     = 16
	costLook   = 8
	sweepBatch = 4
	sweepMost  = 64
)

// Table keeps one state per key in memory. The read, the decision and the write
// of an Update are one step: no other Update of the same key comes between.
//
// States that need not be kept are forgotten as a side effect of updates, which
// now and then look at keys of some shard or other. So the cost per update is
// bounded, no timer runs, and a table that nobody updates stays as it is.
type Table[S any] struct {
	forget func(state S, now int64) bool
	seed   maphash.Seed // decides which keys share a lock, and nothing that could be seen
	shards [shardCount]guardedShard[S]
}

// guardedShard is the part of a table under one lock.
type guardedShard[S any] struct {
	mu sync.Mutex
	shard[S]
	paid int  // what the updates of this shard have paid for looks
	turn int  // the shard that is looked at next for this one; they take turns, since one that is not asked any more has keys too
	gone bool // its states have been moved to another table
	_    [64]byte
}

// New gives an empty table. forget reports whether a state need not be kept
// any more at now; nil keeps all for ever. It is called under the lock of a
// shard and must not use the table.
func New[S any](forget func(state S, now int64) bool) *Table[S] {
	t := &Table[S]{forget: forget, seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].turn = i // else all would look at the same one at the same time
	}
	return t
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
	hash := t.hash(key)
	now, turn := t.shard(hash).update(key, hash, step)
	t.sweep(turn, now)
}

func (g *guardedShard[S]) update(key string, hash uint64, step func(S, bool) (S, int64, bool)) (now int64, turn int) {
	g.mu.Lock()
	defer func() { turn = g.unlock() }()
	at := g.find(key, hash)
	var old S
	if at >= 0 {
		old = *g.state(at)
	}
	next, now, keep := step(old, at >= 0)
	if keep {
		g.put(key, hash, at, next)
	}
	return now, -1
}

// put keeps the state of a key that find has found at that place.
func (g *guardedShard[S]) put(key string, hash uint64, at int, state S) {
	g.paid++
	if at >= 0 {
		*g.state(at) = state
		return
	}
	g.paid += payAdd
	// The caller's string may be a piece of a whole request: keep only the key.
	g.add(strings.Clone(key), hash, state)
}

// unlock tells which shard has to be swept after it, or -1.
func (g *guardedShard[S]) unlock() (turn int) {
	turn = -1
	if g.paid >= costLook*sweepBatch {
		g.paid -= costLook * sweepBatch
		g.turn = (g.turn + 1) % shardCount
		turn = g.turn
	}
	g.mu.Unlock()
	return turn
}

// sweep looks at some keys of the shard whose turn it is, and forgets those that
// need not be kept at now. A busy shard is left for next time.
func (t *Table[S]) sweep(turn int, now int64) {
	if turn < 0 || t.forget == nil {
		return
	}
	g := &t.shards[turn]
	if g.mu.TryLock() {
		defer g.mu.Unlock()
		forget := func(s S) bool { return t.forget(s, now) }
		for looks := sweepBatch; g.shard.sweep(sweepBatch, forget) >= sweepBatch/2 && looks < sweepMost; looks += sweepBatch {
		}
	}
}

// moveTo puts into another table what carry makes of each state, unless it is not
// ok, and marks each part of this one as gone while its keys are locked: whoever
// locks one afterwards has to look there.
func (t *Table[S]) moveTo(other *Table[S], carry func(S) (S, bool)) {
	t.eachShard(func(g *guardedShard[S]) {
		g.each(func(key string, state S) {
			if next, ok := carry(state); ok {
				other.Update(key, func(S, bool) (S, int64, bool) { return next, 0, true })
			}
		})
		g.gone = true
	})
}

// eachShard calls do with every part of the table while it is locked.
func (t *Table[S]) eachShard(do func(g *guardedShard[S])) {
	for i := range t.shards {
		g := &t.shards[i]
		g.mu.Lock()
		do(g)
		g.mu.Unlock()
	}
}

// Len is how many keys have a state.
func (t *Table[S]) Len() (n int) {
	t.eachShard(func(g *guardedShard[S]) { n += g.live })
	return n
}

func (t *Table[S]) hash(key string) uint64 { return maphash.String(t.seed, key) }

func (t *Table[S]) shard(hash uint64) *guardedShard[S] { return &t.shards[number(hash)] }

// number is that of a shard. It takes other bits of the hash than the index of a
// shard does.
func number(hash uint64) int { return int(hash % shardCount) }
