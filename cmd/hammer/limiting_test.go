package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// limiterClock names the clock that a process which is a limiter goes by.
const limiterClock = "HAMMER_TEST_LIMITER"

// limiting makes this process a limiter, where it was started as one: a token bucket for
// each X-Api-Key, 4 tokens, 4 a second.
func limiting() bool {
	clock := os.Getenv(limiterClock)
	if clock == "" {
		return false
	}
	begun := time.Now()
	now := func() float64 { return time.Since(begun).Seconds() }
	if clock == "wall" {
		now = func() float64 { return float64(time.Now().UnixNano()) / 1e9 }
	}
	type bucket struct{ tokens, at float64 }
	buckets := map[string]*bucket{}
	var mu sync.Mutex
	err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key, t := r.Header.Get("X-Api-Key"), now()
		b := buckets[key]
		if b == nil {
			b = &bucket{4, t}
			buckets[key] = b
		}
		b.tokens = min(4, b.tokens+(t-b.at)*4)
		if b.at = t; b.tokens < 1 {
			w.Header().Set("Retry-After", fmt.Sprint(1+int((1-b.tokens)/4)))
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		b.tokens--
	}))
	fmt.Fprintln(os.Stderr, err)
	return true
}
