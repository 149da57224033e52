package live

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// A real terminal is drawn on in its size, as it is told to be, and one that cannot move
// its cursor is not.
func TestTerminals(t *testing.T) {
	colour := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	tests := []struct {
		name                         string
		env                          map[string]string
		opens, colours, moreThanText bool
	}{
		{"xterm", map[string]string{"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}, true, true, true},
		{"without colours", map[string]string{"TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}, true, false, true},
		{"of ASCII", map[string]string{"TERM": "xterm", "LC_ALL": "C", "NO_COLOR": "1"}, true, false, false},
		{"dumb", map[string]string{"TERM": "dumb", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			f := lab.Terminal(t, 80, 24)
			s, ok := Open(f)
			if ok != tt.opens {
				t.Fatalf("got %v, want %v", ok, tt.opens)
			}
			if !ok {
				return
			}
			for _, size := range [][2]uint16{{80, 24}, {41, 9}} {
				lab.Resize(t, f, size[0], size[1])
				style := s.Style()
				if style.Width != int(size[0]) || style.Height != int(size[1]) {
					t.Errorf("got %dx%d, want %v", style.Width, style.Height, size)
				}
				text := strings.Join(sample().Frame(state(), style), "\n")
				if colour.MatchString(text) != tt.colours {
					t.Errorf("colours in %q, want %v", text, tt.colours)
				}
				if strings.ContainsFunc(colour.ReplaceAllString(text, ""), func(c rune) bool { return c > '~' }) != tt.moreThanText {
					t.Errorf("more than ASCII in %q, want %v", text, tt.moreThanText)
				}
			}
		})
	}
}
