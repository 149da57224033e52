package clock

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

var base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestStep(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	now = int64(3 * time.Second)
	if err := c.Step(-5 * time.Second); err != nil {
		t.Fatal(err)
	}
	want := Instant{Mono: 3e9, Wall: base.UnixNano() - 2e9, Offset: -5e9}
	if got := c.Read(); got != want {
		t.Errorf("3 s after the base and stepped by -5 s: got %+v, want %+v", got, want)
	}
	if err := c.Step(7 * time.Second); err != nil {
		t.Fatal(err)
	}
	if got := c.Read(); got.Offset != 2e9 || got.Mono != 3e9 {
		t.Errorf("stepped by -5 s and +7 s: got %+v, want offset 2 s and the same monotonic time", got)
	}
}

// A refused step does nothing, whatever its size.
func TestStepBounds(t *testing.T) {
	c := New(base, func() int64 { return 0 })
	if err := c.Step(maxOffset); err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{1, maxOffset, math.MaxInt64, math.MinInt64, -2*maxOffset - 1} {
		if err := c.Step(d); err == nil {
			t.Errorf("Step(%d) on top of the bound: got no error", d)
		}
	}
	if err := c.Step(-2 * maxOffset); err != nil {
		t.Errorf("from one bound to the other: %v", err)
	}
	if got := c.Read().Offset; got != -int64(maxOffset) {
		t.Errorf("offset: got %d, want %d", got, -int64(maxOffset))
	}
}

func TestStrobe(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	c.Strobe(-10*time.Second, 30*time.Second)
	tests := []struct {
		mono, offset time.Duration
	}{
		{0, 0},
		{30*time.Second - 1, 0},
		{30 * time.Second, -10 * time.Second},
		{60*time.Second - 1, -10 * time.Second},
		{60 * time.Second, -20 * time.Second},
		{time.Hour, -1200 * time.Second}, // 3600/30 = 120 steps
	}
	for _, tt := range tests {
		now = int64(tt.mono)
		if got := c.Read().Offset; got != int64(tt.offset) {
			t.Errorf("after %v: got offset %v, want %v", tt.mono, time.Duration(got), tt.offset)
		}
	}
	// The steps of its own and those from outside add up.
	now = int64(30 * time.Second)
	if err := c.Step(4 * time.Second); err != nil {
		t.Fatal(err)
	}
	if got := c.Read().Offset; got != -6e9 {
		t.Errorf("stepped by -10 s and +4 s: got %d, want -6 s", got)
	}
}

// However long it runs, no reading overflows.
func TestStrobeSaturates(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, math.MaxInt64, math.MinInt64} {
		now := int64(100 * 365 * 24 * time.Hour)
		c := New(base, func() int64 { return now })
		c.Strobe(step, time.Nanosecond)
		got := c.Read()
		if off := time.Duration(got.Offset); off.Abs() > maxOffset {
			t.Errorf("strobe of %v: offset %v is beyond the bound", step, off)
		}
		if got.Wall-got.Offset-got.Mono != base.UnixNano() {
			t.Errorf("strobe of %v: the reading %+v overflowed", step, got)
		}
	}
}

// Without an injected time the clock runs with the machine's monotonic one,
// here that of a bubble.
func TestMachineTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := New(start, nil)
		time.Sleep(1500 * time.Millisecond)
		got := c.Read()
		if got.Mono != 15e8 || got.Wall != start.UnixNano()+15e8 || !c.Base().Equal(start) {
			t.Errorf("after 1.5 s: got %+v since %v, want 1.5 s since %v", got, c.Base(), start)
		}
	})
}
