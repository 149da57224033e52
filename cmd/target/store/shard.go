package store

// shard is a hash table that can be walked through while it changes, and that
// gives memory back: a Go map can do neither. A key is searched from the place of
// its hash on to the next free one, and lies in one piece with its state's
// pointer, so that a large table costs few misses of the cache.
//
// A key takes 40 bytes in it, 53 to 107 with the free places, and what key and
// state themselves take.
type shard[S any] struct {
	slots []slot[S] // a power of two, a quarter or more of them free, and at most seven eighths
	live  int       // how many are not
	hand  int       // the place that a sweep looks at next
}

const leastSlots = 8

// slot is a place for a key. The zero slot is free.
type slot[S any] struct {
	hash  uint64 // with the lowest bit set
	key   string
	state S
}

// home is where a hash is searched from. The lower bits are those of the shard.
func (t *shard[S]) home(hash uint64) int { return int(hash>>32) & (len(t.slots) - 1) }

func (t *shard[S]) next(i int) int { return (i + 1) & (len(t.slots) - 1) }

// find gives the place of a key, or -1. It is good until the next add or remove.
func (t *shard[S]) find(key string, hash uint64) int {
	if t.live == 0 {
		return -1
	}
	hash |= 1
	for i := t.home(hash); ; i = t.next(i) {
		switch s := &t.slots[i]; {
		case s.hash == hash && s.key == key:
			return i
		case s.hash == 0:
			return -1
		}
	}
}

// each calls do with every key and its state.
func (t *shard[S]) each(do func(key string, state S)) {
	for i := range t.slots {
		if s := &t.slots[i]; s.hash != 0 {
			do(s.key, s.state)
		}
	}
}

// state is that of the key at a place.
func (t *shard[S]) state(at int) *S { return &t.slots[at].state }

// add puts in a key that there is not.
func (t *shard[S]) add(key string, hash uint64, state S) {
	if t.live+1 > len(t.slots)/4*3 {
		t.resize(max(leastSlots, 2*len(t.slots)))
	}
	t.insert(slot[S]{hash | 1, key, state})
	t.live++
}

func (t *shard[S]) insert(s slot[S]) {
	i := t.home(s.hash)
	for t.slots[i].hash != 0 {
		i = t.next(i)
	}
	t.slots[i] = s
}

func (t *shard[S]) resize(slots int) {
	old := t.slots
	t.slots = make([]slot[S], slots)
	for _, s := range old {
		if s.hash != 0 {
			t.insert(s)
		}
	}
}

// sweep looks at so many keys in turn, removes those that may be forgotten, and
// tells how many. Where most places are free it looks at fewer.
func (t *shard[S]) sweep(keys int, forget func(S) bool) (removed int) {
	for visits := 8 * keys; keys > 0 && visits > 0 && t.live > 0; visits-- {
		t.hand &= len(t.slots) - 1
		s := &t.slots[t.hand]
		switch {
		case s.hash == 0:
			t.hand++
			continue
		case forget(s.state):
			t.remove(t.hand) // and another one may be there now
			removed++
		default:
			t.hand++
		}
		keys--
	}
	return removed
}

// remove frees a place, and half of all places if few are in use then.
func (t *shard[S]) remove(at int) {
	// What follows it up to the next free place closes ranks, so that a search does
	// not end before what it is for: each moves up that does not come to lie before
	// its home.
	for i := t.next(at); t.slots[i].hash != 0; i = t.next(i) {
		if t.distance(t.home(t.slots[i].hash), i) >= t.distance(at, i) {
			t.slots[at] = t.slots[i]
			at = i
		}
	}
	t.slots[at] = slot[S]{}
	t.live--
	switch {
	case t.live == 0:
		t.slots = nil
	case t.live < len(t.slots)/8:
		t.resize(len(t.slots) / 2)
	}
}

// distance is how many places it is from one to another, round the end.
func (t *shard[S]) distance(from, to int) int { return (to - from) & (len(t.slots) - 1) }
