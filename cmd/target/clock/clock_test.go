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

// A strobe goes to and fro, and ends where it began.
func TestStrobe(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	if err := c.Do(Event{Action: Strobe, By: -time.Second, Every: 250 * time.Millisecond, Times: 3}); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	for at, want := range map[time.Duration]time.Duration{
		0: 0, 250*ms - 1: 0, 250 * ms: -time.Second, 500*ms - 1: -time.Second, 500 * ms: 0, 750 * ms: -time.Second, 1000 * ms: 0,
		1250 * ms: -time.Second, 1500 * ms: 0, 1750 * ms: 0, time.Hour: 0,
	} {
		now = int64(at)
		if got := c.Read().Offset; got != int64(want) {
			t.Errorf("after %v: got offset %v, want %v", at, time.Duration(got), want)
		}
	}
}

// Without a number it goes on until it is ended, a minute and a year later too.
func TestStrobeUntilFurtherNotice(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	do := func(e Event) {
		t.Helper()
		if err := c.Do(e); err != nil {
			t.Fatal(err)
		}
	}
	do(Event{Action: Strobe, By: time.Second, Every: time.Second})
	for _, at := range []time.Duration{time.Second, 2*time.Minute + time.Second, 365*24*time.Hour + time.Second} {
		now = int64(at)
		do(Event{Action: Step, By: 1}) // by which what is past is put together
		do(Event{Action: Step, By: -1})
		if got := c.Read().Offset; got != 1e9 {
			t.Errorf("after %v: got offset %d, want a second", at, got)
		}
	}
	do(Event{Action: StrobeOff})
	if got := c.Read().Offset; got != 0 {
		t.Errorf("ended: got offset %d, want 0", got)
	}
	now += 2e9
	if got := c.Read().Offset; got != 0 {
		t.Errorf("ended two periods ago: got offset %d, want 0", got)
	}
}

// A clock that is frozen stands still whatever strobes it has, and they go on with
// it from where they were.
func TestFreezeStopsStrobes(t *testing.T) {
	for _, script := range []string{"strobe 1m every 100ms; at 150ms freeze", "strobe 1m every 100ms; at 250ms freeze", "freeze; strobe 1m every 100ms; at 1s strobe -1m every 7ms times 9"} {
		var now int64
		c := New(base, func() int64 { return now })
		events, err := ParseScript(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := c.Schedule([]Event{e.Event}); err != nil {
				t.Fatal(err)
			}
		}
		now = 300e6
		stands := c.Read().Wall
		for now < 5e9 {
			now += 13e6
			if got := c.Read().Wall; got != stands {
				t.Fatalf("%s: at %d the clock has moved by %d", script, now, got-stands)
			}
		}
		if err := c.Do(Event{Action: Resume}); err != nil {
			t.Fatal(err)
		}
		if got := c.Read().Wall; got != stands {
			t.Errorf("%s: as it goes on it has moved by %d", script, got-stands)
		}
		moved := false
		for range 100 {
			now += 1e6
			moved = moved || c.Read().Wall != stands+int64(time.Millisecond)
			stands = c.Read().Wall
		}
		if !moved {
			t.Errorf("%s: the strobe does not go on", script)
		}
	}
}

// 64 may go on together; those that are over do not count.
func TestManyStrobes(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	for i := range 1000 {
		now += 10
		if err := c.Do(Event{Action: Strobe, By: 1, Every: 1, Times: 2}); err != nil {
			t.Fatalf("strobe %d, of which all before are over: %v", i, err)
		}
	}
	for i := range maxTerms + 1 {
		err := c.Do(Event{Action: Strobe, By: 1, Every: 1000})
		if now++; (err == nil) == (i == maxTerms) {
			t.Errorf("strobe %d that goes on: got %v", i+1, err)
		}
	}
	if err := c.Do(Event{Action: StrobeOff}); err != nil {
		t.Fatal(err)
	}
	if err := c.Do(Event{Action: Strobe, By: 1, Every: 1}); err != nil {
		t.Errorf("once all were ended: %v", err)
	}
}

// However long it runs, no reading overflows.
func TestStrobeSaturates(t *testing.T) {
	for _, step := range []time.Duration{maxOffset, -maxOffset} {
		now := int64(100 * 365 * 24 * time.Hour)
		c := New(base, func() int64 { return now })
		for range 3 {
			if err := c.Do(Event{Action: Strobe, By: step, Every: 1}); err != nil {
				t.Fatal(err)
			}
		}
		now++
		got := c.Read()
		if got.Offset != int64(step) || got.Wall-got.Offset-got.Mono != base.UnixNano() {
			t.Errorf("strobes of %v: got %+v", step, got)
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
