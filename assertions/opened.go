package assertions

import (
	"sort"

	"github.com/ratehammer/ratehammer/results"
)

// opened judges one key of a fixed window that is opened by a request: it lasts
// W from that request's decision, and the next request that is let in behind it
// opens the next one. When the present window was opened is known to within an
// interval:
//
//	low:  the one before was not over earlier, and no request that may have
//	      opened this one left earlier
//	high: a request that left when the one before was over for certain has
//	      opened this one or came later
//
// A request that left when the window before was over for certain, and was
// decided before low + W, is in this one for certain.
type opened struct {
	short, long int64 // ticks: how long a window lasts at least, and at most
	limit       int64 // cost
	low, high   int64 // ticks
	over        int64 // ticks: the window before was over by then
	next        int64 // ticks: the earliest that the next one can have been opened; 0 with hasNext false
	hasNext     bool
	strange     bool // it may have been opened before we came: what is in it is not known

	certain int64 // cost that is certainly in this window
	first   int64 // ticks: the first request of it
	most    int64 // the largest such cost, and its window
	from    int64
	to      int64

	gone  []spent
	total int64
	out   int64
}

// newOpened is a key that is used for the first time, or one of which nothing
// is known before t.
func newOpened(short, long, limit, t int64, fresh bool) *opened {
	o := &opened{short: short, long: long, limit: limit}
	if fresh {
		o.low, o.high, o.over = t-2*long, t-2*long, t-long
	} else {
		o.unknown(t)
	}
	return o
}

// spend tells of a request that left at sent and may have been let in by to;
// admitted: it was. One that may only have been let in can have opened a window
// earlier than another, but does not show that one is open.
func (o *opened) spend(sent, to, cost int64, admitted bool) {
	o.out += cost
	if !o.hasNext && to >= o.low+o.short {
		o.next, o.hasNext = max(o.low+o.short, sent), true
	}
	if !admitted {
		return
	}
	if sent >= o.high+o.long { // this window is over for certain
		o.over = o.high + o.long
		o.low, o.high, o.hasNext = o.next, to, false
		o.certain, o.strange = 0, false
		if to >= o.low+o.short { // it may open the one behind as well
			o.next, o.hasNext = o.low+o.short, true
		}
	}
	if sent >= o.over {
		o.high = min(o.high, to)
	}
}

// spent tells that it was decided by t, and what it was certainly let in for.
func (o *opened) spent(sent, t, cost, admitted int64) {
	o.out -= cost
	old := sort.Search(len(o.gone), func(i int) bool { return o.gone[i].at > t-2*o.long })
	o.gone = append(o.gone[:0], o.gone[old:]...)
	o.gone = append(o.gone, spent{t, o.total})
	o.total += cost
	if admitted == 0 || o.strange || sent < o.over || t >= o.low+o.short {
		return
	}
	if o.certain == 0 {
		o.first = sent
	}
	o.first = min(o.first, sent)
	if o.certain += admitted; o.certain > o.most {
		o.most, o.from, o.to = o.certain, o.first, t
	}
}

// refused gives the most that may have been spent in the window of a refusal
// by its time, and whether it is known in which window it was.
func (o *opened) refused(sent, t int64) (most int64, known bool) {
	if o.strange || sent < o.high || t >= o.low+o.short {
		return 0, false
	}
	i := sort.Search(len(o.gone), func(i int) bool { return o.gone[i].at >= o.low })
	if i == len(o.gone) {
		return o.out, true
	}
	return o.out + o.total - o.gone[i].before, true
}

func (o *opened) start(x *brief) {
	if x.spends() {
		o.spend(x.from, x.to, x.cost, x.outcome == results.Admitted && !x.torn)
	}
}

func (o *opened) end(x *brief) (r room) {
	if x.spends() {
		certain := x.certain()
		if x.torn {
			certain = 0
		}
		o.spent(x.from, x.to, x.cost, certain)
		return room{}
	}
	most, known := o.refused(x.from, x.to)
	return room{judged: known, wrong: known && most+x.cost <= o.limit, left: float64(o.limit - most), of: float64(o.limit), since: o.low}
}

// forget: in which window we are is not known any more.
func (o *opened) forget(t int64) { o.unknown(t) }

// unknown: one may have been opened until t that we know nothing of.
func (o *opened) unknown(t int64) {
	o.low, o.high, o.over, o.strange = t-o.long, t, t, true
	o.next, o.hasNext = t, o.out > 0 // what is in flight may open the next
}

func (o *opened) trim(int64) {}

func (o *opened) heaviest() heavy {
	if o.most == 0 {
		return heavy{}
	}
	return heavy{any: true, over: o.most > o.limit, from: o.from, to: o.to, got: float64(o.most), allowed: float64(o.limit), rule: ruleWindow, burst: o.limit}
}
