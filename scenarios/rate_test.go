package scenarios

import (
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	tests := []struct {
		in   string
		want Rate
		text string
	}{
		{"5/1s", Rate{5, time.Second}, "5/s"},
		{"5/s", Rate{5, time.Second}, "5/s"},
		{"100/m", Rate{100, time.Minute}, "100/m"},
		{"1/10s", Rate{1, 10 * time.Second}, "1/10s"},
		{"0.5/s", Rate{5, 10 * time.Second}, "5/10s"},
		{"2.50/s", Rate{25, 10 * time.Second}, "25/10s"},
		{"1000/day", Rate{1000, 24 * time.Hour}, "1000/d"},
		{"6/min", Rate{6, time.Minute}, "6/m"},
		{"7/1m30s", Rate{7, 90 * time.Second}, "7/90s"},
		{"3/250ms", Rate{3, 250 * time.Millisecond}, "3/250ms"},
	}
	for _, tt := range tests {
		got, err := ParseRate(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseRate(%q): got %v, %v, want %v", tt.in, got, err, tt.want)
		}
		if got.String() != tt.text {
			t.Errorf("%v.String(): got %q, want %q", got, got.String(), tt.text)
		}
	}
}

func TestParseRateErrors(t *testing.T) {
	for _, in := range []string{"", "5", "5/", "/s", "0/s", "-5/s", "5r/s", "5/x", "5/0s", "5/-1s", "1e3/s", "5.5.5/s", "99999999999999999999/s", "5/s/s", "1.0000000001/s"} {
		if got, err := ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q): got %v, want an error", in, got)
		}
	}
}

func TestRateArithmetic(t *testing.T) {
	r := Rate{100, time.Minute}
	// 100 a minute is 1 token in 0.6 s.
	if got, want := r.Time(1), 600*time.Millisecond; got != want {
		t.Errorf("Time(1): got %v, want %v", got, want)
	}
	if got, want := r.Tokens(59*time.Second), int64(98); got != want {
		t.Errorf("Tokens(59s): got %d, want %d", got, want)
	}
	if r.Cmp(Rate{5, 3 * time.Second}) != 0 {
		t.Errorf("100/m and 5/3s are the same rate")
	}
	if got, want := r.Times(101, 100), (Rate{101, time.Minute}); got.Cmp(want) != 0 {
		t.Errorf("Times(101, 100): got %v, want %v", got, want)
	}
	if got := (Rate{3, time.Second}).Time(1); got != 333333334 {
		t.Errorf("Time(1) at 3/s: got %v, want it rounded up", int64(got))
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"5/1s", "0.5/s", "100/m", "1/10s", "1/1h0.5s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if r.Count <= 0 || r.Per <= 0 {
			t.Fatalf("ParseRate(%q) = %#v", s, r)
		}
		again, err := ParseRate(r.String())
		if err != nil || again != r {
			t.Fatalf("ParseRate(%q) = %#v, printed %q, read back %#v, %v", s, r, r.String(), again, err)
		}
	})
}
