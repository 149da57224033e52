package scenarios

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// window is N in each window of W from a moment on, as a limiter has it.
type window struct {
	n           int
	length      int64
	offset      int64
	began, used int64
}

func (w *window) admits(at int64) bool {
	if began := (at + w.offset) / w.length; began != w.began {
		w.began, w.used = began, 0
	}
	if w.used >= int64(w.n) {
		return false
	}
	w.used++
	return true
}

// play drives an attack: a request takes a while each way, and answer says what
// becomes of it. It gives the salvos that left.
func play(t *testing.T, a Attack, way int64, answer func(at int64) (admitted, limited bool)) (left []Salvo) {
	t.Helper()
	at := a.Begin()
	var heard []Answer // in the order they come back
	for steps := 0; ; steps++ {
		s, ok := at.Next()
		if !ok {
			return left
		}
		if steps > 100_000 {
			t.Fatalf("%v does not end", a)
		}
		if len(heard) > 0 && heard[0].First <= s.At {
			at.Heard(heard[0])
			heard = heard[1:]
			continue
		}
		s = at.Take()
		for i := range s.Size {
			admitted, limited := answer(s.Due(i) + way)
			heard = append(heard, Answer{Salvo: s.Number, Sent: s.Due(i), First: s.Due(i) + 2*way, Admitted: admitted, Limited: limited})
		}
		if s.Size > 0 {
			left = append(left, s)
		}
	}
}

// The last two volleys of a round lie on the two sides of an edge, close to it.
func TestAttackStrikesAtTheEdge(t *testing.T) {
	const ms = int64(time.Millisecond)
	tests := []struct {
		name   string
		turn   int
		offset int64 // how long ago the window began when the attack does
		last   int64 // edges that pass until the strike
	}{
		// Windows of 2 s. The first edge is found, and the next one struck at.
		{"quick, 500 ms before an edge", 0, 1500 * ms, 2},
		{"quick, just behind an edge", 0, 0, 2},
		// Drained at the first edge, opened at the second, struck at the third.
		{"thorough, 500 ms before an edge", 1, 1500 * ms, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := Attack{Tactic: TacticBoundary, Rounds: 1, Turn: tt.turn, Size: 4, Token: 500 * time.Millisecond}
			w := window{n: 4, length: 2000 * ms, offset: tt.offset}
			admitted := 0
			left := play(t, a, ms, func(at int64) (bool, bool) {
				ok := w.admits(at)
				if ok {
					admitted++
				}
				return ok, !ok
			})
			edge := tt.last*w.length - tt.offset
			before, after := left[len(left)-2], left[len(left)-1]
			if before.Size != a.volley() || after.Size != a.volley() {
				t.Fatalf("the last two were %v and %v, want volleys of %d", before, after, a.volley())
			}
			if lead := edge - before.At - ms; lead < 0 || lead > 50*ms {
				t.Errorf("the volley before the edge came %v before it", time.Duration(lead))
			}
			if behind := after.At + ms - edge; behind < 0 || behind > 50*ms {
				t.Errorf("the volley behind the edge came %v behind it", time.Duration(behind))
			}
		})
	}
}

// Refills of two a second are struck at where one comes, and a bucket, which has
// no edges, is left alone as soon as that is known.
func TestThoroughWayTellsLumpsFromABucket(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, lump := range []int64{1, 2} {
		// Four at most. A lump comes every 500 ms or every second, 300 ms after
		// the attack has begun for the first time.
		period, level, added := lump*500*ms, int64(4), int64(0)
		a := Attack{Tactic: TacticBoundary, Rounds: 1, Turn: 1, Size: 4, Token: 500 * time.Millisecond}
		left := play(t, a, ms, func(at int64) (bool, bool) {
			for ; at >= 300*ms+added*period; added++ {
				level = min(level+lump, 4)
			}
			level--
			if level < 0 {
				level = 0
				return false, true
			}
			return true, false
		})
		last := left[len(left)-1]
		if lump == 1 {
			// The edge at 300 ms is found and the key drained again; that gives nothing.
			if last.Size != a.drain() || last.At > 400*ms {
				t.Errorf("a bucket: the last salvo was %+v, want a drain", last)
			}
			continue
		}
		// An edge at 0.3 s, a full key at 2.3 s, the strike at 3.3 s.
		if behind := last.At + ms - 3300*ms; last.Size != a.volley() || behind < 0 || behind > 50*ms {
			t.Errorf("lumps: the last salvo was %+v, want a volley at 3.3s", last)
		}
	}
}

func TestPilotStrikesAtTheEndOfItsWindow(t *testing.T) {
	const ms = int64(time.Millisecond)
	a := Attack{At: 300 * ms, Tactic: TacticPilot, Rounds: 2, Size: 4, Token: 500 * time.Millisecond}
	left := play(t, a, ms, func(int64) (bool, bool) { return true, false })
	// The window opens when the pilot is there, at 301 ms, and lasts 2 s.
	if before, after := left[1].At+ms, left[2].At+ms; before > 2301*ms || before < 2250*ms || after < 2301*ms || after > 2320*ms {
		t.Errorf("got volleys there at %v and %v, want them around 2.301s", time.Duration(before), time.Duration(after))
	}
	if len(left) != 6 || left[0].Size != 1 || left[3].Size != 1 {
		t.Errorf("got %v, want two times a pilot and two volleys", left)
	}
	// The key must have had two seconds to fill before the next pilot.
	if left[3].At-left[2].At < 2000*ms {
		t.Errorf("the second pilot left %v after the volley", time.Duration(left[3].At-left[2].At))
	}
}

// Whatever is answered, an attack ends, sends no more than was planned, and
// nothing after its time.
func TestAttackKeepsToItsBounds(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		a := Attack{At: rng.Int64N(1e9), Tactic: TacticBoundary + Tactic(rng.IntN(2)), Rounds: 1 + rng.IntN(4), Turn: rng.IntN(3),
			Size: 1 + rng.Int64N(400), Token: time.Duration(1 + rng.Int64N(int64(time.Second)>>rng.IntN(30)))}
		limited, lost := rng.Float64(), rng.Float64()*rng.Float64()
		sent, last := 0, a.At
		for _, s := range play(t, a, rng.Int64N(1+int64(3*time.Second)>>rng.IntN(24)), func(int64) (bool, bool) {
			l := rng.Float64() < limited
			known := rng.Float64() >= lost
			return known && !l, known && l
		}) {
			sent += s.Size
			if s.At < last {
				t.Fatalf("seed %d: salvo %d was due at %d, the one before it at %d", seed, s.Number, s.At, last)
			}
			last = s.At
		}
		if sent > a.Most() || last > a.At+int64(a.Longest()) {
			t.Fatalf("seed %d: %d requests, the last after %v: %v", seed, sent, time.Duration(last-a.At), a)
		}
	}
}

// The last poll that an attack sends may find the edge, and then it sends as much
// as was planned, to the request.
func TestAttackSendsItsMost(t *testing.T) {
	a := Attack{Tactic: TacticBoundary, Rounds: 1, Size: 20, Token: 100 * time.Millisecond}
	n := 0
	sum := func(admit int) (sent int) {
		n = 0
		for _, s := range play(t, a, 1000, func(int64) (bool, bool) { n++; return n == admit, n != admit }) {
			sent += s.Size
		}
		return sent
	}
	// A drain of 23, 110 polls, two volleys of 28.
	if got := sum(23 + 110); got != a.Most() || got != 23+110+2*28 {
		t.Errorf("got %d requests, want %d", got, a.Most())
	}
	if got := sum(23 + 111); got != 23+110 {
		t.Errorf("with no edge in time: got %d requests, want %d", got, 23+110)
	}
}

// The plan says what an attack may come to, and counts it.
func TestPlanShowsAttacks(t *testing.T) {
	s := Scenario{Limits: []Limit{{Burst: 20, Rate: Rate{10, time.Second}}}, Phases: []Phase{
		{Name: "one", Volley: 3, Keys: Keys{Fresh: 1}},
		{Name: "edge", Rest: time.Second, Attack: TacticBoundary, Rounds: 1, Keys: Keys{Fresh: 2}}}}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	// A volley is 20 + 20/4 + 3 = 28, polls are 110 at most, a drain is 20 + 3.
	// Quick: 23 + 110 + 2*28 = 189. Thorough: one drain and a pilot more, 213.
	// The window is 2 s. Quick: 2*2 + 0.2 + 1 s. Thorough: 3*2 + 0.2 + 1 s.
	for _, want := range []string{
		"# from 1.000000000, edge on edge/1: boundary attack, rounds 1, up to 189 requests within 5.2s as answers direct\n",
		"# from 1.000000000, edge on edge/2: boundary attack, rounds 1, up to 213 requests within 7.2s as answers direct\n",
	} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("got\n%s\nwant it to hold %q", p, want)
		}
	}
	if got, want := p.Most(), 3+189+213; got != want {
		t.Errorf("got %d requests at most, want %d", got, want)
	}
	if want := 8200 * time.Millisecond; p.Length != want {
		t.Errorf("got %v, want %v", p.Length, want)
	}
}
