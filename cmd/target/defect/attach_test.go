package defect_test

import (
	"net/http"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// 1000 requests to each of two paths, where 10 are declared on both together.
func TestAttach(t *testing.T) {
	tests := []struct {
		defects     []string
		real, other int
	}{
		{nil, 10, 0},
		{[]string{"attach{path=/other}"}, 1000, 10},
		{[]string{"attach{form=report-only}"}, 1000, 1000},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: hour10, defects: tt.defects})
		at := func(path string) func(int) *http.Request {
			return func(int) *http.Request { return request(path, "X-Api-Key", "a") }
		}
		if got := s.count(0, 1000, at("/")); got != tt.real {
			t.Errorf("%v: got %d admitted, want %d", tt.defects, got, tt.real)
		}
		if got := s.count(0, 1000, at("/other/../other/x")); got != tt.other {
			t.Errorf("%v: on its own path: got %d admitted, want %d", tt.defects, got, tt.other)
		}
	}
}

// Report-only tells the truth of what is left, and takes nothing more.
func TestReportOnlyTells(t *testing.T) {
	s := simulate(t, site{limit: hour10, defects: []string{"attach{form=report-only}"}, answers: dialect.Settings{Fields: []string{"x-ratelimit"}}})
	s.count(0, 10, same("a"))
	res := s.ask(0, by("a"))
	if got := s.header(res, "X-RateLimit-Remaining"); got != 0 || res.Header.Get("Retry-After") != "" {
		t.Errorf("got %d left and Retry-After %s, want 0 and none", got, res.Header.Get("Retry-After"))
	}
	if r := s.last(); !r.Admitted || r.Before != r.After {
		t.Errorf("got %+v, want an admission for nothing", r)
	}
}
