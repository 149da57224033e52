package page

import "github.com/ratehammer/ratehammer/results"

// keeper says which requests are kept one by one: all of a short record, and of a
// long one those in and around the windows of the first findings.
type keeper struct {
	all     bool
	left    int
	windows []*around
}

// around is a finding's window with how many more requests are kept of it.
type around struct {
	finding
	margin                 int64 // nanoseconds on either side
	before, inside, behind int
	named                  map[int64]bool
}

func newKeeper(d *data) keeper {
	k := keeper{all: d.Exact, left: mostExact}
	for i, f := range d.Findings {
		if i == mostShown {
			break
		}
		a := &around{finding: f, margin: max(f.To-f.From, 200_000_000), before: mostAround, inside: mostInside, behind: mostAround, named: map[int64]bool{}}
		for _, seq := range f.Seqs {
			a.named[seq] = true
		}
		k.windows = append(k.windows, a)
	}
	return k
}

func (k *keeper) wants(h *results.Hit) bool {
	if k.all {
		return true
	}
	if k.left == 0 {
		return false
	}
	for _, a := range k.windows {
		if a.wants(h) {
			k.left--
			return true
		}
	}
	return false
}

func (a *around) wants(h *results.Hit) bool {
	if a.named[h.Seq] {
		return true
	}
	if a.To == 0 || a.Key != "" && a.Key != h.Key {
		return false
	}
	switch {
	case h.Sent >= a.From && h.Sent <= a.To:
		return take(&a.inside)
	case h.Sent < a.From && h.Sent >= a.From-a.margin:
		return take(&a.before)
	case h.Sent > a.To && h.Sent <= a.To+a.margin:
		return take(&a.behind)
	}
	return false
}

func take(left *int) bool {
	if *left == 0 {
		return false
	}
	*left--
	return true
}
