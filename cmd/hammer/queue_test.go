package main

import (
	"testing"

	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/results"
)

// Of a queue of one place more than promised nothing is broken, since nothing can
// be proved, and what speaks against it is told. On a busy machine answers are as
// late as if they had been held back, and less is told.
func TestQueuesOfMorePlacesAreTold(t *testing.T) {
	for _, tt := range []struct {
		queue string
		want  results.Status
	}{
		{"queue{burst=10,rate=5/s}", results.Kept},
		{"queue{burst=11,rate=5/s}", results.Inconclusive},
	} {
		t.Run(tt.queue, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "header:X-Api-Key", tt.queue)
			_, r := hammer(t, "check", s.URL(), "--contract", "queue", "--burst", "10", "--rate", "5/s")
			inOrder(t, r.Findings)
			if got := found(r.Findings, "queue.wait"); got.Status != tt.want && !short(r.Run) {
				t.Errorf("got queue.wait %v, want %v: %s", got.Status, tt.want, got.Text)
			}
			if r.Status == results.Broken {
				t.Errorf("got broken %q: %s", brokenChecks(r), r.Headline)
			}
		})
	}
}

// nginx, which holds requests back by a timer for each, is a queue in the order
// of arrival.
func TestNginxIsAQueue(t *testing.T) {
	t.Parallel()
	url := lab.Nginx(t, "limit_req_zone $http_x_api_key zone=z:1m rate=10r/s;", "location / { limit_req zone=z burst=20; }")
	_, r := hammer(t, "check", url, "--contract", "queue", "--burst", "20", "--rate", "10/s", "--limited", "503")
	inOrder(t, r.Findings)
	if r.Status == results.Broken {
		t.Errorf("got broken %q: %s", brokenChecks(r), r.Headline)
	}
	t.Log(r.Status, r.Headline, found(r.Findings, "queue.wait").Text)
}

func inOrder(t *testing.T, all []results.Finding) {
	t.Helper()
	if f := found(all, "queue.order"); f.Check == "" || f.Status == results.Broken {
		t.Errorf("got queue.order %v: %s", f.Status, f.Text)
	}
}

// found is the finding of an assertion; the zero finding: there is none.
func found(all []results.Finding, check string) results.Finding {
	for _, f := range all {
		if f.Check == check {
			return f
		}
	}
	return results.Finding{}
}
