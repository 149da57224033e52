package defect

import (
	"fmt"
	"testing"
	"time"
)

func TestStartsEmpty(t *testing.T) {
	tests := []struct {
		defects          []string
		fresh, after2s   int
		afterAnotherRest int
	}{
		{nil, 10, 10, 10},
		// Empty only once: a key that has filled up stays full while others come
		// and go, and is not forgotten into an empty one.
		{[]string{"starts-empty"}, 0, 10, 10},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		if got := r.volley("a", 30); got != tt.fresh {
			t.Errorf("%v: fresh key: got %d of 30, want %d", tt.defects, got, tt.fresh)
		}
		r.now = 2 * time.Second // 2 x 5 = 10 tokens
		if got := r.volley("a", 30); got != tt.after2s {
			t.Errorf("%v: after 2 s: got %d of 30, want %d", tt.defects, got, tt.after2s)
		}
		r.now = time.Minute
		for i := range 1000 {
			r.ask(fmt.Sprint(i))
		}
		if got := r.volley("a", 30); got != tt.afterAnotherRest {
			t.Errorf("%v: after another rest: got %d of 30, want %d", tt.defects, got, tt.afterAnotherRest)
		}
	}
}
