package assertions

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// followed are the requests that were sent after a breach, to tell apart what it
// may come from. They are kept away from all that a finding rests on.
type followed struct {
	hits []results.Hit
	torn bool // our clock stood still meanwhile: nothing is read from them
	all  *sample
	more *sample // the run's sample and they behind it; nil: not asked for yet
}

// parted are the hits that ask whether the promise is kept, and those that were
// sent behind them.
func (j *Judge) parted(hits []results.Hit) (asked, later []results.Hit) {
	first := int32(j.opts.Asked)
	if first == 0 || !slices.ContainsFunc(hits, func(h results.Hit) bool { return h.Phase >= first }) {
		return hits, nil
	}
	for _, h := range hits {
		if h.Phase >= first {
			later = append(later, h)
		} else {
			asked = append(asked, h)
		}
	}
	return asked, later
}

func (f *followed) hear(hits []results.Hit, marks []results.Mark) {
	f.hits = append(f.hits, hits[:min(len(hits), sampleSize-len(f.hits))]...)
	for _, m := range marks {
		f.torn = f.torn || m.Tears() || m.Kind == results.MarkLost
	}
}

// whole is the sample that causes are looked for in: the run's own, and what was
// sent after the breach where the run's is not cut short.
func (j *Judge) whole() *sample {
	f := &j.followed
	if len(f.hits) == 0 || f.torn {
		return j.sample
	}
	if f.more == nil {
		f.all = &sample{scene: j.scene}
		f.more = &sample{scene: j.scene, hits: slices.Clone(j.sample.hits), full: j.sample.full, until: j.sample.until}
		for _, events := range [][]event{slices.Clone(j.scene.block(results.Block{Hits: f.hits, Low: results.Never})), j.scene.close()} {
			f.all.hear(events)
			f.more.hear(events)
		}
	}
	return f.more
}

// attempt is one key asked for more than it has when it was full.
type attempt struct {
	hits  []sampled // in the order they were sent
	mixed int       // of them, how many overlap the one before
	conns int       // connections they went over
	got   int64     // tokens admitted
	lost  int64     // tokens of requests whose answers are missing
}

// lasts is how long its requests took to leave, in ticks.
func (t *attempt) lasts() int64 { return t.hits[len(t.hits)-1].from - t.hits[0].from }

// trials are those among what was sent after the breach: the first requests of
// each key in each phase, if none had left for as long as it takes to be full.
func (j *Judge) trials(fill int64) (all []attempt) {
	if j.followed.all == nil {
		return nil
	}
	type group struct{ key, phase int32 }
	of := map[int64]*results.Hit{}
	for i := range j.followed.hits {
		of[j.followed.hits[i].Seq] = &j.followed.hits[i]
	}
	groups := map[group][]sampled{}
	var order []group
	last := map[int32]int64{}
	full := map[group]bool{}
	for _, h := range j.followed.all.hits {
		g := group{h.key, of[h.seq].Phase}
		if groups[g] == nil {
			order = append(order, g)
			before, used := last[h.key]
			full[g] = !used || h.from-before >= fill
		}
		groups[g] = append(groups[g], h)
		last[h.key] = max(last[h.key], h.to)
	}
	for _, g := range order {
		if t, ok := tried(groups[g], of); ok && full[g] {
			all = append(all, t)
		}
	}
	return all
}

// tried makes an attempt of requests on one key; ok is false where they tell nothing.
func tried(hits []sampled, of map[int64]*results.Hit) (t attempt, ok bool) {
	conns := map[int32]bool{}
	end := int64(-1 << 62)
	t = attempt{hits: hits}
	slices.SortStableFunc(hits, func(a, b sampled) int { return cmp.Compare(a.from, b.from) })
	for _, h := range hits {
		switch h.outcome {
		case results.Admitted:
			t.got += h.cost
		case results.Limited:
		default:
			t.lost += h.cost
		}
		conns[of[h.seq].Conn] = true
		if of[h.seq].Sent <= end {
			t.mixed++
		}
		end = max(end, of[h.seq].First)
	}
	t.conns = len(conns)
	return t, len(hits) > 2
}
