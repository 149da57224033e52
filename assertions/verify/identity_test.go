package verify_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratehammer/ratehammer/assertions/verify"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// buckets is a handler with a bucket of 10 and 5/s for whatever of tells clients
// apart by.
func buckets(of func(*http.Request) string) http.Handler {
	type bucket struct {
		left float64
		at   time.Time
	}
	var mu sync.Mutex
	all := map[string]*bucket{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		b := all[of(r)]
		if b == nil {
			b = &bucket{10, now}
			all[of(r)] = b
		}
		b.left, b.at = min(10, b.left+5*now.Sub(b.at).Seconds()), now
		if b.left < 1-1e-9 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		b.left--
	})
}

// A handler is asked whether anything but its key tells clients apart.
func TestHandlerIdentity(t *testing.T) {
	key := func(r *http.Request) string { return r.Header.Get("X-Api-Key") }
	tests := []struct {
		name string
		of   func(*http.Request) string
		says string // empty: it is kept
	}{
		{"the key alone", key, ""},
		{"the address that X-Forwarded-For names", func(r *http.Request) string { return key(r) + r.Header.Get("X-Forwarded-For") }, "X-Forwarded-For chooses the budget"},
		{"a cookie", func(r *http.Request) string { return key(r) + r.Header.Get("Cookie") }, "the cookie session chooses the budget"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			r, err := verify.Check{Handler: buckets(tt.of), Limit: tenAndFive, Same: library.Identity(scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"})}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := results.Kept
			if tt.says != "" {
				want = results.Broken
			}
			if r.Status != want || !strings.Contains(r.Headline, tt.says) {
				t.Errorf("%s: got %v: %s, want %v, with %q", tt.name, r.Status, r.Headline, want, tt.says)
			}
		})
	}
}
