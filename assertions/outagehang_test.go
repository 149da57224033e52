package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// hanging are requests every 350 ms for 9 s that are answered at once, but those that are
// sent while a store is away, from 3 to 5 s: these once it is there again, or never, as
// hammer gives them up after the timeout.
func hanging(timeout time.Duration) (hits []results.Hit) {
	const from, to = 3 * time.Second, 5 * time.Second
	for at := time.Duration(0); at < 9*time.Second; at += 350 * time.Millisecond {
		h := results.Hit{Key: "a", Cost: 1, Sent: int64(at), First: int64(at + time.Millisecond), Done: int64(at + time.Millisecond), Status: 200, Outcome: results.Admitted}
		if at > from && at < to {
			h.First, h.Done = int64(to+10*time.Millisecond), int64(to+10*time.Millisecond)
		}
		if time.Duration(h.First-h.Sent) > timeout {
			h.First, h.Done, h.Status, h.Outcome, h.Err = results.Never, h.Sent+int64(timeout), 0, results.Unknown, results.NoAnswer
		}
		hits = append(hits, h)
	}
	return hits
}

func awayBetween(from, to time.Duration, want scenarios.Expect) []results.Mark {
	back := markAt(to, results.MarkFault, scenarios.StoreRestore, 0, want)
	back.Back = true
	return []results.Mark{markAt(from, results.MarkFault, scenarios.StoreCut, 0, want), back}
}

// A limiter that hangs is found to, whether hammer waits for longer than the outage lasts
// or for less, and is not taken for another. What began to be waited for when it was
// nearly over says nothing, and neither does it accuse a limiter that only is slow.
func TestHanging(t *testing.T) {
	tests := []struct {
		timeout time.Duration
		want    scenarios.Expect
		status  results.Status
		level   results.Level
		says    string
	}{
		{10 * time.Second, "hang", results.Kept, results.Must, "not answered while that lasted"},
		{1500 * time.Millisecond, "hang", results.Kept, results.Must, "not answered within 1 s"},
		{time.Second - time.Nanosecond, "hang", results.Kept, results.Must, "not answered within 1 s"},
		{300 * time.Millisecond, "hang", results.Kept, results.Must, "not answered within 300 ms"},
		{300 * time.Millisecond, "closed", results.Broken, results.Must, "that looks like hang"},
		{10 * time.Second, "", results.Kept, results.Info, "that looks like hang"},
		{10 * time.Second, "closed", results.Inconclusive, results.Must, "let it last longer"},
	}
	for _, tt := range tests {
		v := judgeMarked(t, promised(4, 4, time.Second), hanging(tt.timeout), awayBetween(3*time.Second, 5*time.Second, tt.want)...)
		f, _ := foundOf(v, CheckOutage)
		if f.Status != tt.status || f.Level != tt.level || !strings.Contains(f.Text, tt.says) {
			t.Errorf("--timeout %v, declared %q: got %v, %v: %s", tt.timeout, tt.want, f.Status, f.Level, f.Text)
		}
	}
}

// As declared is what five requests show; one that is not is a proof.
func TestFewWhileAway(t *testing.T) {
	tests := []struct {
		to     time.Duration // the store is away from 3 s on
		want   scenarios.Expect
		status results.Status
	}{
		{3900 * time.Millisecond, "closed", results.Inconclusive},
		{5 * time.Second, "closed", results.Kept},
		{3900 * time.Millisecond, "open", results.Broken},
	}
	for _, tt := range tests {
		v := judgeMarked(t, promised(4, 4, time.Second), failing(3*time.Second, tt.to), awayBetween(3*time.Second, tt.to, tt.want)...)
		if f, _ := foundOf(v, CheckOutage); f.Status != tt.status {
			t.Errorf("until %v, declared %s: got %v: %s", tt.to, tt.want, f.Status, f.Text)
		}
	}
}
