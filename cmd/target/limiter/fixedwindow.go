package limiter

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// FixedWindow admits N tokens in each of consecutive windows of length W. A key
// takes 16 bytes: the start of its window and what was admitted in it.
//
// Aligned to the epoch or to the start of the server, it admits at most
// f(T) = N * (ceil(T/W) + 1) in a closed window of length T > 0, and N if T is
// 0: a time of length T that begins just before an edge touches ceil(T/W) + 1
// windows. So around an edge 2N pass at once.
//
// With FirstHit a window is opened by the first request that it admits, and
// another is opened by the first one after its end. The one that opens the
// first window touched came before all others in it: f(T) is less by 1 unless W
// divides T.
type FixedWindow struct {
	promise scenarios.Limit
	grid    Grid
}

// Window is the state of one key: 16 bytes.
type Window struct {
	Start int64 // nanoseconds: where the window begins, the latest that was seen
	Count int64 // tokens admitted in it; FirstHit: 0 means that none is open
}

// Clone is a copy.
func (k *Window) Clone() State {
	c := *k
	return &c
}

func fixedWindow() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "fixed-window",
			Settings: "rate=TOKENS/WINDOW,align=epoch|start|first-hit",
			Example:  "fixed-window{rate=10/10s,align=epoch}",
			Text:     "Counts anew in each window; up to tokens*(ceil(T/window)+1) pass in a time T, twice the limit around an edge.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			rate, align := r.Rate("rate"), readAlign(r, Epoch, Start, FirstHit)
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewFixedWindow(rate, align))
		},
	}
}

// NewFixedWindow admits rate.Count tokens in each window of rate.Per. It returns
// an error if the rate is no limit.
func NewFixedWindow(rate scenarios.Rate, align Align) (*FixedWindow, error) {
	p, grid, err := window(scenarios.FixedWindow, rate, align)
	if err != nil {
		return nil, err
	}
	return &FixedWindow{promise: p, grid: grid}, nil
}

// window is the promise of so much in a window, and where the windows are.
func window(c scenarios.Contract, rate scenarios.Rate, align Align) (scenarios.Limit, Grid, error) {
	p := scenarios.Limit{Contract: c, Rate: rate}
	if err := p.Check(); err != nil {
		return p, Grid{}, fmt.Errorf("%s: %w", c, err)
	}
	grid, err := newGrid(align, rate.Per)
	if err != nil {
		return p, grid, fmt.Errorf("%s: %w", c, err)
	}
	return p, grid, nil
}

// Promise is the tokens and the window as the rate.
func (w *FixedWindow) Promise() scenarios.Limit { return w.promise }

// Grid is where the windows are.
func (w *FixedWindow) Grid() Grid { return w.grid }

// Start is the algorithm of a server that was started at now.
func (w *FixedWindow) Start(now int64) Algorithm {
	return &FixedWindow{promise: w.promise, grid: w.grid.started(now)}
}

// Fresh has admitted nothing.
func (w *FixedWindow) Fresh(now int64) State {
	k := &Window{Start: now}
	if w.grid.Align != FirstHit {
		k.Start = w.grid.Floor(now)
	}
	return k
}

// Decide admits what there is room for in the window.
func (w *FixedWindow) Decide(s State, now, cost int64) (d Decision, err error) {
	most := w.promise.Rate.Count
	if cost < 1 || cost > most {
		return d, &CostError{Cost: cost, Most: most}
	}
	k := s.(*Window)
	w.roll(k, now)
	before := k.Count
	if d.Admitted = before <= most-cost; d.Admitted {
		k.Count += cost
	}
	w.tell(&d, before, k, now)
	if !d.Admitted {
		d.Wait = d.Reset
	}
	return d, nil
}

// View looks at the window of now.
func (w *FixedWindow) View(s State, now int64) (d Decision) {
	k := *s.(*Window)
	w.roll(&k, now)
	w.tell(&d, k.Count, &k, now)
	return d
}

// tell fills in the figures of a key that had spent so many tokens before.
func (w *FixedWindow) tell(d *Decision, before int64, k *Window, now int64) {
	most := w.promise.Rate.Count
	d.Before, d.After, d.Unit, d.Limit = most-before, most-k.Count, 1, most
	d.Remaining = d.After
	if k.Count > 0 {
		d.Reset = time.Duration(k.Start + w.grid.Period - now)
	}
}

// roll goes on to the window of now. A now in an earlier window is taken for a
// moment of the latest that was seen, and so no quota is handed out again.
func (w *FixedWindow) roll(k *Window, now int64) {
	if k.Count > 0 && w.grid.holds(k.Start, now) {
		return
	}
	if w.grid.Align == FirstHit {
		if elapsed(k.Start, now) >= uint64(w.grid.Period) {
			k.Count = 0
		}
		if k.Count == 0 { // none is open: it begins with what is admitted next
			k.Start = max(k.Start, now)
		}
		return
	}
	if start := w.grid.Floor(now); start > k.Start {
		*k = Window{Start: start}
	}
}

// Forgettable reports whether nothing was admitted in the window of now, and
// none was seen later.
func (w *FixedWindow) Forgettable(s State, now int64) bool {
	k := *s.(*Window)
	if now < k.Start {
		return false
	}
	w.roll(&k, now)
	return k.Count == 0
}
