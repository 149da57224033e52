package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// cut is a store that can be cut off.
type cut struct {
	Store
	off bool
}

var errCut = errors.New("cut off")

func (c *cut) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if c.off {
		return errCut
	}
	return c.Store.Decide(ctx, asks, settle)
}

// A limit of 5 under a steady load of 20 requests before, during and after an
// outage. Whatever is declared, one that is betrayed by Open admits all of them
// meanwhile, and is as declared before and after.
func TestBetray(t *testing.T) {
	tests := []struct {
		declared, down Policy
		during         int
	}{
		{None, None, -1}, // no answer at all
		{Closed, None, 0},
		{Open, None, 20},
		{Local, None, 2},
		{None, Open, 20},
		{Closed, Open, 20},
		{Local, Open, 20},
		{Open, Closed, 0},
	}
	for _, tt := range tests {
		v := new(virtual)
		limits := algorithms(t, "token-bucket{burst=5,rate=1/h}")
		limits[0].Down = tt.down
		c := &cut{Store: NewMemory(limits, v.clock())}
		var local Store
		if tt.declared == Local {
			local = NewMemory(algorithms(t, "token-bucket{burst=2,rate=1/h}"), v.clock())
		}
		guarded, err := Guard(c, tt.declared, time.Minute, local, v.clock())
		if err != nil {
			t.Fatal(err)
		}
		s := Betray(guarded, limits, v.clock())
		if got := admitted(t, s, "before", 20); got != 5 {
			t.Errorf("%v betrayed by %v, before: got %d admitted, want 5", tt.declared, tt.down, got)
		}
		c.off = true
		if tt.during < 0 {
			if err := s.Decide(t.Context(), []Ask{{Key: "a", Cost: 1}}, nil); !errors.Is(err, errCut) {
				t.Errorf("%v betrayed by %v: got %v, want the error", tt.declared, tt.down, err)
			}
		} else {
			a := decide(t, s, Ask{Key: "other", Cost: 1})
			said := tt.declared
			if tt.down != None {
				said = tt.down
			}
			if a.Policy != said || !errors.Is(a.Cause, errCut) {
				t.Errorf("%v betrayed by %v: got %+v, want an answer by %v with the cause", tt.declared, tt.down, a, said)
			}
			if got := admitted(t, s, "during", 20); got != tt.during {
				t.Errorf("%v betrayed by %v, during: got %d admitted, want %d", tt.declared, tt.down, got, tt.during)
			}
		}
		c.off = false
		if got := admitted(t, s, "after", 20); got != 5 {
			t.Errorf("%v betrayed by %v, after: got %d admitted, want 5", tt.declared, tt.down, got)
		}
	}
}

// What is the caller's mistake is no outage.
func TestBetrayIsNotFooled(t *testing.T) {
	v := new(virtual)
	limits := algorithms(t, "token-bucket{burst=5,rate=1/h}")
	limits[0].Down = Open
	s := Betray(NewMemory(limits, v.clock()), limits, v.clock())
	settle := func(a *Answer) { t.Errorf("got %+v, want an error", a) }
	if err := s.Decide(t.Context(), []Ask{{Key: "a", Cost: 6}}, settle); !errors.As(err, new(*limiter.CostError)) {
		t.Errorf("a cost of 6: got %v", err)
	}
	if err := s.Decide(t.Context(), nil, settle); !errors.Is(err, ErrAsks) {
		t.Errorf("no asks: got %v", err)
	}
}
