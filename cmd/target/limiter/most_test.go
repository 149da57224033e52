package limiter

import (
	"fmt"
	"testing"
	"time"
)

// reach is a state that a key can be in, with the most that was admitted on the
// way.
type reach struct {
	state    State
	admitted int64
}

// reached are the states after a step of time, by what they look like.
type reached map[string]reach

func (r reached) add(s State, admitted int64) {
	name := looks(s)
	if old, ok := r[name]; !ok || admitted > old.admitted {
		r[name] = reach{s, admitted}
	}
}

// looks is what a state holds. What it points to is printed as it is, and not as
// an address.
func looks(s State) string {
	parts, several := s.(*states)
	if !several {
		return fmt.Sprintf("%+v", s)
	}
	text := ""
	for _, part := range *parts {
		text += looks(part)
	}
	return text
}

// next asks for any number of single tokens at now, from every state.
func (r reached) next(t *testing.T, a Algorithm, now int64) reached {
	t.Helper()
	after := reached{}
	for _, from := range r {
		after.add(from.state, from.admitted)
		for state, n := from.state.Clone(), from.admitted; ; {
			d, err := a.Decide(state, now, 1)
			if err != nil {
				t.Fatal(err)
			}
			if d.Admitted {
				n++
			}
			after.add(state.Clone(), n)
			if !d.Admitted {
				break
			}
		}
	}
	return after
}

func (r reached) most() (n int64) {
	for _, x := range r {
		n = max(n, x.admitted)
	}
	return n
}

// most searches all sequences of requests whose moments are whole steps. It
// gives the most that is admitted in a closed window of 0, 1, ... steps, of which
// the first begins after at most starts steps.
func most(t *testing.T, a Algorithm, step, starts, longest int64) []int64 {
	t.Helper()
	most := make([]int64, longest+1)
	states := reached{}
	states.add(a.Fresh(0), 0)
	for start := range starts {
		inside := reached{}
		for _, s := range states {
			inside.add(s.state, 0)
		}
		for length := range longest + 1 {
			inside = inside.next(t, a, (start+length)*step)
			most[length] = max(most[length], inside.most())
		}
		states = states.next(t, a, start*step)
	}
	return most
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// In any closed window of length T at most f(T) is admitted, and not less than
// f(T) where it says so: all sequences of requests of one token on a grid of
// time, on small limits. A rate of 3/4us on a grid of 1 us has refills that are
// no whole number of tokens.
func TestMostInAnyWindow(t *testing.T) {
	tests := []struct {
		limit string
		f     func(T int64) int64
		exact bool // f is reached; else it is a bound
	}{
		{"token-bucket{burst=3,rate=1/4us}", func(T int64) int64 { return 3 + T/4 }, true},
		{"token-bucket{burst=2,rate=3/4us}", func(T int64) int64 { return 2 + 3*T/4 }, true},
		{"gcra{burst=3,rate=1/4us}", func(T int64) int64 { return 3 + T/4 }, true},
		{"gcra{burst=2,rate=3/4us}", func(T int64) int64 { return 2 + 3*T/4 }, true},
		{"meter{burst=3,rate=1/4us}", func(T int64) int64 { return 3 + T/4 }, true},
		{"queue{burst=2,rate=1/4us}", func(T int64) int64 { return 3 + T/4 }, true},
		{"queue{burst=1,rate=2/3us}", func(T int64) int64 { return 2 + 2*T/3 }, true},
		// b = 3, k = 2, P = 4; then k above b: only b fit.
		{"lumps{burst=3,rate=2/4us,align=epoch}", func(T int64) int64 { return 3 + 2*ceil(T, 4) }, true},
		{"lumps{burst=3,rate=1/3us,align=start}", func(T int64) int64 { return 3 + ceil(T, 3) }, true},
		{"lumps{burst=2,rate=5/4us,align=epoch}", func(T int64) int64 { return 2 + 2*ceil(T, 4) }, true},
		{"lumps{burst=3,rate=2/4us}", func(T int64) int64 { return 3 + 2*ceil(T, 4) - oneUnless(T%4 == 0) }, true},
		{"lumps{burst=2,rate=5/4us}", func(T int64) int64 { return 2 + 2*ceil(T, 4) - oneUnless(T%4 == 0) }, true},
		{"fixed-window{rate=3/4us}", func(T int64) int64 { return 3 * (ceil(T, 4) + 1) }, true},
		{"fixed-window{rate=1/3us,align=start}", func(T int64) int64 { return ceil(T, 3) + 1 }, true},
		{"fixed-window{rate=3/4us,align=first-hit}", func(T int64) int64 { return 3*(ceil(T, 4)+1) - oneUnless(T%4 == 0) }, true},
		{"fixed-window{rate=1/4us,align=first-hit}", func(T int64) int64 { return ceil(T, 4) + 1 - oneUnless(T%4 == 0) }, true},
		{"sliding-log{rate=3/4us}", func(T int64) int64 { return 3 * (T/4 + 1) }, true},
		{"sliding-log{rate=1/3us}", func(T int64) int64 { return T/3 + 1 }, true},
		{"sliding-log{rate=2/3us,log-refused}", func(T int64) int64 { return 2 * (T/3 + 1) }, true},
		{"sliding-counter{rate=3/4us}", func(T int64) int64 { return 3 + 3*T/4 }, false},
		{"sliding-counter{rate=2/5us,align=start}", func(T int64) int64 { return 2 + 2*T/5 }, false},
		{"sliding-counter{rate=3/4us,test=lt}", func(T int64) int64 { return 4 + 3*T/4 }, false},
		{"sliding-counter{rate=2/5us,test=lt}", func(T int64) int64 { return 3 + 2*T/5 }, false},
	}
	for _, tt := range tests {
		got := most(t, build(t, tt.limit), 1000, 10, 13)
		for T, n := range got {
			want := tt.f(int64(T))
			if n > want || tt.exact && n < want {
				t.Errorf("%s: got %d in a window of %d us, want %d (exactly: %v)", tt.limit, n, T, want, tt.exact)
			}
		}
		t.Logf("%s: %v", tt.limit, got)
	}
}

func oneUnless(is bool) int64 {
	if is {
		return 0
	}
	return 1
}

// Where requests can come at any time the counter's bound is reached: in a window
// of 19/20 W it is floor(N + N*19/20) = 2N - 1 for N below 20.
func TestMostOfSlidingCounter(t *testing.T) {
	for n := int64(3); n <= 5; n++ {
		c := build(t, fmt.Sprintf("sliding-counter{rate=%d/20us}", n))
		if got := most(t, c, 1000, 41, 19)[19]; got != 2*n-1 {
			t.Errorf("N = %d: got %d, want %d", n, got, 2*n-1)
		}
	}
}

// nginx's clock has milliseconds: requests come here four times in each. A
// window of T may meet a refill more than T holds, r*1ms, and no more than that.
func TestMostOfNginx(t *testing.T) {
	const step = int64(time.Millisecond) / 4
	for _, tt := range []struct {
		limit      string
		burst      int64
		perSecond  int64 // requests; a step is 1/4000 s
		everyWhole bool  // a request is refilled in whole milliseconds: the bound is reached
	}{
		{"nginx{rate=250/s}", 0, 250, true},
		{"nginx{rate=500/s,burst=2,nodelay}", 2, 500, true},
		{"nginx{rate=300/s,burst=2}", 2, 300, false},
		{"nginx{rate=700/s,burst=1,delay=1}", 1, 700, false},
		{"nginx{rate=20000/m,burst=1}", 1, 334, false}, // 333.333/s, kept as 333333 thousandths
	} {
		got := most(t, build(t, tt.limit), step, 24, 28)
		for T, n := range got {
			// burst + 1 + r*(T + 1 ms)
			bound := tt.burst + 1 + tt.perSecond*(int64(T)+4)/4000
			if n > bound {
				t.Errorf("%s: got %d in a window of %d/4 ms, want at most %d", tt.limit, n, T, bound)
			}
			// Where T is a whole number of milliseconds, the bucket's own bound is reached.
			if least := tt.burst + 1 + tt.perSecond*int64(T)/4000; tt.everyWhole && T%4 == 0 && n < least {
				t.Errorf("%s: got %d in a window of %d/4 ms, want at least %d", tt.limit, n, T, least)
			}
		}
	}
}

// At no moment are more than burst under way, whatever comes and goes: all
// sequences of eight steps, each of which asks for 1 or 2 tokens or is the end
// of one of the requests under way.
func TestConcurrencyIsNeverExceeded(t *testing.T) {
	c := build(t, "concurrency{burst=3}").(*Concurrency)
	var search func(s State, under []int64, steps int)
	search = func(s State, under []int64, steps int) {
		sum := int64(0)
		for _, cost := range under {
			sum += cost
		}
		if sum > 3 || s.(*Busy).Tokens != sum {
			t.Fatalf("%v under way, of which the limiter knows %d", under, s.(*Busy).Tokens)
		}
		if steps == 0 {
			return
		}
		for cost := int64(1); cost <= 2; cost++ {
			next := s.Clone()
			d, err := c.Decide(next, 0, cost)
			if err != nil || d.Admitted != (sum+cost <= 3) {
				t.Fatalf("%d more than %v: got %+v, %v", cost, under, d, err)
			}
			if d.Admitted {
				search(next, append(append([]int64(nil), under...), cost), steps-1)
			}
		}
		for i := range under {
			next := s.Clone()
			c.Release(next, 0, under[i])
			rest := append([]int64(nil), under[:i]...)
			search(next, append(rest, under[i+1:]...), steps-1)
		}
	}
	search(c.Fresh(0), nil, 8)
}
