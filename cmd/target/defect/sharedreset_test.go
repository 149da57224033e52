package defect

import (
	"testing"
	"time"
)

// A begins at 1 s, B at 10 s, and both are drained then. Windows of 10 s of their
// own reopen at 11 s and 20 s; one timer frees both at 10 s.
func TestSharedReset(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		a, b    time.Duration // when they are admitted again, asked every 0.2 s
	}{
		{"fixed-window{rate=10/10s,align=first-hit}", nil, 11 * time.Second, 19 * time.Second},
		{"fixed-window{rate=10/10s,align=first-hit}", []string{"shared-reset"}, 10 * time.Second, 10 * time.Second},
		{"lumps{burst=10,rate=10/10s}", nil, 11 * time.Second, 19 * time.Second},
		{"lumps{burst=10,rate=10/10s}", []string{"shared-reset"}, 10 * time.Second, 10 * time.Second},
	}
	for _, tt := range tests {
		r := newRig(t, tt.limit, tt.defects...)
		r.now = time.Second
		r.volley("a", 10)
		r.now = 9 * time.Second // 0.9 of the timer's first window
		r.volley("b", 10)
		back := map[string]time.Duration{}
		for ; r.now < 25*time.Second; r.now += 200 * time.Millisecond {
			for _, key := range []string{"a", "b"} {
				if back[key] == 0 && r.ask(key).Admitted {
					back[key] = r.now
				}
			}
		}
		if back["a"] != tt.a || back["b"] != tt.b {
			t.Errorf("%s %v: reopened at %v, want %v and %v", tt.limit, tt.defects, back, tt.a, tt.b)
		}
	}
}
