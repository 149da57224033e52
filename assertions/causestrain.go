package assertions

import (
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What has to be assumed for an explanation, in tenths of one number that is not
// the promised one. Of two that explain a record the one that strains belief less
// is named first: one other number of the promised contract, then another contract
// with the promised numbers, then both.
const (
	strainNumber   = 10
	strainNeighbor = 9  // a number that is off by one
	strainContract = 11 // another algorithm, or periods that begin elsewhere
	strainUnasked  = 4  // a number that the promise does not have
	strainApart    = 16 // several limiters side by side, which refuse whatever they like
	strainMuddle   = 3  // some refusals tell other waits than it would
)

// strain is what an explanation takes for granted.
func (d *diagnosis) strain(x explanation) int {
	n := 0
	if x.waits < 0.995 {
		n += strainMuddle
	}
	if x.apart {
		return n + strainApart
	}
	promise := d.limit()
	if x.family.contract != d.promised() || !d.placed(x.family) {
		n += strainContract
	}
	if x.family.contract == scenarios.Lumps && promise.Contract != scenarios.Lumps {
		n += strainUnasked
	}
	size, rate := d.keeps(x)
	switch {
	case x.factor != 0:
		n += strainNumber
	case !size && !rate:
		n += 2 * strainNumber
	case !size && abs(x.limit.Size()-promise.Size()) == 1:
		n += strainNeighbor
	case !size || !rate:
		n += strainNumber
	}
	return n
}

// foretold reports whether refusals tell the waits that an explanation would have.
func (x explanation) foretold() bool { return x.waits >= 0.9 }

// holdsBack reports whether admitted requests were answered as late as if they had
// waited for their turn: later than any refusal, by several tokens' time.
func (d *diagnosis) holdsBack() bool {
	longest := 2 * d.sample.ticks(d.token())
	for i := range d.sample.hits {
		if h := &d.sample.hits[i]; h.outcome == results.Limited {
			longest = max(longest, 2*(h.to-h.from))
		}
	}
	late, admitted := 0, 0
	for i := range d.sample.hits {
		if h := &d.sample.hits[i]; h.outcome == results.Admitted {
			if admitted++; h.to-h.from > longest {
				late++
			}
		}
	}
	return late > 3 && late*10 > admitted
}

// placed reports whether the periods of a family of the promised contract begin
// where it is promised.
func (d *diagnosis) placed(f family) bool {
	has, _ := f.contract.Numbers()
	promise := d.limit().Align
	return !has.Align || promise == "" || f.align == promise
}

// keeps reports whether an explanation has the promised number at once, and the
// promised rate: as many in the mean, or as often as is promised.
func (d *diagnosis) keeps(x explanation) (size, rate bool) {
	promise := d.limit()
	size = x.limit.Size() == promise.Size()
	rate = same(x.limit.Token(), promise.Token())
	if has, _ := x.family.contract.Numbers(); !has.Burst && promise.Rate.Count == promise.Size() {
		rate = rate || x.limit.Rate.Per == promise.Rate.Per
	}
	return size, rate
}
