package limiter

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// build makes the algorithm of a mode such as gcra{burst=1,rate=1/s}.
func build(t testing.TB, text string) Algorithm {
	t.Helper()
	a, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Two request sequences on a limit of 10 per 10 s, all unused at 0.
//
// Sequence A: 10 at 9.9 s and 10 at 10.1 s. Sequence B: one every 0.5 s from 0 to
// 7.5 s, 10 at 9.9 s, 10 at 10.1 s, and one every 0.5 s from 15 to 19.5 s: 46.
//
// The window has an edge at 10 s: it forgets. The log has all 10 of A until
// 19.9 s; in B those of 0 to 4.5 s, and at 10.1 s that of 0 has left. The
// counter estimates 10 * 0.99 = 9.9 < 10 at 10.1 s, and then 10.9. The bucket
// has 0.2 tokens at 10.1 s of A; in B 10 + 7.5 - 16 = 1.5 are left after the
// first part, 3.9 at 9.9 s, 0.9 + 0.2 = 1.1 at 10.1 s, 0.1 + 4.9 = 5 at 15 s, and
// 4.5 more come until 19.5 s. The queue has 9 waiting at 10.1 s of A.
func TestSequences(t *testing.T) {
	partsA := [][]int64{times(10, 9_900), times(10, 10_100)}
	partsB := [][]int64{every(500, 0, 7_500), times(10, 9_900), times(10, 10_100), every(500, 15_000, 19_500)}
	tests := []struct {
		limit string
		a, b  []int // admitted of each part
		most  int   // of B in any half-open 10 s
	}{
		{"fixed-window{rate=10/10s}", []int{10, 10}, []int{10, 0, 10, 0}, 19},
		{"sliding-log{rate=10/10s}", []int{10, 0}, []int{10, 0, 1, 9}, 10},
		{"sliding-counter{rate=10/10s,test=lt}", []int{10, 1}, []int{10, 0, 1, 9}, 10},
		{"token-bucket{burst=10,rate=1/s}", []int{10, 0}, []int{16, 3, 1, 9}, 19},
		{"meter{burst=10,rate=1/s}", []int{10, 0}, []int{16, 3, 1, 9}, 19},
		{"gcra{burst=10,rate=1/s}", []int{10, 0}, []int{16, 3, 1, 9}, 19},
		{"queue{burst=10,rate=1/s}", []int{10, 1}, []int{16, 4, 1, 9}, 20},
	}
	for _, tt := range tests {
		if got := byPart(run(t, build(t, tt.limit), slices.Concat(partsA...)), partsA); !slices.Equal(got, tt.a) {
			t.Errorf("%s: A: got %v admitted, want %v", tt.limit, got, tt.a)
		}
		moments := slices.Concat(partsB...)
		admitted := run(t, build(t, tt.limit), moments)
		if got := byPart(admitted, partsB); !slices.Equal(got, tt.b) {
			t.Errorf("%s: B: got %v admitted, want %v", tt.limit, got, tt.b)
		}
		if got := mostInHalfOpen(moments, admitted, 10*time.Second); got != tt.most {
			t.Errorf("%s: B: got %d in the fullest 10 s, want %d", tt.limit, got, tt.most)
		}
	}
}

func byPart(admitted []bool, parts [][]int64) (counts []int) {
	for _, p := range parts {
		counts = append(counts, count(admitted[:len(p)]))
		admitted = admitted[len(p):]
	}
	return counts
}

// mostInHalfOpen counts in windows that hold a request at their start and not
// one at their end.
func mostInHalfOpen(moments []int64, admitted []bool, window time.Duration) (most int) {
	for i := range moments {
		n := 0
		for j := i; j < len(moments) && moments[j] < moments[i]+int64(window); j++ {
			if admitted[j] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// The queue releases the 30 accepted of B one a second from 0 s to 29 s. The
// longest wait is 10 s: the one of 19 s is released at 29 s. In A it is 9.8 s:
// the eleventh, of 10.1 s, is released at 19.9 s.
func TestQueueReleases(t *testing.T) {
	q := build(t, "queue{burst=10,rate=1/s}")
	s := q.Fresh(0)
	var released []int64
	longest := time.Duration(0)
	for _, at := range slices.Concat(every(500, 0, 7_500), times(10, 9_900), times(10, 10_100), every(500, 15_000, 19_500)) {
		d, err := q.Decide(s, at, 1)
		if err != nil {
			t.Fatal(err)
		}
		if d.Admitted {
			released = append(released, (at+int64(d.Delay))/int64(time.Second))
			longest = max(longest, d.Delay)
		} else if d.Delay != 0 {
			t.Errorf("refused at %d with a delay of %v", at, d.Delay)
		}
	}
	if len(released) != 30 || longest != 10*time.Second {
		t.Errorf("B: got %d released and a longest wait of %v, want 30 and 10 s", len(released), longest)
	}
	for i, at := range released {
		if at != int64(i) {
			t.Errorf("B: release %d: got %d s, want one a second", i, at)
		}
	}
	s = q.Fresh(0)
	longest = 0
	for _, at := range slices.Concat(times(10, 9_900), times(10, 10_100)) {
		d, _ := q.Decide(s, at, 1)
		longest = max(longest, d.Delay)
	}
	if longest != 9800*time.Millisecond {
		t.Errorf("A: got a longest wait of %v, want 9.8 s", longest)
	}
}

// The bucket and the cell rate algorithm agree request by request.
func TestBucketAndGCRAAgreeOnSequences(t *testing.T) {
	for _, moments := range [][]int64{
		slices.Concat(times(10, 9_900), times(10, 10_100)),
		slices.Concat(every(500, 0, 7_500), times(10, 9_900), times(10, 10_100), every(500, 15_000, 19_500)),
	} {
		b := run(t, build(t, "token-bucket{burst=10,rate=1/s}"), moments)
		g := run(t, build(t, "gcra{burst=10,rate=1/s}"), moments)
		if !slices.Equal(b, g) {
			t.Errorf("got %v and %v", b, g)
		}
	}
}

func parse(text string) (Algorithm, error) {
	m, err := mode.Parse(text)
	if err != nil {
		return nil, err
	}
	return New(m)
}
