package assertions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

func foundOf(v results.Verdict, check string) (f results.Finding, ok bool) {
	n := slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == check })
	if n < 0 {
		return f, false
	}
	return v.Findings[n], true
}

// failing are requests on one key inside the limit, every 300 ms for 14 s, that are
// answered 503 in a time.
func failing(from, to time.Duration) (hits []results.Hit) {
	for at := time.Duration(0); at < 14*time.Second; at += 300 * time.Millisecond {
		h := results.Hit{Key: "a", Cost: 1, Sent: int64(at), First: int64(at + time.Millisecond), Done: int64(at + time.Millisecond), Status: 200, Outcome: results.Admitted}
		if at > from && at < to {
			h.Status, h.Outcome = 503, results.Unknown
		}
		hits = append(hits, h)
	}
	return hits
}

// A store is away from 3 to 5 s, and requests fail for longer or shorter than that.
func TestRecovery(t *testing.T) {
	const end = 20 * time.Second
	tests := []struct {
		name   string
		until  time.Duration // requests fail
		want   scenarios.Expect
		policy results.Status
		status results.Status // of the recovery
		level  results.Level
		says   string
	}{
		{"at once", 5 * time.Second, "closed", results.Kept, results.Kept, results.Must, "later a request was admitted"},
		{"within what is granted", 6500 * time.Millisecond, "closed", results.Kept, results.Kept, results.Must, "later a request was admitted"},
		{"later, and nothing was said of it", 9 * time.Second, "closed", results.Kept, results.Broken, results.Should, "where 2 s were declared or granted"},
		{"later than declared", 9 * time.Second, "closed,recovers=1s", results.Kept, results.Broken, results.Must, "where 1 s were declared or granted"},
		{"as declared", 9 * time.Second, "error,recovers=5s", results.Kept, results.Kept, results.Must, "later a request was admitted"},
		{"never", end, "closed,recovers=2s", results.Kept, results.Broken, results.Must, "still was answered with 503"},
		{"never, undeclared", end, "", results.Kept, results.Inconclusive, results.Info, "nothing was admitted"},
		{"another policy than declared", 5 * time.Second, "open", results.Broken, results.Kept, results.Must, "later a request was admitted"},
	}
	for _, tt := range tests {
		back := markAt(5*time.Second, results.MarkFault, scenarios.StoreRestore, 0, tt.want)
		back.Back = true
		v := judgeMarked(t, promised(4, 4, time.Second), failing(3*time.Second, tt.until), markAt(3*time.Second, results.MarkFault, scenarios.StoreCut, 0, tt.want), back)
		if f, ok := foundOf(v, CheckOutage); !ok || f.Status != tt.policy {
			t.Errorf("%s: got %v: %s", tt.name, f.Status, f.Text)
		}
		f, ok := foundOf(v, CheckRecovery)
		if !ok || f.Status != tt.status || f.Level != tt.level || !strings.Contains(f.Text, tt.says) {
			t.Errorf("%s: got %v, %v: %s", tt.name, f.Status, f.Level, f.Text)
		}
	}
}

// One request that is lost proves nothing; that all are does. What is sent in the
// moment in which a limiter may not have noticed yet proves nothing either.
func TestOutageProofs(t *testing.T) {
	cut := markAt(3*time.Second, results.MarkFault, scenarios.StoreCut, 0, "open")
	change := func(f func(h *results.Hit)) (hits []results.Hit) {
		hits = failing(0, 0)
		for i := range hits {
			f(&hits[i])
		}
		return hits
	}
	tests := []struct {
		name string
		hits []results.Hit
		want results.Status
	}{
		{"one is not answered", change(func(h *results.Hit) {
			if h.Sent == int64(6*time.Second) {
				h.First, h.Status, h.Outcome = results.Never, 0, results.Unknown
			}
		}), results.Kept},
		{"none is answered", change(func(h *results.Hit) {
			if h.Sent > int64(3*time.Second) {
				h.First, h.Status, h.Outcome = results.Never, 0, results.Unknown
			}
		}), results.Broken},
		{"one is refused at once", change(func(h *results.Hit) {
			if h.Sent = h.Sent + int64(50*time.Millisecond); h.Sent == int64(3050*time.Millisecond) {
				h.First, h.Done, h.Status, h.Outcome = h.Sent+1, h.Sent+1, 429, results.Limited
			} else {
				h.First, h.Done = h.Sent+1, h.Sent+1
			}
		}), results.Kept},
		{"one is refused later", change(func(h *results.Hit) {
			if h.Sent == int64(6*time.Second) {
				h.Status, h.Outcome = 429, results.Limited
			}
		}), results.Broken},
	}
	for _, tt := range tests {
		v := judgeMarked(t, promised(4, 4, time.Second), tt.hits, cut)
		if f, _ := foundOf(v, CheckOutage); f.Status != tt.want {
			t.Errorf("%s: got %v: %s", tt.name, f.Status, f.Text)
		}
	}
}

// A budget that begins anew behind a restart is told apart from one that does not, and
// from one that was declared to.
func TestBudgetAcrossRestart(t *testing.T) {
	same := func(t time.Duration) time.Duration { return t }
	one, other := bucketOn(same), bucketOn(same)
	forgets := saturated("a", 0, 6*time.Second, func(at time.Duration) bool {
		if at < 3*time.Second {
			return one(at)
		}
		return other(at)
	})
	tests := []struct {
		name   string
		hits   []results.Hit
		free   scenarios.Expect
		status results.Status
		level  results.Level
	}{
		{"forgotten", forgets, "", results.Broken, results.Must},
		{"forgotten, as declared", forgets, "fresh", results.Inconclusive, results.Info},
		{"kept", saturated("a", 0, 6*time.Second, bucketOn(same)), "", results.Kept, results.Must},
		{"not asked for", saturated("a", 0, 2*time.Second, bucketOn(same)), "", results.Inconclusive, results.Info},
	}
	for _, tt := range tests {
		v := judgeMarked(t, promised(4, 4, time.Second), slices.Clone(tt.hits), markAt(2960*time.Millisecond, results.MarkFault, scenarios.ProcessRestart, 0, tt.free))
		if f, _ := foundOf(v, CheckCarried); f.Status != tt.status || f.Level != tt.level {
			t.Errorf("%s: got %v, %v: %s", tt.name, f.Status, f.Level, f.Text)
		}
	}
}
