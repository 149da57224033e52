package limiter

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// 5/s and 20 in 30 s together: 100 at once, then one each 2 s up to 28 s. Of the
// 100 five pass; the other 95 spend nothing of the slower limit, so the 14 later
// ones pass too: 19. A limiter that charges it before it looks at the other
// would have nothing left.
func TestSeveralSpendNothingOnRefusal(t *testing.T) {
	a := Several([]Algorithm{build(t, "sliding-log{rate=20/30s}"), build(t, "token-bucket{burst=5,rate=5/s}")})
	s := a.Fresh(0)
	admitted := tally(t, a, s, 0, 100)
	for at := 2 * time.Second; at <= 28*time.Second; at += 2 * time.Second {
		admitted += tally(t, a, s, at, 1)
	}
	if admitted != 19 {
		t.Errorf("got %d in 30 s, want 19", admitted)
	}
}

// In any time the least of what the limits allow passes: exhaustively.
func TestMostOfSeveral(t *testing.T) {
	a := Several([]Algorithm{build(t, "token-bucket{burst=2,rate=1/2us}"), build(t, "sliding-log{rate=3/6us}")})
	got := most(t, a, 1000, 8, 13)
	for T, n := range got {
		if want := min(2+int64(T)/2, 3*(int64(T)/6+1)); n > want {
			t.Errorf("got %d in a window of %d us, want at most %d", n, T, want)
		}
	}
}

// The answer is that of the limit that binds; the wait is the longest.
func TestCombine(t *testing.T) {
	yes := Decision{Admitted: true, Before: 5, After: 4, Unit: 1, Remaining: 4, Limit: 9, Reset: 3}
	fewer := Decision{Admitted: true, Before: 20, After: 10, Unit: 10, Remaining: 1, Limit: 2, Reset: 2, Delay: 7}
	no := Decision{Unit: 1, Limit: 3, Wait: 5, Reset: 6}
	longer := Decision{Unit: 1, Limit: 1, Wait: 8, Reset: 1, Remaining: 1}
	busy := Decision{Unit: 1, Limit: 4, Wait: Unknown, Reset: Unknown}
	tests := []struct {
		name string
		in   []Decision
		want Decision
	}{
		{"one", []Decision{yes}, yes},
		{"the fewest left", []Decision{yes, fewer}, Decision{Admitted: true, Before: 20, After: 10, Unit: 10, Remaining: 1, Limit: 2, Reset: 3, Delay: 7}},
		{"one refuses", []Decision{fewer, no}, Decision{Unit: 1, Limit: 3, Wait: 5, Reset: 6}},
		{"two refuse", []Decision{no, longer, yes}, Decision{Unit: 1, Limit: 1, Wait: 8, Reset: 6, Remaining: 1}},
		{"an unknown wait is the longest", []Decision{no, busy, longer}, busy},
	}
	for _, tt := range tests {
		if got := Combine(tt.in); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// What would have admitted is put back to the last bit and says so; what
// refuses keeps what it has learned; an error changes nothing.
func TestDecideAll(t *testing.T) {
	b, w, c := build(t, "token-bucket{burst=3,rate=1/s}"), build(t, "fixed-window{rate=2/m}"), build(t, "concurrency{burst=1}")
	states := func() []State { return []State{b.Fresh(0), w.Fresh(0), c.Fresh(0)} }
	ask := func(s []State, cost int64) ([]Part, int, error) {
		parts := []Part{{Algorithm: b, State: s[0], Cost: cost}, {Algorithm: w, State: s[1], Cost: 1}, {Algorithm: c, State: s[2], Cost: 1}}
		refused, err := DecideAll(parts)
		for i := range parts {
			s[i] = parts[i].State
		}
		return parts, refused, err
	}
	s := states()
	if parts, refused, err := ask(s, 1); err != nil || refused != -1 || parts[0].Decision.Remaining != 2 || parts[1].Decision.Remaining != 1 {
		t.Errorf("got %+v, %d, %v, want all to admit", parts, refused, err)
	}
	before := []State{s[0].Clone(), s[1].Clone(), s[2].Clone()}
	parts, refused, err := ask(s, 1)
	if err != nil || refused != 2 || !parts[0].Decision.Admitted || parts[0].Decision.Remaining != 2 || parts[2].Decision.Wait != Unknown {
		t.Errorf("got %+v, %d, %v, want the third to refuse and the bucket to have 2 still", parts, refused, err)
	}
	if !reflect.DeepEqual(s, before) {
		t.Errorf("after a refusal: got %+v, want %+v", s, before)
	}
	if _, _, err := ask(s, 4); !errors.As(err, new(*CostError)) || !reflect.DeepEqual(s, before) {
		t.Errorf("a cost of 4: got %v and %+v, want a CostError and %+v", err, s, before)
	}
	// The error of a later one takes back what an earlier one spent.
	_, err = DecideAll([]Part{{Algorithm: b, State: s[0], Cost: 1}, {Algorithm: w, State: s[1], Cost: 3}})
	if !errors.As(err, new(*CostError)) {
		t.Errorf("got %v, want a CostError", err)
	}
	// Every limit that refuses tells its wait, and the first is named.
	s[2], s[0] = c.Fresh(0), &Bucket{}
	s[1] = &Window{Count: 2}
	parts, refused, _ = ask(s, 1)
	if refused != 0 || parts[0].Decision.Wait != time.Second || parts[1].Decision.Wait != time.Minute || parts[2].Decision.Wait != 0 {
		t.Errorf("got %d and %+v, want the first two to refuse with 1 s and 1 m", refused, parts)
	}
}

// A state of several parts is copied and forgotten as a whole, and a release
// goes to the part that wants it.
func TestSeveralState(t *testing.T) {
	a := Several([]Algorithm{build(t, "fixed-window{rate=5/10s,align=start}"), build(t, "concurrency{burst=2}")})
	a = a.(Starter).Start(int64(3 * time.Second))
	s := a.Fresh(0)
	if got := tally(t, a, s, 4*time.Second, 3); got != 2 {
		t.Errorf("got %d of 3, want 2", got)
	}
	c := s.Clone()
	a.(Releaser).Release(c, 0, 1)
	if got := tally(t, a, s, 4*time.Second, 1); got != 0 {
		t.Errorf("a release on a copy was one on the original")
	}
	if got := tally(t, a, c, 4*time.Second, 2); got != 1 {
		t.Errorf("after a release: got %d of 2, want 1", got)
	}
	a.(Releaser).Release(s, 0, 2)
	if a.Forgettable(s, int64(13*time.Second-1)) || !a.Forgettable(s, int64(13*time.Second)) {
		t.Errorf("want it forgettable from 13 s on, where the window ends that began with the server")
	}
	if d := a.View(c, int64(4*time.Second)); d.Remaining != 0 || d.Reset != Unknown {
		t.Errorf("got %+v, want the figures of the concurrency limit", d)
	}
	if got := a.Promise(); got.Rate.Count != 5 {
		t.Errorf("got %v, want the promise of the first", got)
	}
}
