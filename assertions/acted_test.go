package assertions

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// dated are answers every 20 ms for so long, whose Date goes by a wall clock.
func datedBy(length time.Duration, wall func(at time.Duration) time.Duration) (hits []results.Hit) {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 350_000_000, time.UTC)
	for at := time.Duration(0); at < length; at += 20 * time.Millisecond {
		date := epoch.Add(wall(at)).Format(http.TimeFormat)
		hits = append(hits, results.Hit{Seq: int64(len(hits) + 1), Sent: int64(at), First: int64(at + time.Millisecond), Done: int64(at + time.Millisecond),
			Outcome: results.Admitted, Date: date})
	}
	return hits
}

func TestServerClockIsSeen(t *testing.T) {
	tests := []struct {
		name string
		wall func(at time.Duration) time.Duration
		want string // in the finding; empty: there is none
	}{
		{"as ours", func(at time.Duration) time.Duration { return at }, ""},
		{"written anew once a second", func(at time.Duration) time.Duration { return (at - 200*time.Millisecond).Truncate(time.Second) }, ""},
		{"back by 5 s", func(at time.Duration) time.Duration {
			if at > 12*time.Second {
				return at - 5*time.Second
			}
			return at
		}, "by about -5 s between 12.000000 s and 12.02"},
		{"forward by an hour", func(at time.Duration) time.Duration {
			if at > 12*time.Second {
				return at + time.Hour
			}
			return at
		}, "by about 60 min between 12.0"},
		{"500 ppm faster", func(at time.Duration) time.Duration { return at + at/2000 }, ""},
		{"2 % slower", func(at time.Duration) time.Duration { return at - at/50 }, "all along by about -19"},
	}
	for _, tt := range tests {
		w := newWallSeen()
		w.hear(datedBy(40*time.Second, tt.wall), nil, results.Never)
		f, ok := w.tell()
		if ok != (tt.want != "") || !strings.Contains(f.Text, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, f.Text, tt.want)
		}
	}
}

// What a server that was not there did not answer says nothing of it.
func TestFaultExcusesSilence(t *testing.T) {
	second := int64(time.Second)
	a := &acted{}
	a.hear(results.Block{Marks: []results.Mark{
		{At: 2 * second, To: 2 * second, Kind: results.MarkFault, Act: string(scenarios.ProcessPause)},
		{At: 5 * second, To: 5 * second, Kind: results.MarkFault, Act: string(scenarios.ProcessContinue)},
		{At: 20 * second, To: 21 * second, Kind: results.MarkFault, Act: string(scenarios.ProcessRestart)},
		{At: 40 * second, To: 41 * second, Kind: results.MarkClock, Act: string(scenarios.ClockStep), Size: -second},
	}})
	for _, tt := range []struct {
		sent, done int64
		want       bool
	}{{0, 1, false}, {1, 3, true}, {4, 4, true}, {6, 6, true}, {8, 9, false}, {19, 20, true}, {22, 22, true}, {24, 24, false}, {41, 42, false}} {
		if got := a.excuses(&results.Hit{Sent: tt.sent * second, Done: tt.done * second}); got != tt.want {
			t.Errorf("from %d to %d s: got %v, want %v", tt.sent, tt.done, got, tt.want)
		}
	}
}

// saturated are requests on one key every 50 ms, and who decides on them.
func saturated(key string, from, to time.Duration, admits func(at time.Duration) bool) (hits []results.Hit) {
	for at := from; at < to; at += 50 * time.Millisecond {
		h := results.Hit{Key: key, Cost: 1, Sent: int64(at), First: int64(at + time.Millisecond), Done: int64(at + time.Millisecond), Status: 200, Outcome: results.Admitted}
		if !admits(at) {
			h.Outcome, h.Status = results.Limited, 429
		}
		hits = append(hits, h)
	}
	return hits
}

// bucketOn is a token bucket, 4 and 4 a second, on a clock.
func bucketOn(clock func(at time.Duration) time.Duration) func(at time.Duration) bool {
	level, last := 4.0, time.Duration(-1)
	return func(at time.Duration) bool {
		now := clock(at)
		if last >= 0 {
			level = min(4, level+(now-last).Seconds()*4)
		}
		if last = now; level < 1 {
			return false
		}
		level--
		return true
	}
}

func judgeMarked(t *testing.T, l scenarios.Limit, hits []results.Hit, marks ...results.Mark) results.Verdict {
	t.Helper()
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	j.Block(results.Block{Marks: marks})
	for i := range hits {
		hits[i].Seq = int64(i + 1)
	}
	for _, b := range results.Blocks(hits) {
		j.Block(b)
	}
	return j.Verdict(&results.Run{Planned: int64(len(hits)), Sent: int64(len(hits))})
}

func markAt(at time.Duration, kind results.MarkKind, act scenarios.Act, size time.Duration, free scenarios.Expect) results.Mark {
	return results.Mark{At: int64(at), To: int64(at + time.Millisecond), Kind: kind, Act: string(act), Size: int64(size), Free: string(free), Text: fmt.Sprintf("%s by %v", act, size)}
}

// A bucket on a wall clock that is stepped back by 2 s is silent for as long, and the
// step is named; one on a monotonic clock shows nothing.
func TestStepIsTheCause(t *testing.T) {
	const at, by = 3 * time.Second, 2 * time.Second
	stepped := func(t time.Duration) time.Duration {
		if t > at {
			return t - by
		}
		return t
	}
	l := promised(4, 4, time.Second)
	mark := markAt(at, results.MarkClock, scenarios.ClockStep, -by, "")
	wall := saturated("a", 0, 8*time.Second, bucketOn(stepped))
	wall = append(wall, saturated("b", 4*time.Second, 8*time.Second, bucketOn(stepped))...)
	v := judgeMarked(t, l, wall, mark)
	if v.Status != results.Broken || len(v.Causes) != 1 || v.Causes[0].ID != CauseClock || v.Causes[0].AtNS[0] != int64(at) {
		t.Fatalf("got %v, %+v", v.Status, v.Causes)
	}
	// The silence is d - tau - (L-1)/r: between 1.7 and 2.3 s, as tokens come every 250 ms.
	if text := v.Causes[0].Text; !strings.Contains(text, "1 client used before it was refused") || !strings.Contains(text, "for up to 2") && !strings.Contains(text, "for up to 1.9") {
		t.Errorf("got %q", text)
	}
	if !strings.Contains(strings.Join(v.Causes[0].Reasons, ";"), "1 client that first asked later") {
		t.Errorf("got %q", v.Causes[0].Reasons)
	}
	true_ := func(t time.Duration) time.Duration { return t }
	if v := judgeMarked(t, l, saturated("a", 0, 8*time.Second, bucketOn(true_)), mark); v.Status == results.Broken {
		t.Errorf("a monotonic clock: %q", v.Headline)
	}
}

// A restart that hands out fresh budgets breaks the promise, unless that was declared;
// so does a store that is gone and lets everything through.
func TestDeclaredFaults(t *testing.T) {
	l := promised(4, 4, time.Second)
	first := saturated("a", 0, 3*time.Second, bucketOn(func(t time.Duration) time.Duration { return t }))
	again := append(first, saturated("a", 3*time.Second, 6*time.Second, bucketOn(func(t time.Duration) time.Duration { return t }))...)
	for _, free := range []scenarios.Expect{"", scenarios.ExpectFresh} {
		v := judgeMarked(t, l, append([]results.Hit(nil), again...), markAt(2960*time.Millisecond, results.MarkFault, scenarios.ProcessRestart, 0, free))
		if broken := v.Status == results.Broken; broken != (free == "") {
			t.Errorf("a restart, expect %q: got %v: %s", free, v.Status, v.Headline)
		}
		if free == "" && (len(v.Causes) != 1 || v.Causes[0].ID != CauseActed) {
			t.Errorf("got causes %+v", v.Causes)
		}
	}
	right := bucketOn(func(t time.Duration) time.Duration { return t })
	open := saturated("a", 0, 8*time.Second, func(at time.Duration) bool {
		admitted := right(at)
		return admitted || at > 3*time.Second && at < 5*time.Second
	})
	for _, free := range []scenarios.Expect{"", scenarios.ExpectOpen} {
		v := judgeMarked(t, l, append([]results.Hit(nil), open...),
			markAt(3*time.Second, results.MarkFault, scenarios.StoreCut, 0, free), markAt(5*time.Second, results.MarkFault, scenarios.StoreRestore, 0, free))
		if broken := v.Status == results.Broken; broken != (free == "") {
			t.Errorf("a store that is cut, expect %q: got %v: %s", free, v.Status, v.Headline)
		}
	}
	for _, open := range [][]results.Hit{open} { // what is not covered by the declaration is still judged
		if v := judgeMarked(t, l, append([]results.Hit(nil), open...), markAt(5*time.Second, results.MarkFault, scenarios.StoreCut, 0, scenarios.ExpectOpen)); v.Status != results.Broken {
			t.Errorf("open before it was declared: got %v", v.Status)
		}
	}
}

// Windows on the grid of a clock that is moved move with it, and nobody is accused.
func TestWindowsMoveWithTheClock(t *testing.T) {
	l := promised(0, 8, 2*time.Second)
	l.Contract, l.Burst, l.Align = scenarios.FixedWindow, 0, scenarios.AlignEpoch
	clock := func(at time.Duration) time.Duration {
		if at > 3*time.Second {
			return at - 700*time.Millisecond
		}
		return at
	}
	counts := map[time.Duration]int{}
	hits := saturated("a", 0, 8*time.Second, func(at time.Duration) bool {
		w := clock(at) / (2 * time.Second)
		counts[w]++
		return counts[w] <= 8
	})
	mark := markAt(3*time.Second, results.MarkClock, scenarios.ClockStep, -700*time.Millisecond, "")
	if v := judgeMarked(t, l, hits, mark); v.Status == results.Broken {
		t.Errorf("got %s", v.Headline)
	}
	if v := judgeMarked(t, l, hits); v.Status != results.Broken {
		t.Errorf("without the mark: got %v, so that the test shows nothing", v.Status)
	}
}
