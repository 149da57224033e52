package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/scenarios"
)

func TestKeyOf(t *testing.T) {
	req := httptest.NewRequest("GET", "/x?token=q1&token=q2&empty=", nil)
	req.Host = "api.example"
	req.RemoteAddr = "192.0.2.7:41234"
	req.Header.Add("X-Api-Key", "h1")
	req.Header.Add("X-Api-Key", "h2")
	req.Header.Set("X-Empty", "")
	req.AddCookie(&http.Cookie{Name: "sid", Value: "c1"})
	tests := []struct {
		key  string
		want string
		ok   bool
	}{
		{"none", "", true},
		{"ip", "192.0.2.7", true},
		{"header:X-Api-Key", "h1", true},
		{"header:x-api-key", "h1", true},
		{"header:Host", "api.example", true},
		{"header:X-Empty", "", false},
		{"header:X-Absent", "", false},
		{"query:token", "q1", true},
		{"query:empty", "", false},
		{"query:absent", "", false},
		{"cookie:sid", "c1", true},
		{"cookie:absent", "", false},
	}
	for _, tt := range tests {
		k, err := scenarios.ParseKey(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := keyOf(k, req); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", tt.key, got, ok, tt.want, tt.ok)
		}
	}
}

func TestPeer(t *testing.T) {
	tests := []struct{ remote, want string }{
		{"192.0.2.7:1", "192.0.2.7"},
		{"[::ffff:192.0.2.7]:1", "192.0.2.7"},
		{"[2001:db8::1]:1", "2001:db8::1"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := peer(tt.remote); got != tt.want {
			t.Errorf("peer(%q): got %q, want %q", tt.remote, got, tt.want)
		}
	}
}

// A request without its key is told what is missing, and spends nothing: not
// even a budget for all who forget it.
func TestMissingKey(t *testing.T) {
	tests := []struct{ key, says string }{
		{"header:X-Api-Key", "header X-Api-Key"},
		{"query:token", "query parameter token"},
		{"cookie:sid", "cookie sid"},
	}
	for _, tt := range tests {
		k, err := scenarios.ParseKey(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, Config{Key: k})
		for range 30 {
			p := checkProblem(t, r.get(""), 400, noSpecialType)
			if !strings.Contains(p.Detail, tt.says) || p.Title != "Bad Request" {
				t.Fatalf("%s: got %+v, want it to name the %s", tt.key, p, tt.says)
			}
		}
		if records, _ := r.Truth(); len(records) != 0 || r.local.table.Len() != 0 {
			t.Errorf("%s: got %d decisions and %d keys, want none", tt.key, len(records), r.local.table.Len())
		}
	}
}
