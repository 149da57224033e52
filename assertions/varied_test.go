package assertions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// volleyOf are so many requests at once in a phase on a key, of which the first are
// admitted.
func volleyOf(hits []results.Hit, phase int32, key string, at time.Duration, n, admitted int) []results.Hit {
	for i := range n {
		h := results.Hit{Seq: int64(len(hits) + 1), Phase: phase, Key: key, Cost: 1, Sent: int64(at), First: int64(at + time.Millisecond), Done: int64(at + time.Millisecond), Outcome: results.Admitted, Status: 200}
		if i >= admitted {
			h.Outcome, h.Status = results.Limited, 429
		}
		hits = append(hits, h)
	}
	return hits
}

// What was varied is in the words of what is broken; that it was the reason is only
// said where the rest keeps the promise.
func TestVariedWords(t *testing.T) {
	spoof := scenarios.Vary{Part: scenarios.PartHeader, Name: "X-Forwarded-For", Values: []string{"{ip}, {key}"}}
	thief := spoof
	thief.Other = "victim"
	fresh := scenarios.Keys{Fresh: 5}
	phases := []scenarios.Phase{
		{Name: "volley", Volley: 15, Keys: fresh},
		{Name: "spoof", Volley: 15, Keys: fresh, Vary: spoof},
		{Name: "victim", Volley: 1, Keys: fresh},
		{Name: "thief", Volley: 15, Keys: fresh, Vary: thief},
		{Name: "victim-after", Volley: 9, Keys: scenarios.Keys{Of: "victim"}},
	}
	tests := []struct {
		name                    string
		plain, spoofed, victims int // admitted of 15, of 15, of 9
		status                  results.Status
		says                    map[string]string // by check
		cause                   string
	}{
		{"right", 10, 10, 9, results.Kept, map[string]string{CheckUpper: "not once too much in 5 volleys on keys of their own: what happens in a share p of them has p < 3/5 = 60 %, with 95 %"}, ""},
		{"leftmost", 10, 15, 0, results.Broken, map[string]string{
			CheckUpper: "with X-Forwarded-For changed each time: X-Forwarded-For chooses the budget",
			CheckLower: "after another client had written this one's address into X-Forwarded-For: who writes it there spends its budget"}, "who changes X-Forwarded-For has a fresh budget each time"},
		{"only the victim", 10, 10, 0, results.Broken, map[string]string{
			CheckLower: "who writes it there spends its budget"}, "who writes another's address into X-Forwarded-For spends that client's budget"},
		{"wrong in any case", 14, 14, 9, results.Broken, nil, "perhaps its numbers are others"}, // or a race: all of these overlap,
	}
	for _, tt := range tests {
		limit := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 1, Per: time.Second}, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Forwarded-For", Trusted: 1}, Slack: scenarios.DefaultSlack()}
		j, err := New([]scenarios.Limit{limit}, Options{Fresh: true, Phases: phases})
		if err != nil {
			t.Fatal(err)
		}
		var hits []results.Hit
		for i := range 5 {
			hits = volleyOf(hits, 0, fmt.Sprintf("volley/%d", i), time.Duration(i)*100*time.Millisecond, 15, tt.plain)
		}
		hits = volleyOf(hits, 1, "spoof/1", time.Second, 15, tt.spoofed)
		hits = volleyOf(hits, 2, "victim/1", 2*time.Second, 1, 1)
		hits = volleyOf(hits, 3, "thief/1", 2100*time.Millisecond, 15, tt.spoofed)
		hits = volleyOf(hits, 4, "victim/1", 2200*time.Millisecond, 9, tt.victims)
		for _, b := range results.Blocks(hits) {
			j.Block(b)
		}
		v := j.Verdict(&results.Run{Sent: int64(len(hits)), Planned: int64(len(hits))})
		if v.Status != tt.status {
			t.Errorf("%s: got %v: %s", tt.name, v.Status, v.Headline)
		}
		for _, f := range v.Findings {
			want := tt.says[f.Check]
			if !strings.Contains(f.Text, want) {
				t.Errorf("%s: %s says %q, want %q in it", tt.name, f.Check, f.Text, want)
			}
			if tt.name == "wrong in any case" && strings.Contains(f.Text, "chooses") {
				t.Errorf("%s: %s blames what was varied: %q", tt.name, f.Check, f.Text)
			}
		}
		cause := ""
		if len(v.Causes) > 0 {
			cause = v.Causes[0].Text
		}
		if !strings.HasPrefix(cause, tt.cause) || tt.cause == "" && cause != "" {
			t.Errorf("%s: got the cause %q, want %q", tt.name, cause, tt.cause)
		}
	}
}
