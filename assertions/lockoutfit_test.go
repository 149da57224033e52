package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

func onTime(at time.Duration) time.Duration { return at }

// one refuses a single request that it should not, the first behind a moment.
func one(behind time.Duration, admits func(time.Duration) bool) func(time.Duration) bool {
	done := false
	return func(at time.Duration) bool {
		admitted := admits(at)
		if admitted && at > behind && !done {
			done, admitted = true, false
		}
		return admitted
	}
}

// One refusal of one client that no reckoning by the clock explains is told as what it
// is, and not as what the clock did.
func TestOneRefusalIsNoLockout(t *testing.T) {
	const step = 3 * time.Second
	l := promised(4, 4, time.Second)
	mark := markAt(step, results.MarkClock, scenarios.ClockStep, -6*time.Second, "")
	polled := func() []results.Hit { return saturated("a", 0, 12*time.Second, bucketOn(onTime)) }
	tests := []struct {
		name string
		hits []results.Hit
		says string
	}{
		{"of a client that came behind it", append(polled(), saturated("b", step+time.Second, step+1200*time.Millisecond, one(0, bucketOn(onTime)))...), "had asked nothing before it"},
		{"of a client that others do not share it with", append(polled(), saturated("b", step-100*time.Millisecond, step+100*time.Millisecond, one(step, bucketOn(onTime)))...), "the move is not shown to be the reason"},
	}
	for _, tt := range tests {
		v := judgeMarked(t, l, tt.hits, mark)
		if f := theFinding(v, CheckLockout); f.Status == results.Broken || !strings.Contains(f.Text, tt.says) || !strings.Contains(f.Text, "1 request was refused wrongly") {
			t.Errorf("%s: got %v: %s", tt.name, f.Status, f.Text)
		}
		if f := theFinding(v, CheckLower); f.Status != results.Broken {
			t.Errorf("%s: %s: got %v", tt.name, CheckLower, f.Status)
		}
		for _, c := range v.Causes {
			if strings.Contains(c.Text, "was stepped") || strings.Contains(c.Text, mark.Text) {
				t.Errorf("%s: the clock is blamed: %s", tt.name, c.Text)
			}
		}
	}
}

// What was answered before the step began was not decided behind it, and a request that
// was answered behind it is no reason to ask nothing.
func TestRefusalAcrossTheStep(t *testing.T) {
	const step, by = 3 * time.Second, 2 * time.Second
	l := promised(4, 4, time.Second)
	back := func(at time.Duration) time.Duration {
		if at > step {
			return at - by
		}
		return at
	}
	mark := markAt(step, results.MarkClock, scenarios.ClockStep, -by, "")
	locked := saturated("a", 0, 8*time.Second, bucketOn(back))
	for _, answered := range []time.Duration{-5 * time.Millisecond, 20 * time.Millisecond} {
		across := saturated("b", step-10*time.Millisecond, step, func(time.Duration) bool { return false })
		across[0].First, across[0].Done = int64(step+answered), int64(step+answered)
		f := theFinding(judgeMarked(t, l, append(append([]results.Hit(nil), locked...), across...), mark), CheckLockout)
		if broken := f.Status == results.Broken; broken != (answered > 0) {
			t.Errorf("answered %v behind the step: got %v: %s", answered, f.Status, f.Text)
		}
	}
}

// The kind of the declared contract is named first, and the silence seen is not longer
// than what is said to be the most.
func TestKindOfTheContractFirst(t *testing.T) {
	const d, silence = 5 * time.Second, 5590 * time.Millisecond
	l := promised(0, 10, time.Second)
	l.Contract, l.Burst, l.Align = scenarios.FixedWindow, 0, scenarios.AlignFirstHit
	k := kindsOf(l, int64(d))[0]
	if !k.fits(&locked{silence: int64(silence)}) || !strings.Contains(k.text, "locks windows") || time.Duration(k.most) < silence {
		t.Errorf("got %v at most: %s", time.Duration(k.most), k.text)
	}
	if k := kindsOf(promised(10, 5, time.Second), int64(d))[0]; !strings.Contains(k.text, "locks a bucket") {
		t.Errorf("got %s", k.text)
	}
	if kindsOf(l, -int64(d)) != nil {
		t.Error("a step forward locks out nobody")
	}
}
