package scenarios

import (
	"strings"
	"testing"
	"time"
)

func TestParseExpect(t *testing.T) {
	tests := []struct {
		text Expect
		want Expected
		err  string // in it; empty: there is none
	}{
		{"", Expected{}, ""},
		{"fresh", Expected{Fresh: true, Notices: DefaultNotices, Recovers: DefaultRecovers}, ""},
		{"closed, fresh", Expected{Policy: ExpectClosed, Fresh: true, Notices: DefaultNotices, Recovers: DefaultRecovers}, ""},
		{"open,notices=1s,recovers=30s", Expected{Policy: ExpectOpen, Notices: time.Second, Recovers: 30 * time.Second}, ""},
		{"local,burst=3,rate=1/s,nodes=2", Expected{Policy: ExpectLocal, Burst: 3, Rate: Rate{1, time.Second}, Nodes: 2, Notices: DefaultNotices, Recovers: DefaultRecovers}, ""},
		{"opne", Expected{}, `"opne" is not known: write fresh, open`},
		{"open,closed", Expected{}, "a limiter does one of them"},
		{"open,burst=3", Expected{}, "of a budget that each node has"},
		{"recovers=5s", Expected{}, "nothing is declared"},
		{"local,burst=0", Expected{}, "no number from 1 on"},
		{"open,recovers=soon", Expected{}, "is no time"},
		{"local,rate=3", Expected{}, "has no period"},
		{"open,colour=red", Expected{}, "settings are notices=1s"},
	}
	for _, tt := range tests {
		got, err := ParseExpect(tt.text)
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%q: got %+v, %v", tt.text, got, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: got %v, want %q", tt.text, err, tt.err)
		}
	}
}

// The budget of all nodes together: 2 x (3 and 1/s); without numbers that of the limit.
func TestLocalBudget(t *testing.T) {
	l := Limit{Contract: FixedWindow, Rate: Rate{10, 2 * time.Second}, Align: AlignEpoch}
	x, err := ParseExpect("local,burst=3,rate=1/s,nodes=2")
	if err != nil {
		t.Fatal(err)
	}
	if got := x.Local(l); got.Contract != TokenBucket || got.Burst != 6 || got.Rate != (Rate{2, time.Second}) {
		t.Errorf("got %+v", got)
	}
	if got := (Expected{Policy: ExpectLocal}).Local(l); got.Burst != 10 || got.Rate != l.Rate {
		t.Errorf("got %+v", got)
	}
}
