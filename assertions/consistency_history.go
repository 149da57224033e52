package assertions

import (
	"cmp"
	"slices"
)

// history is what is known of one bucket: requests in units of a driftingBucket.
type history struct {
	sure  []task // admitted or refused for certain, by from and to
	maybe []task // that may have been admitted at some moment, or not, likewise
	start curve  // what the bucket may be at the beginning
}

// task is a request that was decided at some moment from from to to.
type task struct {
	from, to int64
	cost     int64
	seq      int64
	class    int32 // of requests of one cost and outcome
	refused  bool
}

func byTime(a, b task) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
}

// sort puts a history in order and tells its classes.
func (h *history) sort() {
	slices.SortFunc(h.sure, byTime)
	slices.SortFunc(h.maybe, byTime)
	type kind struct {
		cost    int64
		refused bool
	}
	classes := map[kind]int32{}
	for _, tasks := range [][]task{h.sure, h.maybe} {
		for i := range tasks {
			k := kind{tasks[i].cost, tasks[i].refused}
			if _, ok := classes[k]; !ok {
				classes[k] = int32(len(classes))
			}
			tasks[i].class = classes[k]
		}
	}
}

// classes is how many there are.
func (h *history) classes() int {
	n := int32(0)
	for _, tasks := range [][]task{h.sure, h.maybe} {
		for i := range tasks {
			n = max(n, tasks[i].class+1)
		}
	}
	return int(n)
}

// paired is a history that is possible if this one is, and much easier to
// search: among sure requests of one class, the earliest beginning is paired
// with the earliest end, the second with the second, and so on. Where moments
// x explain a class, its k-th moment is no earlier than its k-th beginning and no
// later than its k-th end, because k requests have begun by it, and k are not over
// before it; and requests of a class are alike.
func (h *history) paired() *history {
	p := &history{sure: slices.Clone(h.sure), maybe: h.maybe, start: h.start}
	ends := make([][]int64, h.classes())
	for _, t := range h.sure {
		ends[t.class] = append(ends[t.class], t.to)
	}
	for _, e := range ends {
		slices.Sort(e)
	}
	for i := range p.sure {
		t := &p.sure[i]
		t.to, ends[t.class] = ends[t.class][0], ends[t.class][1:]
	}
	slices.SortFunc(p.sure, byTime)
	return p
}

// without turns some sure requests, from lo up to hi, into ones that may have
// been decided. A refusal changes no bucket, so it goes.
func (h *history) without(lo, hi int) *history {
	p := &history{sure: slices.Delete(slices.Clone(h.sure), lo, hi), maybe: slices.Clone(h.maybe), start: h.start}
	for _, t := range h.sure[lo:hi] {
		if !t.refused {
			p.maybe = append(p.maybe, t)
		}
	}
	slices.SortFunc(p.maybe, byTime)
	return p
}

// between is a history of the decisions from begin to end, possible if this one
// is. Admissions that may lie outside may have been made or not, refusals go.
func (h *history) between(begin, end int64, start curve) *history {
	p := &history{start: start}
	for _, t := range h.sure {
		switch {
		case t.to < begin || t.from > end:
		case t.from >= begin && t.to <= end:
			p.sure = append(p.sure, t)
		case !t.refused:
			t.from, t.to = max(t.from, begin), min(t.to, end)
			p.maybe = append(p.maybe, t)
		}
	}
	for _, t := range h.maybe {
		if t.to >= begin && t.from <= end {
			t.from, t.to = max(t.from, begin), min(t.to, end)
			p.maybe = append(p.maybe, t)
		}
	}
	slices.SortFunc(p.maybe, byTime)
	return p
}
