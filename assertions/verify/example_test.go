package verify_test

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/ratehammer/ratehammer/assertions/verify"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// perKey limits each X-Api-Key with golang.org/x/time/rate.
func perKey(r rate.Limit, burst int) http.Handler {
	var mu sync.Mutex
	limiters := map[string]*rate.Limiter{}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		l := limiters[req.Header.Get("X-Api-Key")]
		if l == nil {
			l = rate.NewLimiter(r, burst)
			limiters[req.Header.Get("X-Api-Key")] = l
		}
		mu.Unlock()
		if !l.Allow() {
			wait := (1 - l.Tokens()) / float64(r) // seconds
			w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait)))))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
}

var tenAndFive = scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second},
	Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}

// A middleware on golang.org/x/time/rate, held to its promise in virtual time.
func TestRateLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := verify.Handler(perKey(5, 10), tenAndFive); err != nil {
			t.Fatal(err)
		}
	})
}

// edged counts requests per window of 2 s, and admits twice the limit around its
// edge: the bug that counters have.
func edged(limit int) http.Handler {
	var mu sync.Mutex
	counts := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		window := time.Now().Truncate(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		slot := req.Header.Get("X-Api-Key") + window.String()
		if counts[slot]++; counts[slot] > limit {
			left := time.Until(window.Add(2 * time.Second))
			w.Header().Set("Retry-After", strconv.Itoa(int((left+time.Second-1)/time.Second)))
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
}

// A middleware that promises a bucket and counts in windows is found out, and the
// error carries the window, the numbers and the requests.
func TestBoundaryBug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := verify.Handler(edged(10), tenAndFive)
		if err == nil {
			t.Fatal("got no error")
		}
		for _, want := range []string{"BROKEN", "bound.upper", "requests admitted within", "burst 10 and 5/s allow", "fixed window"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error does not say %q:\n%v", want, err)
			}
		}
	})
}

// A limiter off by one in either direction, by 2 % of its rate, and what is
// wrong with a promise.
func TestEdges(t *testing.T) {
	tests := []struct {
		name   string
		h      http.Handler
		broken bool
	}{
		{"one too many", perKey(5, 11), true},
		{"one too few", perKey(5, 9), true},
		{"2 % too fast", perKey(5.1, 10), true},
		{"2 % too slow", perKey(4.9, 10), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := verify.Handler(tt.h, tenAndFive); (err != nil) != tt.broken {
					t.Errorf("got %v, want broken %v", err, tt.broken)
				}
			})
		})
	}
	if err := verify.Handler(perKey(5, 10), scenarios.Limit{}); err == nil || !strings.Contains(err.Error(), "burst 0") {
		t.Errorf("a limit without numbers: got %v, want an error about its burst", err)
	}
}

// A promise that was kept says how small an error would have been seen.
func TestSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := verify.Check{Handler: perKey(5, 10), Limit: tenAndFive, Seed: 2}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != results.Kept || len(r.Resolutions) != 1 {
			t.Fatalf("got %v with %d resolutions, want kept with one: %s", r.Status, len(r.Resolutions), r.Headline)
		}
		if pct := r.Resolutions[0].RatePct; pct == nil || *pct > 0.5 {
			t.Errorf("got a sight of %v %% of the rate, want one of less than 0.5", pct)
		} else {
			t.Logf("an error of %.3f %% in the rate would have been seen", *pct)
		}
	})
}

// Handlers that panic, and such as never limit anything, do not pass.
func TestHandlersThatDoNotLimit(t *testing.T) {
	tests := []struct {
		name string
		h    http.HandlerFunc
		says string
	}{
		{"free for all", func(http.ResponseWriter, *http.Request) {}, "BROKEN"},
		{"panics", func(http.ResponseWriter, *http.Request) { panic("no limiter") }, "INCONCLUSIVE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := verify.Handler(tt.h, tenAndFive); err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v, want %s", err, tt.says)
				}
			})
		})
	}
}
