package probes

import "github.com/ratehammer/ratehammer/results"

// counts are hits of a phase, by outcome.
type counts struct {
	planned, torn int64
	by            [results.Other + 1]int64
}

// count counts a hit. The run is told now and then, since others count as well.
func (f *fast) count(h *results.Hit) {
	c := f.counted(h.Phase)
	c.by[h.Outcome]++
	if !h.Answered() && f.run.requests.Err() != nil {
		c.torn++
	}
}

func (f *fast) counted(phase int32) *counts {
	for len(f.counts) <= int(phase) {
		f.counts = append(f.counts, counts{})
	}
	return &f.counts[phase]
}

// tally tells the run.
func (f *fast) tally() {
	r, p := f.run, f.run.progress
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range f.counts {
		c := &f.counts[i]
		sent := c.by[results.Unknown] + c.by[results.Admitted] + c.by[results.Limited] + c.by[results.Other]
		if sent == 0 && c.planned == 0 {
			continue
		}
		p.Planned.Add(c.planned)
		p.Sent.Add(sent)
		p.Unknown.Add(c.by[results.Unknown])
		p.Admitted.Add(c.by[results.Admitted])
		p.Limited.Add(c.by[results.Limited])
		p.Other.Add(c.by[results.Other])
		r.counts[i].Planned += c.planned
		r.counts[i].Sent += sent
		r.torn += c.torn
		*c = counts{}
	}
}
