package defect

import (
	"testing"
	"time"
)

func TestIdle(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		defects []string
		rest    time.Duration
		want    int // of 50 after it, from b = 5 and r = 2/s, drained before
	}{
		{nil, 10 * time.Second, 5},
		{[]string{"idle{form=uncapped}"}, 10 * time.Second, 20},
		{[]string{"idle{form=uncapped}"}, 2 * time.Second, 4},
		{nil, 12 * time.Hour, 5},
		{nil, 300 * day, 5},
		{[]string{"idle{form=overflow}"}, 12*time.Hour - 1, 5},
		{[]string{"idle{form=overflow}"}, 12 * time.Hour, 0},
		{[]string{"idle{form=overflow}"}, 23 * time.Hour, 0},
		{[]string{"idle{form=overflow}"}, 25 * time.Hour, 5},                     // it has wrapped round, and an hour is left
		{[]string{"idle{form=overflow}"}, 300*day + time.Second, 2},              // 600 times 12 h, and a second
		{[]string{"idle{form=overflow,after=170h}"}, 300*day + 120*time.Hour, 0}, // 21 times 340 h, and 180 h
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=5,rate=2/s}", tt.defects...)
		r.volley("a", 10)
		r.now = tt.rest
		if got := r.volley("a", 50); got != tt.want {
			t.Errorf("%v after %v: got %d, want %d", tt.defects, tt.rest, got, tt.want)
		}
	}
}
