package store

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

var base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// virtual is time that only a test moves.
type virtual struct{ now int64 }

func (v *virtual) clock() *clock.Clock { return clock.New(base, func() int64 { return v.now }) }

func (v *virtual) micros() int64 { return (base.UnixNano() + v.now) / 1000 }

// algorithms builds those of modes such as gcra{burst=1,rate=1/s}.
func algorithms(t testing.TB, modes ...string) (limits []Limit) {
	t.Helper()
	for _, text := range modes {
		m, err := mode.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := limiter.New(m)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := a.(limiter.Starter); ok {
			a = s.Start(base.UnixNano())
		}
		limits = append(limits, Limit{Algorithm: a})
	}
	return limits
}

// decide asks and wants an answer.
func decide(t testing.TB, s Store, asks ...Ask) (a Answer) {
	t.Helper()
	settled := 0
	err := s.Decide(t.Context(), asks, func(answer *Answer) {
		settled++
		a = *answer
		a.Decisions = append([]limiter.Decision(nil), answer.Decisions...)
		a.Moments = append([]int64(nil), answer.Moments...)
	})
	if err != nil || settled != 1 {
		t.Fatalf("asking %+v: got %v and %d answers, want one", asks, err, settled)
	}
	return a
}

// admitted is how many of n requests of one token pass.
func admitted(t testing.TB, s Store, key string, n int) (count int) {
	t.Helper()
	for range n {
		if decide(t, s, Ask{Key: key, Cost: 1}).Admitted {
			count++
		}
	}
	return count
}
