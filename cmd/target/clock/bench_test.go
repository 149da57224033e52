package clock

import (
	"testing"
	"time"
)

// What a reading costs: of a clock that nobody has touched, of one that was
// stepped, and of one that slews.
func BenchmarkRead(b *testing.B) {
	for name, events := range map[string][]Event{
		"untouched": nil,
		"stepped":   {{Action: Step, By: time.Second}},
		"slewing":   {{Action: Step, By: time.Second}, {Action: Slew, PPM: 500}},
	} {
		b.Run(name, func(b *testing.B) {
			c := New(time.Now(), nil)
			for _, e := range events {
				if err := c.Do(e); err != nil {
					b.Fatal(err)
				}
			}
			var sum int64
			for b.Loop() {
				sum += c.Read().Wall
			}
			_ = sum
		})
	}
}
