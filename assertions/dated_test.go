package assertions

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// halfSecond is a tick so long that all moments of a history can be tried.
const halfSecond = 500 * time.Millisecond

// epochs are small limiters whose windows begin at multiples of their length
// since 1970, by a wall clock that is so many ticks ahead of ours.
type epochs struct {
	rng           *rand.Rand
	window, limit int64 // ticks, cost
	ahead         int64 // ticks: of the clock that counts
	dates         int64 // ticks: of the one that Date is from
}

func newEpochs(rng *rand.Rand) *epochs {
	e := &epochs{rng: rng, window: int64(14 + rng.IntN(10)), limit: int64(1 + rng.IntN(3)), ahead: 1000 + rng.Int64N(1000)}
	e.dates = e.ahead + rng.Int64N(5) - 2 // a second is granted
	return e
}

// fire is a history of n requests, about every so many ticks.
func (e *epochs) fire(n int, every int64) []brief {
	h, at := make([]brief, n), make([]int64, n)
	t := int64(0)
	for i := range h {
		t += e.rng.Int64N(2*every + 1)
		h[i] = brief{from: t, to: t + e.rng.Int64N(3), cost: 1, seq: int64(i + 1)}
		at[i] = h[i].from + e.rng.Int64N(h[i].to-h[i].from+1)
		made := h[i].from - 2 + e.rng.Int64N(h[i].to-h[i].from+3) // up to a second before
		h[i].date = floorDiv(made+e.dates, 2)
	}
	used := map[int64]int64{}
	for _, i := range sortedBy(at) {
		h[i].outcome = results.Limited
		if w := floorDiv(at[i]+e.ahead, e.window); used[w] < e.limit {
			used[w]++
			h[i].outcome = results.Admitted
		}
	}
	return h
}

// accused reports whether a history is held against windows since 1970.
func (e *epochs) accused(h []brief) bool {
	l := scenarios.Limit{Contract: scenarios.FixedWindow, Align: scenarios.AlignEpoch, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "K"},
		Rate: scenarios.Rate{Count: e.limit, Per: time.Duration(e.window) * halfSecond}}
	c := newCourt(&scene{sweep: newSweep(halfSecond, 0, 0, 0), fresh: true}, []scenarios.Limit{l})
	for _, m := range play(h) {
		switch b := h[m.i]; m.rank {
		case 0, 1:
			c.start(0, &b)
		case 2:
			c.refused(0, &b)
		default:
			c.spent(0, &b)
		}
	}
	return c.refuted(0)
}

// possible asks whether some clock that counts, and one of Date within a second of
// it, give a history.
func (e *epochs) possible(h []brief) bool {
	for ahead := 2*h[0].date - h[0].to - 2; ahead <= 2*h[0].date+1-h[0].from+4; ahead++ {
		dated := false
		for dates := ahead - 2; dates <= ahead+2 && !dated; dates++ {
			dated = !slices.ContainsFunc(h, func(b brief) bool { return !mayDate(b, dates) })
		}
		if dated && bruteGrid(h, e.window, e.limit, mod(-ahead, e.window)) {
			return true
		}
	}
	return false
}

func mayDate(b brief, ahead int64) bool {
	for made := b.from - 2; made <= b.to; made++ {
		if floorDiv(made+ahead, 2) == b.date {
			return true
		}
	}
	return false
}

// What any clocks explain is not accused, and most else is.
func TestEpochIsNeverHeldAgainstAPossibleHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	accused, impossible := 0, 0
	for n := range histories {
		e := newEpochs(rng)
		h := e.fire(2+rng.IntN(5), 5)
		if rng.IntN(2) == 0 { // by a limiter that is elsewhere, or wrong
			for i := range h {
				if rng.IntN(3) == 0 {
					h[i].outcome = results.Outcome(rng.IntN(3))
				}
			}
		}
		is, may := e.accused(h), e.possible(h)
		if is && may {
			t.Fatalf("history %d %+v, %d in %d: accused, and it is possible", n, h, e.limit, e.window)
		}
		if is {
			accused++
		}
		if !may {
			impossible++
		}
	}
	t.Logf("%d of %d impossible histories were accused", accused, impossible)
	if accused < impossible/2 {
		t.Errorf("only %d of %d impossible histories were accused", accused, impossible)
	}
}

// Under load a grid that is half a window elsewhere is accused, and the right one
// is not.
func TestWindowsElsewhereAreAccused(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 1))
	accused, elsewhere := 0, 0
	for n := range histories {
		e := newEpochs(rng)
		e.window += 6
		if h := e.fire(60, 1); e.accused(h) {
			t.Fatalf("history %d %+v: the right one is accused", n, h)
		}
		if n%10 > 0 {
			continue
		}
		elsewhere++
		e.dates = e.ahead
		e.ahead += e.window/2 + rng.Int64N(3) - 1
		if h := e.fire(60, 1); e.accused(h) {
			accused++
		}
	}
	t.Logf("half a window elsewhere: %d of %d accused", accused, elsewhere)
	if accused*100 < elsewhere*95 {
		t.Errorf("half a window elsewhere: %d of %d accused", accused, elsewhere)
	}
}

// The clocks do not compare across a tear, and what an admitted answer says alone
// may be old.
func TestDatesAreTakenTogether(t *testing.T) {
	const at = 1_767_225_612
	answer := func(from, date int64, o results.Outcome) *brief {
		return &brief{from: from * second, to: from * second, date: at + date, outcome: o}
	}
	tests := []struct {
		name       string
		hear       func(*dated)
		ok, contra bool
	}{
		{"nothing", func(*dated) {}, false, false},
		{"a refusal", func(d *dated) { d.hear(answer(1, 1, results.Limited)) }, true, false},
		{"an admission", func(d *dated) { d.hear(answer(1, 1, results.Admitted)) }, false, false},
		{"both", func(d *dated) { d.hear(answer(1, 1, results.Admitted)); d.hear(answer(2, 2, results.Limited)) }, true, false},
		{"an old admission", func(d *dated) { d.hear(answer(9, 1, results.Admitted)); d.hear(answer(9, 9, results.Limited)) }, false, true},
		{"something else", func(d *dated) { d.hear(answer(9, 1, results.Other)); d.hear(answer(9, 9, results.Limited)) }, true, false},
		{"across a tear", func(d *dated) {
			d.hear(answer(1, 1, results.Limited))
			d.forget(5 * second)
			d.hear(answer(4, 4, results.Limited))
			d.hear(answer(6, 16, results.Limited))
		}, true, false},
		{"until a tear", func(d *dated) { d.hear(answer(1, 1, results.Limited)); d.forget(5 * second) }, false, false},
	}
	for _, tt := range tests {
		d := newDated(1, 0)
		tt.hear(d)
		if s, ok := d.begins(time.Minute); ok != tt.ok || d.contradict != tt.contra || ok && s.hi-s.lo > 4*second {
			t.Errorf("%s: got %v %v, contradictory %v, want %v and %v", tt.name, s, ok, d.contradict, tt.ok, tt.contra)
		}
		if _, ok := d.begins(4 * time.Second); ok {
			t.Errorf("%s: a period of 4 s begins somewhere", tt.name)
		}
	}
}

// dating is a server that dates its answers by a clock.
type dating struct {
	virtual.Server
	date func(at int64) string
}

func (d dating) Answer(r virtual.Request) virtual.Answer {
	a := d.Server.Answer(r)
	a.Date = d.date(r.At)
	return a
}

// The standard scenario finds out where periods begin if answers are dated.
func TestDateSaysWherePeriodsBegin(t *testing.T) {
	const began = int64(1_767_225_612_345_678_901) // nanoseconds since 1970
	text := func(ns int64) string { return time.Unix(0, ns).UTC().Format(http.TimeFormat) }
	dates := map[string]func(int64) string{
		"none":  func(int64) string { return "" },
		"exact": func(at int64) string { return text(began + at) },
		"ahead": func(at int64) string { return text(began + at + int64(900*time.Millisecond)) },
		"kept":  func(at int64) string { return text(began + at - at%int64(980*time.Millisecond)) },
		"stepped": func(at int64) string {
			if at > int64(3*time.Second) {
				at += int64(5 * time.Second)
			}
			return text(began + at)
		},
		"cached": func(at int64) string { return text(began - int64(7*time.Second)) },
	}
	for _, mode := range []string{"fixed-window{rate=20/20s,align=epoch}", "lumps{burst=20,rate=10/20s,align=epoch}", "sliding-counter{rate=20/20s}"} {
		for name, date := range dates {
			for _, off := range []time.Duration{0, 9 * time.Second} {
				l := declared(algorithm(t, mode).Promise())
				l.Align = scenarios.AlignEpoch
				limited := &virtual.Limited{Algorithm: algorithm(t, mode), Now: func(at int64) int64 { return began + at + at/10_000*3 + int64(off) }}
				j, _ := triedOf(t, dating{limited, date}, l, virtual.LAN(), 1)
				j.hear(j.scene.close())
				var window results.Finding
				for _, f := range j.tell(0, j.assertions[0]) {
					if f.Check == CheckWindow {
						window = f
					} else if f.Status == results.Broken {
						t.Errorf("%s, dates %s, %v off: %s: %s", mode, name, off, f.Check, f.Text)
					}
				}
				t.Logf("%s, dates %s, %v off: %v: %s", mode, name, off, window.Status, window.Text)
				pinned := name == "exact" || name == "ahead" || name == "kept"
				want := results.Kept
				if pinned && off > 0 {
					want = results.Broken
				}
				if window.Status != want {
					t.Errorf("%s, dates %s, %v off: got %v, want %v: %s; %s", mode, name, off, window.Status, want, window.Text, window.Proof)
				}
				if strings.Contains(window.Text, "as Date shows it") != pinned || strings.Contains(window.Text, "contradict") != (name == "stepped" || name == "cached") {
					t.Errorf("%s, dates %s: the finding does not say what Date is worth: %s", mode, name, window.Text)
				}
			}
		}
	}
}
