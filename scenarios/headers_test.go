package scenarios

import (
	"strings"
	"testing"
)

// The draft of the RateLimit fields is read, written and read back.
func TestDraft(t *testing.T) {
	const file = "limit: {burst: 10, rate: 5/s}\nphases: [{name: a, volley: 3}]\n"
	tests := []struct {
		line  string
		draft int
		err   string
	}{
		{"", 0, ""},
		{"headers: {draft: 10}\n", 10, ""},
		{"headers: {draft: 11}\n", 11, ""},
		{"headers: {draft: 1}\n", 0, "draft"},
		{"headers: {drafts: 10}\n", 0, "drafts"},
	}
	for _, tt := range tests {
		s, err := Parse("a.yaml", []byte(file+tt.line), nil)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: got %v, want an error about %s", tt.line, err, tt.err)
			}
			continue
		}
		if err != nil || s.Draft != tt.draft {
			t.Errorf("%q: got %+v, %v, want draft %d", tt.line, s, err, tt.draft)
			continue
		}
		again, err := Parse("again.yaml", s.YAML(), nil)
		if err != nil || again.Draft != tt.draft {
			t.Errorf("%q written and read back: got %+v, %v", tt.line, again, err)
		}
	}
}
