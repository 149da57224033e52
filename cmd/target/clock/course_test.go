package clock

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// What each event does to the wall clock, looked at every second; the monotonic
// clock and Since1970 know nothing of it.
func TestEvents(t *testing.T) {
	tests := []struct {
		name, script string
		offsets      map[time.Duration]time.Duration
	}{
		{"a step", "at 5s step -10s", map[time.Duration]time.Duration{4999 * time.Millisecond: 0, 5 * time.Second: -10 * time.Second, time.Hour: -10 * time.Second}},
		{"steps add up", "at 1s step -1s; at 2s step 3s", map[time.Duration]time.Duration{time.Second: -time.Second, 2 * time.Second: 2 * time.Second}},
		{"a slew", "at 10s slew 500ppm", map[time.Duration]time.Duration{10 * time.Second: 0, 12 * time.Second: time.Millisecond, 1010 * time.Second: 500 * time.Millisecond}},
		{"a slew that ends", "at 10s slew -100000ppm; at 20s slew 0ppm", map[time.Duration]time.Duration{15 * time.Second: -500 * time.Millisecond, time.Hour: -time.Second}},
		{"frozen", "at 1s freeze; at 4s resume", map[time.Duration]time.Duration{2 * time.Second: -time.Second, 4 * time.Second: -3 * time.Second, time.Hour: -3 * time.Second}},
		{"frozen while it slews", "slew 100000ppm; at 10s freeze; at 15s resume", map[time.Duration]time.Duration{10 * time.Second: time.Second, 15 * time.Second: -4 * time.Second, 25 * time.Second: -3 * time.Second}},
		{"stepped while it is frozen", "freeze; at 5s step 1m; at 10s resume", map[time.Duration]time.Duration{4 * time.Second: -4 * time.Second, 5 * time.Second: 55 * time.Second, time.Hour: 50 * time.Second}},
		{"a strobe", "at 10s strobe -1s every 250ms times 20", map[time.Duration]time.Duration{10249 * time.Millisecond: 0, 10250 * time.Millisecond: -time.Second, 10500 * time.Millisecond: 0, 19750 * time.Millisecond: -time.Second, 20250 * time.Millisecond: 0, time.Hour: 0}},
		{"two strobes", "strobe -1s every 1s times 5; strobe 3s every 2s", map[time.Duration]time.Duration{time.Second: -time.Second, 2 * time.Second: 3 * time.Second, 3 * time.Second: 2 * time.Second, 10 * time.Second: 3 * time.Second, 12 * time.Second: 0}},
		{"a strobe that is ended", "strobe 1s every 1s; at 1500ms strobe off; at 10s strobe 2s every 1s", map[time.Duration]time.Duration{1400 * time.Millisecond: time.Second, 1500 * time.Millisecond: 0, 3 * time.Second: 0, 11 * time.Second: 2 * time.Second, 12 * time.Second: 0}},
		{"frozen while it strobes", "strobe 10s every 1s; at 1500ms freeze; at 5s resume", map[time.Duration]time.Duration{1500 * time.Millisecond: 10 * time.Second, 4500 * time.Millisecond: 7 * time.Second, 5 * time.Second: 6500 * time.Millisecond, 5500 * time.Millisecond: -3500 * time.Millisecond}},
		{"of another node", "node 2 at 1s step 1s", map[time.Duration]time.Duration{2 * time.Second: 0}},
		{"out of order", "at 9s step 1s; at 3s step 1m", map[time.Duration]time.Duration{3 * time.Second: time.Minute, 9 * time.Second: time.Minute + time.Second}},
	}
	for _, tt := range tests {
		var now int64
		c := New(base, func() int64 { return now })
		script, err := ParseScript(tt.script)
		if err != nil {
			t.Fatal(err)
		}
		var events []Event
		for _, s := range script {
			if s.Node < 2 {
				events = append(events, s.Event)
			}
		}
		if err := c.Schedule(events); err != nil {
			t.Fatal(err)
		}
		for at, offset := range tt.offsets {
			now = int64(at)
			want := Instant{Mono: now, Wall: base.UnixNano() + now + int64(offset), Offset: int64(offset)}
			if got := c.Read(); got != want || got.Since1970() != base.UnixNano()+now {
				t.Errorf("%s, after %v: got %+v, want %+v", tt.name, at, got, want)
			}
		}
	}
}

// Events of an administrator come among those of a script, whenever he asks for
// them; the past is not changed.
func TestDoAmongSchedule(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	if err := c.Schedule([]Event{{At: 10 * time.Second, Action: Step, By: time.Second}}); err != nil {
		t.Fatal(err)
	}
	now = 5e9
	if err := c.Do(Event{Action: Freeze}); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]int64{4e9: 0, 5e9: 0, 7e9: -2e9, 10e9: -4e9, 12e9: -6e9} {
		now = at
		if got := c.Read().Offset; got != want {
			t.Errorf("at %d: got offset %d, want %d", at, got, want)
		}
	}
	now = 20e9
	if err := c.Do(Event{Action: Resume}); err != nil {
		t.Fatal(err)
	}
	now = 30e9
	if got, want := c.Read().Offset, int64(-14e9); got != want {
		t.Errorf("15 s frozen and 1 s forward: got offset %d, want %d", got, want)
	}
}

// The monotonic clock of a node runs at a rate of its own, and never goes back
// when that is changed.
func TestRate(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	if err := c.Schedule([]Event{{Action: Rate, PPM: 100}}); err != nil {
		t.Fatal(err)
	}
	now = 10_000e9
	if got, want := c.Read(), (Instant{Mono: 10_001e9, Wall: base.UnixNano() + 10_001e9}); got != want {
		t.Errorf("100 ppm fast: got %+v, want %+v", got, want)
	}
	if err := c.Do(Event{Action: Rate, PPM: -1000}); err != nil {
		t.Fatal(err)
	}
	if got := c.Read().Mono; got != 10_001e9 {
		t.Errorf("as the rate is changed: got %d", got)
	}
	now = 11_000e9
	if got := c.Read().Mono; got != 11_000e9 { // 1000 s at -0.1 %
		t.Errorf("1000 s at -1000 ppm: got %d, want %d", got, int64(11_000e9))
	}
	if err := c.Do(Event{Action: Rate, PPM: 1001}); err == nil {
		t.Error("1001 ppm: got no error")
	}
}

// However often it is stepped, a clock stays small, and where it was.
func TestManyEvents(t *testing.T) {
	var now int64
	c := New(base, func() int64 { return now })
	for range 2000 {
		now += 1e9
		for _, e := range []Event{{Action: Step, By: 3}, {Action: Strobe, By: 2, Every: 1, Times: 1}, {Action: Strobe, By: 2, Every: 1}, {Action: StrobeOff}} {
			if err := c.Do(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	now++
	if got := c.Read().Offset; got != 6000 {
		t.Errorf("got offset %d, want 2000 times 3", got)
	}
	if n := len(c.set.events); n > 250 || len(c.set.strobes) > 0 {
		t.Errorf("%d events and %d strobes are kept, want those of a minute", n, len(c.set.strobes))
	}
}

// Readings that others take while the clock is changed belong together.
func TestReadWhileChanging(t *testing.T) {
	c := New(time.Now(), nil)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			last := int64(0)
			for {
				i := c.Read()
				if i.Mono < last || i.Since1970() != c.Base().UnixNano()+i.Mono {
					t.Errorf("got %+v after %d", i, last)
					return
				}
				last = i.Mono
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 200 {
		for _, e := range []Event{{Action: Step, By: time.Second}, {Action: Slew, PPM: int64(i)}, {Action: Rate, PPM: int64(i)}, {Action: Freeze}, {Action: Resume}} {
			if err := c.Do(e); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	readers.Wait()
}

func TestParseScript(t *testing.T) {
	all, err := ParseScript(Script)
	if err != nil {
		t.Fatal(err)
	}
	want := []Scripted{
		{0, Event{At: 5 * time.Second, Action: Step, By: -10 * time.Second}},
		{0, Event{At: 8 * time.Second, Action: Slew, PPM: 500}},
		{2, Event{At: 9 * time.Second, Action: Freeze}},
		{2, Event{At: 10 * time.Second, Action: Resume}},
		{0, Event{At: 20 * time.Second, Action: Strobe, By: -time.Second, Every: 250 * time.Millisecond, Times: 40}},
		{3, Event{Action: Rate, PPM: 50}},
	}
	if len(all) != len(want) {
		t.Fatalf("got %v, want %v", all, want)
	}
	for i := range want {
		if all[i] != want[i] {
			t.Errorf("got %+v, want %+v", all[i], want[i])
		}
		if again, err := ParseScript(want[i].Event.String()); err != nil || again[0].Event != want[i].Event {
			t.Errorf("%v is read back as %v, %v", want[i].Event, again, err)
		}
	}
	if off, err := ParseScript("node 2 at 5s strobe off"); err != nil || off[0] != (Scripted{2, Event{At: 5 * time.Second, Action: StrobeOff}}) || off[0].Event.String() != "at 5s strobe off" {
		t.Errorf("strobe off: got %v, %v", off, err)
	}
	wrong := map[string]string{
		"":                                    "nothing is said",
		"at 5s":                               "does not say what happens",
		"at 5 step 1s":                        "give a duration such as 5s",
		"at -5s step 1s":                      "after the start",
		"node 0 step 1s":                      "number from 1",
		"step":                                "is not understood",
		"jump 5s":                             "is not understood",
		"step 5":                              "wants a signed duration",
		"slew 5%":                             "parts per million",
		"slew 600000ppm":                      "at most 500000ppm",
		"at 1s rate 5ppm":                     "leave out at",
		"rate 2000ppm":                        "at most 1000ppm",
		"strobe 1s every 0s":                  "a time above 0",
		"strobe 1s each 1s":                   "wants step, period",
		"strobe 1s every 1s for 3":            "wants step, period",
		"step 2000000h":                       "more than 50 years",
		"strobe 500000h every 1s":             "more than 50 years",
		"strobe 1s every 1s times 0":          "wants step, period",
		"strobe 1s every 1s times 1000000001": "1 to 1000000000 times",
		"strobe on":                           "is not understood",
	}
	for text, says := range wrong {
		if _, err := ParseScript(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want an error that says %q", text, err, says)
		}
	}
}
