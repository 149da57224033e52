package assertions

import (
	"fmt"
	"math"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckLower is the id of the lower bound: nothing is refused while every
// limit has the tokens for it.
const CheckLower = "bound.lower"

// lower asserts that no refusal was wrong. With several limits any of them may
// have refused, so a refusal is wrong only if it is so under each.
type lower struct {
	*scene
	limits  []scenarios.Limit
	tempos  []tempo
	buckets [][]pessimist // by limit, then slot
	blind   int64         // ticks: up to here requests may be missing from the record
	refused int64
	wrong   int64
	keys    map[int32]bool // on which refusals were wrong
	worst   wrongRefusal   // the first
}

// wrongRefusal is the witness of a broken lower bound.
type wrongRefusal struct {
	f     *flight
	limit int     // the one that had least to spare
	level float64 // tokens it held at least
	spare float64 // tokens beyond the request's cost
	full  int64   // ticks: since when the reckoning runs
}

func newLower(sc *scene, limits []scenarios.Limit) *lower {
	w := &lower{scene: sc, limits: limits, blind: math.MinInt64, keys: map[int32]bool{}}
	for _, l := range limits {
		w.tempos = append(w.tempos, newTempo(l.Rate, -l.Slack.Under, sc.length(), l.Burst, roundDown))
	}
	w.buckets = make([][]pessimist, len(limits))
	return w
}

func (w *lower) check() string { return CheckLower }

func (w *lower) trim(oldest int64) {
	for _, slots := range w.buckets {
		for i := range slots {
			if slots[i].refusals > 0 {
				slots[i].trim(oldest)
			}
		}
	}
}

func (w *lower) hear(events []event) {
	for _, e := range events {
		switch {
		case e.kind == loses:
			w.blind = math.MaxInt64
		case e.kind == regains:
			w.regain(e.at)
		case e.f == nil: // tears: more time passed than we saw, so there were more tokens than we count
		case e.kind == ends && !e.f.spends():
			w.refusal(e)
		default:
			for i := range w.limits {
				b := w.bucket(i, e.f.key, e.at)
				switch {
				case e.kind == ends:
					b.spent(e.at, e.f.hit.Cost)
				case e.f.spends():
					b.spend(e.at, e.f.hit.Cost)
				default:
					b.refuse(e.at)
				}
			}
		}
	}
}

func (w *lower) bucket(limit int, key int32, at int64) *pessimist {
	i := int(slot(w.limits[limit], key))
	slots := &w.buckets[limit]
	for i >= len(*slots) {
		*slots = append(*slots, pessimist{})
	}
	b := &(*slots)[i]
	if b.den == 0 {
		*b = w.open(limit, at)
	}
	return b
}

// regain begins anew behind a hole in the record: what was spent in it is not known.
func (w *lower) regain(at int64) {
	w.blind = at
	for _, slots := range w.buckets {
		for i := range slots {
			if slots[i].den != 0 {
				slots[i].unknown(at)
			}
		}
	}
}

// open is a bucket as it is when first heard of. One that is not known to be
// full has refilled at least since the run's start, when we left it alone.
func (w *lower) open(limit int, at int64) pessimist {
	if w.blind > math.MinInt64 { // it may have been used in the hole
		return newPessimist(w.tempos[limit], w.limits[limit].Burst, min(w.blind, at), false)
	}
	if w.fresh && w.limits[limit].Key.Kind != scenarios.KeyNone {
		return newPessimist(w.tempos[limit], w.limits[limit].Burst, at, true)
	}
	start := floorDiv(-w.early, w.tick)
	return newPessimist(w.tempos[limit], w.limits[limit].Burst, min(start, at), false)
}

func (w *lower) refusal(e event) {
	w.refused++
	tightest := wrongRefusal{f: e.f}
	e.f.wrong = true
	for i := range w.limits {
		b := w.bucket(i, e.f.key, e.at)
		low := b.refused(e.f.from, e.at, e.f.hit.Cost)
		e.f.wrong = e.f.wrong && low.level >= b.weigh(e.f.hit.Cost)
		level := b.tokens(low.level)
		if spare := level - float64(e.f.hit.Cost); i == 0 || spare < tightest.spare {
			tightest.limit, tightest.level, tightest.spare, tightest.full = i, level, spare, b.full
		}
	}
	e.f.wrong = e.f.wrong && e.f.from > w.blind
	if !e.f.wrong {
		return
	}
	w.wrong++
	w.keys[e.f.key] = true
	if w.worst.f == nil {
		w.worst = tightest
	}
}

func (w *lower) tell() []results.Finding {
	f := results.Finding{Check: CheckLower, Limit: w.limits[0].Name}
	switch {
	case w.refused == 0:
		f.Text = "nothing was refused, so nothing could be refused wrongly; what the limit allows was not asked for in full"
	case w.wrong == 0:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("nothing was refused while the limit allowed it (%s)", plural(w.refused, "refusal"))
	default:
		f = w.broken()
	}
	return []results.Finding{f}
}

func (w *lower) broken() results.Finding {
	x := w.worst
	l := w.limits[x.limit]
	f := results.Finding{
		Check: CheckLower, Status: results.Broken, Limit: l.Name, Key: x.f.hit.Key,
		Got: x.level, Allowed: float64(x.f.hit.Cost), Unit: "tokens", Seqs: []int64{x.f.hit.Seq},
	}
	f.FromNS, _ = w.clock(x.full, x.f.to)
	f.FromNS, f.ToNS = min(f.FromNS, x.f.hit.Sent), x.f.hit.First
	f.Text = fmt.Sprintf("refused too much: request %d was refused although at least %s of %d tokens were there",
		x.f.hit.Seq, number(x.level), l.Burst)
	if w.wrong > 1 {
		f.Text += fmt.Sprintf("; %d of %s were wrong, on %s", w.wrong, plural(w.refused, "refusal"), plural(int64(len(w.keys)), "key"))
	}
	f.Proof = fmt.Sprintf("%s >= %d, the request's cost, at every moment from %s to %s",
		number(x.level), x.f.hit.Cost, instant(x.f.hit.Sent), instant(x.f.hit.First))
	return f
}
