package defect

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// rig is a server without HTTP, in virtual time.
type rig struct {
	t     *testing.T
	parts Parts
	table *store.Table[limiter.State]
	now   time.Duration
}

func parse(t *testing.T, s string) mode.Mode {
	t.Helper()
	m, err := mode.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newRig(t *testing.T, limit string, defects ...string) *rig {
	t.Helper()
	a, err := limiter.New(parse(t, limit))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r.parts = Right(a, clock.New(start, func() int64 { return int64(r.now) }))
	var modes []mode.Mode
	for _, d := range defects {
		modes = append(modes, parse(t, d))
	}
	if err := Apply(&r.parts, modes); err != nil {
		t.Fatal(err)
	}
	r.table = store.New(r.parts.Algorithm.Forgettable)
	return r
}

// ask is one request of one token.
func (r *rig) ask(key string) (d limiter.Decision) {
	r.t.Helper()
	r.table.Update(key, func(s limiter.State, known bool) (limiter.State, int64, bool) {
		now := r.parts.Now(r.parts.Clock.Read())
		if !known {
			s = r.parts.Algorithm.Fresh(now)
		}
		var err error
		if d, err = r.parts.Algorithm.Decide(s, now, 1); err != nil {
			r.t.Fatal(err)
		}
		return s, now, true
	})
	return d
}

// volley is n requests at once; it gives how many were admitted.
func (r *rig) volley(key string, n int) (admitted int) {
	r.t.Helper()
	for range n {
		if r.ask(key).Admitted {
			admitted++
		}
	}
	return admitted
}

func TestListedExamplesApply(t *testing.T) {
	for _, d := range List() {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", d.Example)
		if got := parse(t, d.Example).Name; got != d.Name || d.Text == "" {
			t.Errorf("%s: the example is of %s, the text is %q", d.Name, got, d.Text)
		}
		if p := r.parts.Algorithm.Promise(); p.Burst != 10 || p.Rate.PerSecond() != 5 {
			t.Errorf("%s: promises %v, want what the right limiter promises", d.Name, p)
		}
	}
}

func TestApplyErrors(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		says    string
	}{
		{"token-bucket{burst=10,rate=5/s}", []string{"of-by-one{delta=+1}"}, "did you mean off-by-one?"},
		{"token-bucket{burst=10,rate=5/s}", []string{"off-by-one"}, "delta: is missing"},
		{"token-bucket{burst=10,rate=5/s}", []string{"off-by-one{delta=2}"}, "none of +1, -1"},
		{"token-bucket{burst=1,rate=5/s}", []string{"off-by-one{delta=-1}"}, "burst 0"},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=floor}", "ra{form=zero}"}, "given twice"},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{from=floor}"}, "did you mean form?"},
		{"token-bucket{burst=10,rate=5/s}", []string{"starts-empty{now}"}, "no settings are taken"},
		{"token-bucket{burst=10,rate=5/s}", []string{"loses-refill-on-refusal{p=1}"}, "no settings are taken"},
		{"token-bucket{burst=10,rate=5/s}", []string{"wall-clock{step=-10s}"}, "give both or neither"},
		{"token-bucket{burst=10,rate=5/s}", []string{"wall-clock{step=0s,every=1s}"}, "other than 0"},
		{"token-bucket{burst=10,rate=5/s}", []string{"wall-clock{step=1s,every=-1s}"}, "above 0"},
	}
	for _, tt := range tests {
		a, err := limiter.New(parse(t, tt.limit))
		if err != nil {
			t.Fatal(err)
		}
		p := Right(a, clock.New(time.Time{}, nil))
		var modes []mode.Mode
		for _, d := range tt.defects {
			modes = append(modes, parse(t, d))
		}
		if err := Apply(&p, modes); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: got %v, want an error that says %q", tt.defects, err, tt.says)
		}
	}
}

// The clean twin of each table below is the row without a defect.

func TestOffByOne(t *testing.T) {
	tests := []struct {
		defects  []string
		admitted int
	}{
		{nil, 10},
		{[]string{"off-by-one{delta=+1}"}, 11},
		{[]string{"off-by-one{delta=-1}"}, 9},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		for key := range 30 {
			if got := r.volley(fmt.Sprint(key), 30); got != tt.admitted {
				t.Errorf("%v key %d: got %d of 30 admitted, want %d", tt.defects, key, got, tt.admitted)
			}
		}
		// Constant in time: after 4 s of rest the same again.
		r.now = 4 * time.Second
		if got := r.volley("0", 30); got != tt.admitted {
			t.Errorf("%v after a rest: got %d of 30 admitted, want %d", tt.defects, got, tt.admitted)
		}
	}
}

// What is told stays that of a bucket of 10: 9 after the first request, and
// never less than 0.
func TestOffByOneTells(t *testing.T) {
	for _, d := range []string{"off-by-one{delta=+1}", "off-by-one{delta=-1}"} {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", d)
		for i := range int64(9) {
			if got := r.ask("a").Remaining; got != 9-i {
				t.Errorf("%s: after %d requests: got %d remaining, want %d", d, i+1, got, 9-i)
			}
		}
	}
	r := newRig(t, "token-bucket{burst=10,rate=5/s}", "off-by-one{delta=+1}")
	r.volley("a", 11)
	if got := r.ask("a").Remaining; got != 0 {
		t.Errorf("empty: got %d remaining, want 0", got)
	}
}

// Six keys ask once a second, half of what they may: b = 2, r = 2/s. At 30 s
// the wall clock goes from 29 s to 20 s: -9 s take 18 tokens. Each key had 1
// left at 29 s, so it is at -17 and gains 2 a second: above 0 at 39 s.
func TestWallClockBack(t *testing.T) {
	tests := []struct {
		defects []string
		refused map[time.Duration]int // by second: how many of the six keys
	}{
		{nil, nil},
		{[]string{"wall-clock"}, nil},
		{[]string{"wall-clock{step=-10s,every=30s}"}, map[time.Duration]int{30: 6, 31: 6, 32: 6, 33: 6, 34: 6, 35: 6, 36: 6, 37: 6, 38: 6}},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=2,rate=2/s}", tt.defects...)
		for s := range time.Duration(60) {
			r.now = s * time.Second
			refused := 0
			for key := range 6 {
				if !r.ask(fmt.Sprint(key)).Admitted {
					refused++
				}
			}
			if refused != tt.refused[s] {
				t.Errorf("%v at %d s: got %d of 6 keys refused, want %d", tt.defects, s, refused, tt.refused[s])
			}
		}
	}
}

// A step by hand does the same, forward and back.
func TestWallClockStepped(t *testing.T) {
	tests := []struct {
		defects []string
		step    time.Duration
		want    int // of a volley of 20 after the step, on a bucket of 10 that was drained just before
	}{
		{nil, 10 * time.Second, 0},
		{nil, -10 * time.Second, 0},
		{[]string{"wall-clock"}, 10 * time.Second, 10}, // 50 tokens that no time has earned, 10 of which fit
		{[]string{"wall-clock"}, time.Second, 5},
		{[]string{"wall-clock"}, -10 * time.Second, 0},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		r.volley("a", 10)
		if err := r.parts.Clock.Step(tt.step); err != nil {
			t.Fatal(err)
		}
		if got := r.volley("a", 20); got != tt.want {
			t.Errorf("%v after %+v: got %d admitted, want %d", tt.defects, tt.step, got, tt.want)
		}
	}
	// Drained, stepped by -10 s: at -50 tokens, and the next one is 51/5 s away.
	r := newRig(t, "token-bucket{burst=10,rate=5/s}", "wall-clock")
	r.volley("a", 10)
	if err := r.parts.Clock.Step(-10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if d := r.ask("a"); d.After/d.Unit != -50 || d.Wait != 10_200*time.Millisecond || d.Remaining != 0 {
		t.Errorf("after -10 s: got %+v, want -50 tokens, a wait of 10.2 s and 0 remaining", d)
	}
}

// A key that is full when the clock goes back is hit as well: it must not have
// been forgotten, however many others were asked since.
func TestWallClockRemembersFullKeys(t *testing.T) {
	r := newRig(t, "token-bucket{burst=2,rate=2/s}", "wall-clock")
	r.ask("a")
	r.now = 5 * time.Second
	for i := range 1000 {
		r.ask(fmt.Sprint(i))
	}
	if err := r.parts.Clock.Step(-10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if r.ask("a").Admitted {
		t.Errorf("a key of 5 s ago was admitted after a step of -10 s: it had been forgotten")
	}
}

// No step takes a level out of its range, and a request that is the caller's
// mistake leaves it alone.
func TestDebitSaturates(t *testing.T) {
	r := newRig(t, "token-bucket{burst=10,rate=1000000/s}", "wall-clock")
	a := r.parts.Algorithm
	s := a.Fresh(1<<63 - 1)
	if _, err := a.Decide(s, 0, 11); !errors.As(err, new(*limiter.CostError)) || s.(*limiter.Bucket).Last != 1<<63-1 {
		t.Errorf("cost 11: got %v and %+v, want a CostError and the state as it was", err, s)
	}
	d, err := a.Decide(s, -1<<63, 1)
	if err != nil || d.Admitted || d.After != -limiter.MaxLevel || d.Wait <= 0 {
		t.Errorf("584 years back: got %+v, %v, want the lowest level and a wait", d, err)
	}
	// 3 units a nanosecond for 195 years are 2^64 + 2, of which 64 bits keep 2.
	r = newRig(t, "token-bucket{burst=1,rate=3/1024ns}", "wall-clock")
	s = r.parts.Algorithm.Fresh(6_148_914_691_236_517_206)
	if d, err := r.parts.Algorithm.Decide(s, 0, 1); err != nil || d.After != -limiter.MaxLevel {
		t.Errorf("195 years back: got %+v, %v, want the lowest level", d, err)
	}
}

func TestRetryAfterForms(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		want    int64
	}{
		// An empty bucket of 5/s: a token takes 200 ms, all ten 2 s.
		{"token-bucket{burst=10,rate=5/s}", nil, 1},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=floor}"}, 0},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=zero}"}, 0},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=window}"}, 2},
		// One of 2/5s: a token takes 2.5 s, all three 7.5 s.
		{"token-bucket{burst=3,rate=2/5s}", nil, 3},
		{"token-bucket{burst=3,rate=2/5s}", []string{"ra{form=floor}"}, 2},
		{"token-bucket{burst=3,rate=2/5s}", []string{"ra{form=zero}"}, 0},
		{"token-bucket{burst=3,rate=2/5s}", []string{"ra{form=window}"}, 8},
	}
	for _, tt := range tests {
		r := newRig(t, tt.limit, tt.defects...)
		r.volley("a", 10)
		if got := r.parts.RetryAfter(r.ask("a")); got != tt.want {
			t.Errorf("%s %v: got Retry-After %d, want %d", tt.limit, tt.defects, got, tt.want)
		}
	}
}

func TestStartsEmpty(t *testing.T) {
	tests := []struct {
		defects          []string
		fresh, after2s   int
		afterAnotherRest int
	}{
		{nil, 10, 10, 10},
		// Empty only once: a key that has filled up stays full while others come
		// and go, and is not forgotten into an empty one.
		{[]string{"starts-empty"}, 0, 10, 10},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		if got := r.volley("a", 30); got != tt.fresh {
			t.Errorf("%v: fresh key: got %d of 30, want %d", tt.defects, got, tt.fresh)
		}
		r.now = 2 * time.Second // 2 x 5 = 10 tokens
		if got := r.volley("a", 30); got != tt.after2s {
			t.Errorf("%v: after 2 s: got %d of 30, want %d", tt.defects, got, tt.after2s)
		}
		r.now = time.Minute
		for i := range 1000 {
			r.ask(fmt.Sprint(i))
		}
		if got := r.volley("a", 30); got != tt.afterAnotherRest {
			t.Errorf("%v: after another rest: got %d of 30, want %d", tt.defects, got, tt.afterAnotherRest)
		}
	}
}

// b = 1, r = 1/s, asked every 0.5 s for 10 s: right are one at 0 and then one a
// second. The wrong one has 0.5 tokens at every question, and loses them.
func TestLosesRefill(t *testing.T) {
	tests := []struct {
		defects []string
		want    int
	}{
		{nil, 11},
		{[]string{"loses-refill-on-refusal"}, 1},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=1,rate=1/s}", tt.defects...)
		admitted := 0
		for i := range time.Duration(21) {
			r.now = i * 500 * time.Millisecond
			admitted += r.volley("a", 1)
		}
		if admitted != tt.want {
			t.Errorf("%v: got %d admitted, want %d", tt.defects, admitted, tt.want)
		}
		// Who does not ask in between gets the token.
		r.now += time.Second
		if !r.ask("a").Admitted {
			t.Errorf("%v: refused after a second of rest", tt.defects)
		}
	}
}

// Several defects at once, in any order.
func TestDefectsStack(t *testing.T) {
	for _, defects := range [][]string{
		{"off-by-one{delta=+1}", "wall-clock", "starts-empty", "ra{form=window}"},
		{"ra{form=window}", "starts-empty", "wall-clock", "off-by-one{delta=+1}"},
	} {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", defects...)
		if got := r.volley("a", 30); got != 0 {
			t.Errorf("%v: fresh key: got %d, want 0", defects, got)
		}
		if err := r.parts.Clock.Step(time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := r.volley("a", 30); got != 11 {
			t.Errorf("%v: after a step of a minute: got %d, want 11", defects, got)
		}
		if got := r.parts.RetryAfter(r.ask("a")); got != 2 {
			t.Errorf("%v: got Retry-After %d, want 2", defects, got)
		}
	}
}
