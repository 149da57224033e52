package limiter

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// allLimits is every algorithm in every form, with rates and windows that
// divide nothing evenly. The greatest cost of each is 3 or more.
var allLimits = []string{
	"token-bucket{burst=7,rate=100/m}",
	"token-bucket{burst=3,rate=7/11us}",
	"meter{burst=7,rate=100/m}",
	"meter{burst=3,rate=3/s}",
	"gcra{burst=7,rate=100/m}",
	"gcra{burst=3,rate=7/11us}",
	"queue{burst=5,rate=3/s}",
	"queue{burst=2,rate=7/11us}",
	"lumps{burst=10,rate=6/3s}",
	"lumps{burst=5,rate=9/7ms,align=epoch}",
	"lumps{burst=7,rate=2/999983ns,align=start}",
	"fixed-window{rate=5/10s}",
	"fixed-window{rate=3/7ms,align=start}",
	"fixed-window{rate=4/999983ns,align=first-hit}",
	"sliding-log{rate=5/10s}",
	"sliding-log{rate=7/999983ns}",
	"sliding-log{rate=4/7ms,log-refused}",
	"sliding-counter{rate=5/10s}",
	"sliding-counter{rate=7/999983ns,align=start}",
	"sliding-counter{rate=4/7ms,test=lt}",
	"nginx{rate=100/m,burst=5}",
	"nginx{rate=700/s,burst=3,delay=1}",
	"nginx{rate=30/m,burst=2,nodelay}",
	"concurrency{burst=5}",
}

// token is about the time of a token, and of the longest period of a limit.
func token(a Algorithm) (token, period int64) {
	p := a.Promise()
	if p.Rate.Per == 0 { // a limit that knows no time
		return 1000, 1000
	}
	return max(1, int64(p.Rate.Time(1))), int64(p.Rate.Per)
}

// pause draws a time that may matter to a limit: nothing, little, about a token
// or a period, or long idling.
func pause(t *rapid.T, a Algorithm) int64 {
	token, period := token(a)
	switch rapid.IntRange(0, 5).Draw(t, "size") {
	case 0:
		return 0
	case 1:
		return rapid.Int64Range(1, 1000).Draw(t, "ns")
	case 2:
		return rapid.Int64Range(token-1, token+1).Draw(t, "about a token")
	case 3:
		return rapid.Int64Range(0, 3*token).Draw(t, "up to three tokens")
	case 4:
		return rapid.Int64Range(max(0, period-token), period+token).Draw(t, "about a period")
	}
	return rapid.Int64Range(0, 100*period).Draw(t, "idle")
}

// walk asks a limit for this and that. At each step it calls look with the state
// before the decision, which look may change.
func walk(t *testing.T, limit string, look func(t *rapid.T, a Algorithm, before State, now, cost int64, d Decision, after State)) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawn(t, limit)
		start := rapid.Int64Range(0, 1e15).Draw(t, "start")
		if s, ok := a.(Starter); ok {
			a = s.Start(rapid.Int64Range(0, start).Draw(t, "server start"))
		}
		s := a.Fresh(start)
		now := start
		most := a.View(s, now).Limit
		for range rapid.IntRange(1, 50).Draw(t, "requests") {
			now += pause(t, a)
			cost := rapid.Int64Range(1, rapid.SampledFrom([]int64{1, 1, most}).Draw(t, "most")).Draw(t, "cost")
			before := s.Clone()
			d, err := a.Decide(s, now, cost)
			if err != nil {
				t.Fatal(err)
			}
			look(t, a, before, now, cost, d, s)
		}
	})
}

func drawn(t *rapid.T, limit string) Algorithm {
	m, err := parse(limit)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Who waits as told is admitted, and a nanosecond earlier is not, if nothing
// else comes.
func TestWaitIsExactEverywhere(t *testing.T) {
	for _, limit := range allLimits {
		refusals := 0
		walk(t, limit, func(t *rapid.T, a Algorithm, _ State, now, cost int64, d Decision, after State) {
			if d.Admitted != (d.Wait == 0) {
				t.Fatalf("%s: got %+v: only a refusal has a wait, and it has one", limit, d)
			}
			if d.Admitted || d.Wait == Unknown {
				return
			}
			refusals++
			early, late := after.Clone(), after.Clone()
			if e, err := a.Decide(early, now+int64(d.Wait)-1, cost); err != nil || e.Admitted {
				t.Fatalf("%s: got %+v, %v: admitted 1 ns before the wait of %v was over", limit, e, err, d.Wait)
			}
			if l, err := a.Decide(late, now+int64(d.Wait), cost); err != nil || !l.Admitted {
				t.Fatalf("%s: got %+v, %v: refused after the wait of %v", limit, l, err, d.Wait)
			}
		})
		if refusals == 0 && limit != "concurrency{burst=5}" {
			t.Errorf("%s: nothing was ever refused: the test shows nothing", limit)
		}
	}
}

// After the reset a key is as if it had never been used, and a nanosecond
// earlier it is not.
func TestResetIsExact(t *testing.T) {
	for _, limit := range allLimits {
		walk(t, limit, func(t *rapid.T, a Algorithm, _ State, now, _ int64, d Decision, after State) {
			if d.Reset == Unknown {
				if a.Forgettable(after, now) {
					t.Fatalf("%s: nobody knows when, and it is", limit)
				}
				return
			}
			then := now + int64(d.Reset)
			if !a.Forgettable(after, then) || d.Reset > 0 && a.Forgettable(after, then-1) {
				t.Fatalf("%s: got %+v of %+v: forgettable at the reset %v, 1 ns before %v", limit, d, after, a.Forgettable(after, then), a.Forgettable(after, then-1))
			}
		})
	}
}

// What may be forgotten is decided as a fresh key: the decisions from there on
// are the same, to the last unit.
func TestForgettableIsAsFresh(t *testing.T) {
	for _, limit := range allLimits {
		forgotten := 0
		walk(t, limit, func(t *rapid.T, a Algorithm, _ State, now, _ int64, d Decision, after State) {
			then := now + max(0, int64(d.Reset)) + pause(t, a)
			if !a.Forgettable(after, then) {
				return
			}
			forgotten++
			kept, fresh := after.Clone(), a.Fresh(then)
			most := d.Limit
			for range 5 {
				then += pause(t, a)
				cost := rapid.Int64Range(1, most).Draw(t, "later cost")
				got, err := a.Decide(fresh, then, cost)
				want, err2 := a.Decide(kept, then, cost)
				if got != want || err != nil || err2 != nil {
					t.Fatalf("%s: got %+v of a fresh key, %+v of one that was forgotten", limit, got, want)
				}
			}
		})
		if forgotten == 0 && limit != "concurrency{burst=5}" { // of which nothing is ever done here
			t.Errorf("%s: nothing was ever forgotten: the test shows nothing", limit)
		}
	}
}

// Levels add up, a look changes nothing and says what a decision then finds, and
// a copy lives on its own.
func TestFiguresAreConsistent(t *testing.T) {
	for _, limit := range allLimits {
		walk(t, limit, func(t *rapid.T, a Algorithm, before State, now, cost int64, d Decision, after State) {
			view := a.View(before, now)
			if view.Before != d.Before || view.After != view.Before || view.Admitted || view.Wait != 0 || view.Delay != 0 {
				t.Fatalf("%s: viewed %+v, then decided %+v", limit, view, d)
			}
			again := before.Clone()
			if second, err := a.Decide(again, now, cost); err != nil || second != d || !reflect.DeepEqual(a.View(again, now), a.View(after, now)) {
				t.Fatalf("%s: decided %+v and on a copy %+v, %v", limit, d, second, err)
			}
			spent := d.Before - d.After
			switch {
			case d.Admitted && spent != cost*d.Unit:
				t.Fatalf("%s: %+v is not less by the cost of %d", limit, d, cost)
			case d.Admitted != (d.Before >= cost*d.Unit):
				t.Fatalf("%s: %+v does not follow from the level and a cost of %d", limit, d, cost)
			case d.Remaining != max(0, d.After/d.Unit) || d.Limit != view.Limit || d.Remaining > d.Limit:
				t.Fatalf("%s: %+v tells what is not so", limit, d)
			}
			seen := a.View(after, now)
			if seen.After != d.After || seen.Reset != d.Reset {
				t.Fatalf("%s: decided %+v, then viewed %+v", limit, d, seen)
			}
		})
	}
}

// A cost that can never be admitted is an error and changes nothing.
func TestCostErrorEverywhere(t *testing.T) {
	for _, limit := range allLimits {
		a, err := parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		s := a.Fresh(5)
		most := a.View(s, 5).Limit
		before := s.Clone()
		for _, cost := range []int64{0, -1, -1 << 63, most + 1, 1<<63 - 1} {
			d, err := a.Decide(s, int64(time.Hour), cost)
			var wrong *CostError
			if !errors.As(err, &wrong) || *wrong != (CostError{cost, most}) || d != (Decision{}) || !reflect.DeepEqual(s, before) {
				t.Errorf("%s: cost %d: got %+v, %v, state %+v, want a CostError with %d at most and %+v", limit, cost, d, err, s, most, before)
			}
		}
		if d, err := a.Decide(s, int64(time.Hour), most); err != nil || !d.Admitted {
			t.Errorf("%s: cost %d: got %+v, %v, want it admitted by a fresh key", limit, most, d, err)
		}
	}
}

// A clock that goes back hands out nothing: what is admitted in all is no more
// than if it had stood still.
func TestClockBackGivesNothing(t *testing.T) {
	for _, limit := range allLimits {
		if limit[:5] == "nginx" { // goes on from there after a minute, as nginx does
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			a := drawn(t, limit)
			now := rapid.Int64Range(1e12, 1e15).Draw(t, "now")
			s := a.Fresh(now)
			_, period := token(a)
			for range 30 {
				d, err := a.Decide(s, now, 1)
				if err != nil {
					t.Fatal(err)
				}
				if !d.Admitted {
					break
				}
			}
			back := rapid.Int64Range(1, min(now, 20*period)).Draw(t, "back")
			if d, err := a.Decide(s, now-back, 1); err != nil || d.Admitted || d.Remaining < 0 {
				t.Fatalf("%s: drained, then %d ns back: got %+v, %v, want a refusal", limit, back, d, err)
			}
		})
	}
}
