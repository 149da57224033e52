package assertions

import "math/bits"

// decidedWords bounds how many requests may have been decided before one that
// is not: 64 a word.
const decidedWords = 4

// decided is a set of requests, of those that surely were decided and of those
// that may have been. Each is in the order of time: all before one are in it,
// that one is not, and bits tell of those behind it.
type decided struct {
	sure  int32                // all before this one are in the set, and it is not
	more  [decidedWords]uint64 // bit k: sure+1+k is
	maybe int32                // all before this one were taken or come too late
	taken uint64               // bit k: maybe+1+k was, or does
}

// has reports whether a sure request is in the set.
func (d *decided) has(i int) bool {
	k := i - int(d.sure) - 1
	return k < -1 || k >= 0 && k < 64*decidedWords && d.more[k/64]>>(k%64)&1 == 1
}

// with is the set with one sure request more; ok is false where bits do not suffice.
func (d decided) with(i int) (e decided, ok bool) {
	if k := i - int(d.sure) - 1; k >= 0 {
		if k >= 64*decidedWords {
			return d, false
		}
		d.more[k/64] |= 1 << (k % 64)
		return d, true
	}
	for again := true; again; {
		again = d.more[0]&1 == 1
		for w := range d.more {
			d.more[w] >>= 1
			if w+1 < decidedWords {
				d.more[w] |= d.more[w+1] << 63
			}
		}
		d.sure++
	}
	return d, true
}

// settled reports whether a request that may have been decided is in the set.
func (d *decided) settled(i int) bool {
	k := i - int(d.maybe) - 1
	return k < -1 || k >= 0 && k < 64 && d.taken>>k&1 == 1
}

// withMaybe is the set with a request more that may have been decided.
func (d decided) withMaybe(i int) (e decided, ok bool) {
	if k := i - int(d.maybe) - 1; k >= 0 {
		d.taken |= 1 << k
		return d, k < 64
	}
	ones := bits.TrailingZeros64(^d.taken)
	d.maybe += int32(ones) + 1
	d.taken = d.taken >> ones >> 1
	return d, true
}

// count is how many requests are in the set.
func (d *decided) count() int {
	n := int(d.sure) + int(d.maybe) + bits.OnesCount64(d.taken)
	for _, w := range d.more {
		n += bits.OnesCount64(w)
	}
	return n
}
