package scenarios

import (
	"net/http"
	"testing"
)

func TestRuleCovers(t *testing.T) {
	spent := http.Header{"X-Remaining": {" 0 "}}
	left := http.Header{"X-Remaining": {"3"}}
	tests := []struct {
		rule   string
		status int
		header http.Header
		want   bool
	}{
		{"429", 429, nil, true},
		{"429", 503, nil, false},
		{"429,503", 503, nil, true},
		{"200-399", 302, nil, true},
		{"200-399", 400, nil, false},
		{"header:X-Blocked", 200, http.Header{"X-Blocked": {""}}, true},
		{"header:x-remaining=0", 403, spent, true},
		{"403+header:X-Remaining=0", 403, spent, true},
		{"403+header:X-Remaining=0", 403, left, false},
		{"403+header:X-Remaining=0", 200, spent, false},
	}
	for _, tt := range tests {
		r, err := ParseRule(tt.rule)
		if err != nil {
			t.Fatalf("ParseRule(%q): %v", tt.rule, err)
		}
		if got := r.Covers(tt.status, tt.header); got != tt.want {
			t.Errorf("%q covers %d %v: got %v, want %v", tt.rule, tt.status, tt.header, got, tt.want)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	for _, s := range []string{"", "4299", "399-200", "200+429", "header:", "header:a b", "header:A+header:B", "teapot", "429,"} {
		if r, err := ParseRule(s); err == nil {
			t.Errorf("ParseRule(%q): got %v, want an error", s, r)
		}
	}
}

func TestParseKey(t *testing.T) {
	for _, s := range []string{"none", "ip", "header:X-Api-Key", "query:token", "cookie:sid"} {
		k, err := ParseKey(s)
		if err != nil || k.String() != s {
			t.Errorf("ParseKey(%q): got %v, %v", s, k, err)
		}
	}
	for _, s := range []string{"", "header", "header:", "header:a b", "ip:x", "body:x", "none:"} {
		if k, err := ParseKey(s); err == nil {
			t.Errorf("ParseKey(%q): got %v, want an error", s, k)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"429", "200-399,503", "403+header:X-Remaining=0", "header:X"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRule(s)
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.String() != r.String() {
			t.Fatalf("ParseRule(%q) printed %q, read back %q, %v", s, r, again, err)
		}
	})
}
