package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// What HEAD and OPTIONS cost under each policy: the bucket has one token, which
// a GET takes first.
func TestHeadAndOptions(t *testing.T) {
	preflight := http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"POST"}}
	tests := []struct {
		name   string
		route  Route
		method string
		header http.Header
		status int
	}{
		{"HEAD by default", Route{}, "HEAD", nil, 429},
		{"HEAD limited", Route{Head: "limited"}, "HEAD", nil, 429},
		{"HEAD free", Route{Head: "free"}, "HEAD", nil, 200},
		{"OPTIONS by default", Route{}, "OPTIONS", nil, 429},
		{"OPTIONS limited", Route{Options: "limited"}, "OPTIONS", preflight, 429},
		{"OPTIONS free", Route{Options: "free"}, "OPTIONS", nil, 204},
		{"a preflight is free", Route{Options: "preflight"}, "OPTIONS", preflight, 204},
		{"no preflight", Route{Options: "preflight"}, "OPTIONS", nil, 429},
		{"no preflight without a method", Route{Options: "preflight"}, "OPTIONS", http.Header{"Origin": {"https://app.example"}}, 429},
		{"a preflight where pages may read", Route{Origins: []string{"*"}}, "OPTIONS", preflight, 204},
		{"OPTIONS where pages may read", Route{Origins: []string{"*"}}, "OPTIONS", nil, 429},
		{"a preflight is limited where that is said", Route{Origins: []string{"*"}, Options: "limited"}, "OPTIONS", preflight, 429},
		{"only GET and HEAD are exempt", Route{Exempt: []string{"/"}}, "OPTIONS", nil, 429},
		{"a free method of others", Route{Head: "free", Options: "free"}, "POST", nil, 429},
	}
	for _, tt := range tests {
		r := newRig(t, routed(t, "token-bucket{burst=1,rate=1/h}", tt.route))
		r.do(request("POST", "/", "a", ""))
		req := request(tt.method, "/", "a", "")
		for name, values := range tt.header {
			req.Header[name] = values
		}
		res := r.do(req)
		if res.StatusCode != tt.status {
			t.Errorf("%s: got %d, want %d", tt.name, res.StatusCode, tt.status)
		}
		if allow := res.Header.Get("Allow"); (allow != "") != (tt.status == 204) {
			t.Errorf("%s: got Allow %q with a %d", tt.name, allow, res.StatusCode)
		}
		want := 2
		if tt.status != 429 {
			want = 1 // a free one leaves no truth
		}
		if records, _ := r.Truth(); len(records) != want {
			t.Errorf("%s: got %d decisions, want %d", tt.name, len(records), want)
		}
	}
}

// Paths of a route's own that reading is not limited on.
func TestExempt(t *testing.T) {
	r := newRig(t, routed(t, "token-bucket{burst=1,rate=1/h}", Route{Exempt: []string{"/up", "/files/"}, Mode: parse(t, "order")}))
	r.get("a")
	for path, free := range map[string]bool{"/up": true, "/up/": true, "/files/x": true, "/files": false, "/upp": false, "/files/../x": false, "/health": false} {
		want := 429
		if free {
			want = 200
		}
		if got := r.do(request("GET", path, "a", "")).StatusCode; got != want {
			t.Errorf("GET %s: got %d, want %d", path, got, want)
		}
		if got := r.do(request("DELETE", path, "a", "")).StatusCode; got != 429 {
			t.Errorf("DELETE %s: got %d, want 429", path, got)
		}
	}
}

// A page in a browser can read refusals and errors as it can read answers, and
// the headers that say when to come back.
func TestOrigins(t *testing.T) {
	tests := []struct {
		origins []string
		origin  string
		allowed string // Access-Control-Allow-Origin
		vary    string
	}{
		{nil, "https://app.example", "", ""},
		{[]string{"*"}, "https://app.example", "*", ""},
		{[]string{"*"}, "", "*", ""},
		{[]string{"https://app.example", "https://b.example"}, "https://b.example", "https://b.example", "Origin"},
		{[]string{"https://app.example"}, "https://evil.example", "", "Origin"},
		{[]string{"https://app.example"}, "", "", "Origin"},
	}
	for _, tt := range tests {
		r := newRig(t, routed(t, "token-bucket{burst=1,rate=1/h}", Route{Origins: tt.origins, Answers: dialect.Settings{Fields: []string{"draft"}}}))
		for _, key := range []string{"a", "a", ""} { // 200, 429, 400
			req := request("GET", "/", key, "")
			if tt.origin != "" {
				req.Header.Set("Origin", tt.origin)
			}
			h := r.do(req).Header
			if h.Get("Access-Control-Allow-Origin") != tt.allowed || h.Get("Vary") != tt.vary {
				t.Errorf("%v asked by %q: got %q, Vary %q, want %q, %q", tt.origins, tt.origin, h.Get("Access-Control-Allow-Origin"), h.Get("Vary"), tt.allowed, tt.vary)
			}
			if exposes := strings.Contains(h.Get("Access-Control-Expose-Headers"), "Retry-After, RateLimit,"); exposes != (tt.allowed != "") {
				t.Errorf("%v asked by %q: got exposed %q", tt.origins, tt.origin, h.Get("Access-Control-Expose-Headers"))
			}
		}
		req := request("OPTIONS", "/", "", "")
		req.Header.Set("Origin", tt.origin)
		req.Header.Set("Access-Control-Request-Method", "POST")
		res := r.do(req)
		if says := res.Header.Get("Access-Control-Allow-Methods") != ""; says != (tt.allowed != "" && tt.origin != "") {
			t.Errorf("%v, preflight of %q: got %d %v", tt.origins, tt.origin, res.StatusCode, res.Header)
		}
	}
}
