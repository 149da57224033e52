package limiter

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

const ms = int64(time.Millisecond)

func bucket(t testing.TB, burst int64, rate string) *TokenBucket {
	t.Helper()
	r, err := scenarios.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewTokenBucket(burst, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask is one request of a table: what is asked when, and what must come out.
type ask struct {
	at       int64 // ms
	cost     int64
	admitted bool
	leftMs   int64 // level afterwards, in thousandths of a token
	waitMs   int64
}

func TestTokenBucketSteps(t *testing.T) {
	tests := []struct {
		name  string
		burst int64
		rate  string
		asks  []ask
	}{
		{"three at once, the fourth waits for one token of 2/s", 3, "2/s", []ask{
			{0, 1, true, 2000, 0}, {0, 1, true, 1000, 0}, {0, 1, true, 0, 0},
			{0, 1, false, 0, 500},
		}},
		{"a part of a token is kept", 5, "2/s", []ask{
			{0, 5, true, 0, 0},
			{750, 1, true, 500, 0},      // 0.75 x 2 = 1.5
			{10_000, 5, true, 0, 0},     // full at 3000
			{10_001, 5, false, 2, 2499}, // 0.002 tokens are there, 4.998 / 2 = 2.499 s
		}},
		{"the clock goes back and no token is made or lost", 1, "1/s", []ask{
			{1000, 1, true, 0, 0},
			{500, 1, false, 0, 1000},
			{1999, 1, false, 999, 1}, // time goes on from the largest seen
			{2000, 1, true, 0, 0},
		}},
		{"a refusal stores the refill", 1, "1/s", []ask{
			{0, 1, true, 0, 0},
			{400, 1, false, 400, 600},
			{800, 1, false, 800, 200},
			{1000, 1, true, 0, 0},
		}},
		{"a low rate gains fractions", 2, "1/10s", []ask{
			{0, 2, true, 0, 0},
			{1000, 1, false, 100, 9000},
			{9999, 1, false, 999, 1}, // 0.9999 tokens, cut to thousandths
			{10_000, 1, true, 0, 0},
		}},
		{"after a long idle time a full bucket and no more", 5, "2/s", []ask{
			{0, 5, true, 0, 0},
			{10_000, 5, true, 0, 0},
			{300 * 86_400_000, 5, true, 0, 0},
			{300 * 86_400_000, 1, false, 0, 500},
		}},
	}
	for _, tt := range tests {
		b := bucket(t, tt.burst, tt.rate)
		s := b.Fresh(tt.asks[0].at * ms)
		for i, a := range tt.asks {
			d, err := b.Decide(s, a.at*ms, a.cost)
			if err != nil {
				t.Fatalf("%s: ask %d: %v", tt.name, i, err)
			}
			left := d.After * 1000 / d.Unit
			if d.Admitted != a.admitted || left != a.leftMs || d.Wait != time.Duration(a.waitMs*ms) {
				t.Errorf("%s: ask %d at %d ms: got admitted %v, %d/1000 left, wait %v; want %v, %d/1000, %d ms",
					tt.name, i, a.at, d.Admitted, left, d.Wait, a.admitted, a.leftMs, a.waitMs)
			}
		}
	}
}

// run asks for one token at each moment and gives which were admitted.
func run(t testing.TB, b Algorithm, moments []int64) []bool {
	t.Helper()
	s := b.Fresh(0)
	var admitted []bool
	for _, at := range moments {
		d, err := b.Decide(s, at, 1)
		if err != nil {
			t.Fatal(err)
		}
		admitted = append(admitted, d.Admitted)
	}
	return admitted
}

func count(admitted []bool) (n int) {
	for _, a := range admitted {
		if a {
			n++
		}
	}
	return n
}

func times(n int, at int64) []int64 { return slices.Repeat([]int64{at * ms}, n) }

func every(step, from, to int64) (moments []int64) {
	for at := from; at <= to; at += step {
		moments = append(moments, at*ms)
	}
	return moments
}

// b = 2, r = 2/s.
func TestOneKeyOfAGameServer(t *testing.T) {
	volley := run(t, bucket(t, 2, "2/s"), times(10, 0))
	if n := count(volley); n != 2 {
		t.Errorf("10 at once: got %d admitted, want 2", n)
	}
	// Rested for 1.2 s, then 46 requests. Every 100 ms brings 0.2 tokens: one
	// is spent at 0 and 1, 0.4 are left at 2, and then 5 x 0.2 = 1 token comes
	// every fifth request, first at 5.
	tests := []struct {
		step int64
		want []int
	}{
		{100, []int{0, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45}},
		{109, nil},
	}
	for _, tt := range tests {
		got := run(t, bucket(t, 2, "2/s"), every(tt.step, 1200, 1200+45*tt.step))
		var at []int
		for i, a := range got {
			if a {
				at = append(at, i)
			}
		}
		if len(got) != 46 || len(at) != 11 {
			t.Errorf("every %d ms: got %d of %d admitted, want 11 of 46", tt.step, len(at), len(got))
		}
		if tt.want != nil && !slices.Equal(at, tt.want) {
			t.Errorf("every %d ms: got %v admitted, want %v", tt.step, at, tt.want)
		}
	}
}

func TestGameServerRetryAfter(t *testing.T) {
	b := bucket(t, 2, "2/s")
	s := b.Fresh(0)
	for i := range 10 {
		d, err := b.Decide(s, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		// A token of 2/s takes 500 ms: 1 in whole seconds.
		if i >= 2 && (d.Admitted || d.Wait != 500*time.Millisecond || d.RetryAfter() != 1) {
			t.Errorf("request %d: got %+v, want a refusal with a wait of 500 ms", i, d)
		}
	}
}

// b = 10, r = 2/s: 13 at once; after 3 s of idling 3 x 2 = 6 tokens.
func TestThirteenAtOnce(t *testing.T) {
	b := bucket(t, 10, "2/s")
	s := b.Fresh(0)
	admitted := 0
	for range 13 {
		d, err := b.Decide(s, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if d.Admitted {
			admitted++
			if want := int64(10 - admitted); d.Remaining != want {
				t.Errorf("remaining: got %d, want %d", d.Remaining, want)
			}
		} else if d.Wait != 500*time.Millisecond || d.Remaining != 0 {
			t.Errorf("refused: got %+v, want a wait of 500 ms and 0 remaining", d)
		}
	}
	if admitted != 10 {
		t.Errorf("13 at once: got %d admitted, want 10", admitted)
	}
	d, err := b.Decide(s, 3000*ms, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Before / d.Unit; got != 6 {
		t.Errorf("after 3 s: got %d tokens, want 6", got)
	}
}

// A clock may hold any 64 bits, so the difference of two moments may not.
func TestElapsedOverflow(t *testing.T) {
	b := bucket(t, 2, "1/s")
	s := b.Fresh(-1 << 63)
	for range 2 {
		if d, err := b.Decide(s, -1<<63, 1); err != nil || !d.Admitted {
			t.Fatalf("got %+v, %v, want a full bucket", d, err)
		}
	}
	if d, err := b.Decide(s, 1<<63-1, 2); err != nil || !d.Admitted || d.After != 0 {
		t.Errorf("584 years later: got %+v, %v, want it full", d, err)
	}
	// Nor may what was earned in between: 3 units a nanosecond for 195 years are
	// 2^64 + 2, of which 64 bits keep 2.
	b = bucket(t, 1, "3/1024ns")
	s = b.Fresh(0)
	for _, now := range []int64{0, 6_148_914_691_236_517_206} {
		if d, err := b.Decide(s, now, 1); err != nil || !d.Admitted || d.Before != 1024 {
			t.Errorf("at %d: got %+v, %v, want a full bucket", now, d, err)
		}
	}
}

func TestBucketBounds(t *testing.T) {
	// 9999 a day is 1111 tokens in 9.6e12 ns. 2^62 / 9.6e12 = 480383.96.
	r, _ := scenarios.ParseRate("9999/day")
	if _, err := NewTokenBucket(480_383, r); err != nil {
		t.Errorf("burst 480383: %v", err)
	}
	if _, err := NewTokenBucket(480_384, r); err == nil {
		t.Errorf("burst 480384: got no error, want one")
	}
}
