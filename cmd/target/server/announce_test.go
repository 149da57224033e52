package server

import (
	"testing"
	"time"
)

func TestPolicy(t *testing.T) {
	tests := []struct{ limit, want string }{
		{"token-bucket{burst=10,rate=5/s}", `"default";q=10;w=2`},
		{"token-bucket{burst=10,rate=1/s}", `"default";q=10;w=10`},
		{"token-bucket{burst=100,rate=100/m}", `"default";q=100;w=60`},
		{"token-bucket{burst=5,rate=100/m}", `"default";q=5;w=3`},
		// 3 tokens at 2/s take 1.5 s, 10 at 3/s 3.33 s: no whole w gives the rate.
		{"token-bucket{burst=3,rate=2/s}", `"default";q=3`},
		{"token-bucket{burst=10,rate=3/s}", `"default";q=10`},
		// 1 at 7/7.000000001s takes 1.000000000143 s.
		{"token-bucket{burst=1,rate=7/7000000001ns}", `"default";q=1`},
	}
	for _, tt := range tests {
		cfg := byHeader(t, tt.limit)
		cfg.Announce = true
		if got := newRig(t, cfg).get("a").Header.Get("RateLimit-Policy"); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.limit, got, tt.want)
		}
	}
}

func TestAnnounce(t *testing.T) {
	cfg := byHeader(t, "token-bucket{burst=2,rate=1/s}")
	cfg.Announce = true
	r := newRig(t, cfg)
	tests := []struct {
		at     time.Duration
		key    string
		status int
		left   string
	}{
		{0, "a", 200, `"default";r=1`},
		{0, "a", 200, `"default";r=0`},
		{0, "a", 429, `"default";r=0`},
		{1500 * time.Millisecond, "a", 200, `"default";r=0`}, // 1.5 - 1
		{0, "", 400, ""},                                     // the limiter was not asked
	}
	for i, tt := range tests {
		r.now = tt.at
		res := r.get(tt.key)
		if got := res.Header.Get("RateLimit"); res.StatusCode != tt.status || got != tt.left {
			t.Errorf("request %d: got %d, %s, want %d, %s", i, res.StatusCode, got, tt.status, tt.left)
		}
		if got := res.Header.Get("RateLimit-Policy"); got != `"default";q=2;w=2` {
			t.Errorf("request %d: got policy %s", i, got)
		}
	}
	cfg.Announce = false
	if h := newRig(t, cfg).get("a").Header; h.Get("RateLimit") != "" || h.Get("RateLimit-Policy") != "" {
		t.Errorf("not announced: got %v, want no such headers", h)
	}
}
