package defect

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/key"
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
	return newRigAt(t, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), limit, defects...)
}

// newRigAt is the rig of a server that is started at that moment.
func newRigAt(t *testing.T, start time.Time, limit string, defects ...string) *rig {
	t.Helper()
	return newRigBy(t, start, limit, "header:X-Api-Key", defects...)
}

// newRigBy is that of a server that tells clients apart by another key.
func newRigBy(t *testing.T, start time.Time, limit, by string, defects ...string) *rig {
	t.Helper()
	a, err := limiter.New(parse(t, limit))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t}
	r.parts = Right(a, clock.New(start, func() int64 { return int64(r.now) }), 1)
	if r.parts.Key, err = key.Parse(by); err != nil {
		t.Fatal(err)
	}
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
