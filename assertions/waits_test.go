package assertions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// waitsAsked is how many waits each cell of the table asks about.
const waitsAsked = 100

// verdicts are how many of the waits of a cell were wrong, and in which way.
type verdicts struct{ again, zero, loose, clash int64 }

// Nine ways to tell a wait, by four limiters: those that are right are never
// accused, and of the others nearly every wait is wrong in the way it should be.
func TestWaysToTellAWait(t *testing.T) {
	const all = waitsAsked
	rng := rand.New(rand.NewPCG(7, 7))
	ceil := func(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
	seconds := func(f func(time.Duration) int) func(time.Duration) string {
		return func(d time.Duration) string { return strconv.Itoa(f(d)) }
	}
	ways := []struct {
		name  string
		tells func(time.Duration) string // nil: an HTTP-date
		least verdicts                   // that have to be found
		none  bool                       // nothing may be
	}{
		{name: "rounded up", tells: seconds(ceil), none: true},
		{name: "rounded down, and one more", tells: seconds(func(d time.Duration) int { return int(d.Seconds()) + 1 }), none: true},
		{name: "a date, rounded up", none: true},
		{name: "rounded down", tells: seconds(func(d time.Duration) int { return int(d.Seconds()) }), least: verdicts{again: all, zero: all}},
		{name: "rounded to the nearest", tells: seconds(func(d time.Duration) int { return int(math.Round(d.Seconds())) }), least: verdicts{again: all / 5, zero: all * 9 / 10}},
		{name: "always 1", tells: seconds(func(time.Duration) int { return 1 }), least: verdicts{again: all}},
		{name: "always 60", tells: seconds(func(time.Duration) int { return 60 }), least: verdicts{loose: all}},
		{name: "milliseconds", tells: seconds(func(d time.Duration) int { return int(d.Milliseconds()) + 1 }), least: verdicts{loose: all}},
		{name: "with up to 5 s added at random", tells: seconds(func(d time.Duration) int { return ceil(d) + rng.IntN(6) }), least: verdicts{loose: all, clash: all / 2}},
	}
	limits := []string{"token-bucket{burst=4,rate=1/3500ms}", "fixed-window{rate=4/3500ms,align=first-hit}", "sliding-log{rate=4/3500ms}", "sliding-counter{rate=4/3500ms,test=le}"}
	for _, text := range limits {
		for _, way := range ways {
			got, told := ask(t, algorithm(t, text), way.tells)
			if way.none && got != (verdicts{}) {
				t.Errorf("%s of %s: accused of %+v", way.name, text, got)
			}
			if l := way.least; got.again < l.again || got.zero < l.zero || got.loose < l.loose || got.clash < l.clash {
				t.Errorf("%s of %s: found %+v, want at least %+v", way.name, text, got, l)
			}
			t.Logf("%s, %s: of %d waits and %d refusals: again %d, zero %d, loose %d, clash %d", text, way.name, waitsAsked, told, got.again, got.zero, got.loose, got.clash)
		}
	}
}

// ask drains pairs of keys. One of each pair comes back as it was told, again and
// again until it is let in; the other is asked at a quarter and at half of the time
// told, often in its last second, and from then on.
func ask(t *testing.T, a limiter.Algorithm, tells func(time.Duration) string) (v verdicts, told int64) {
	t.Helper()
	s := &talker{server: virtual.Limited{Algorithm: a}, rng: rand.New(rand.NewPCG(3, 4))}
	s.server.RetryAfter = func(d limiter.Decision) string {
		if tells != nil {
			return tells(d.Wait)
		}
		return time.Unix(0, day.UnixNano()+s.now+int64(d.Wait)+int64(time.Second)-1).UTC().Format(http.TimeFormat)
	}
	l := declared(a.Promise())
	for i := range waitsAsked {
		start := int64(i)*int64(2*time.Minute) + s.rng.Int64N(int64(time.Second))
		s.obeys(fmt.Sprint("obeys", i), start, l)
		s.probes(fmt.Sprint("probes", i), start, l)
	}
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true, NoCauses: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range results.Blocks(s.hits) {
		j.Block(b)
	}
	j.hear(j.scene.close())
	for _, a := range j.assertions {
		switch a := a.(type) {
		case *honest:
			v.again = a.again
		case *tight:
			v.loose = a.loose
		case *consistent:
			v.clash = a.clash
		case *positive:
			v.zero, told = a.zeros, a.asked
		}
	}
	return v, told
}

// talker is a client of one server in virtual time, which asks one thing after the
// other and decides by the answer.
type talker struct {
	server virtual.Limited
	rng    *rand.Rand
	now    int64
	hits   []results.Hit
}

// send sends a request at a moment and gives what came of it.
func (s *talker) send(key string, at int64) results.Hit {
	way := func() int64 { return int64(100*time.Microsecond) + s.rng.Int64N(int64(300*time.Microsecond)) }
	s.now = at + way()
	a := s.server.Answer(virtual.Request{At: s.now, Key: key, Cost: 1})
	h := results.Hit{Seq: int64(len(s.hits) + 1), Key: key, Cost: 1, Planned: at, Sent: at, First: s.now + way(), Status: int32(a.Status), RetryAfter: a.RetryAfter,
		Date: time.Unix(0, day.UnixNano()+s.now).UTC().Format(http.TimeFormat), Outcome: results.Admitted}
	if h.Done = h.First; a.Status == 429 {
		h.Outcome = results.Limited
	}
	s.hits = append(s.hits, h)
	return h
}

// day is when the server's clock shows it as the run starts.
var day = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

// drain asks until it is refused.
func (s *talker) drain(key string, at int64) results.Hit {
	for {
		h := s.send(key, at)
		if h.Outcome == results.Limited {
			return h
		}
		at = h.First + 1000
	}
}

func (s *talker) obeys(key string, at int64, l scenarios.Limit) {
	h := s.drain(key, at)
	for tries := 0; h.Outcome == results.Limited && tries < 200; tries++ {
		wait := min(max(h.Asks().Wait, 0), 10*time.Second)
		h = s.send(key, h.First+int64(wait+l.Slack.Grace(wait))+1000)
	}
}

func (s *talker) probes(key string, at int64, l scenarios.Limit) {
	h := s.drain(key, at)
	told := int64(max(h.Asks().Wait, 0))
	from, last := h.First, h.First
	moments := []int64{told / 4, told / 2}
	for m := max(told-int64(1200*time.Millisecond), 0); m < told; m += int64(50 * time.Millisecond) {
		moments = append(moments, m)
	}
	for m := told; m < told+int64(10*time.Second); m += int64(50 * time.Millisecond) {
		moments = append(moments, m)
	}
	for _, m := range moments {
		if from+m <= last {
			continue
		}
		if h = s.send(key, from+m); h.Outcome != results.Limited {
			return
		}
		last = h.First
	}
}
