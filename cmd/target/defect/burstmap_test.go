package defect

import (
	"testing"
)

// What is written, what is had at once, and the rate that is right all the same.
func TestBurstMap(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		atOnce  int
	}{
		{"token-bucket{burst=20,rate=10/s}", nil, 20},
		{"token-bucket{burst=20,rate=10/s}", []string{"burst-map{form=plus1}"}, 21},
		{"token-bucket{burst=5,rate=5/s}", []string{"burst-map{form=times5}"}, 26},
		{"token-bucket{burst=6,rate=6/m}", []string{"burst-map{form=none}"}, 1},
		{"token-bucket{burst=6,rate=6/m}", nil, 6},
		{"gcra{burst=5,rate=5/s}", []string{"burst-map{form=times5}"}, 26},
		{"lumps{burst=20,rate=10/s}", []string{"burst-map{form=plus1}"}, 21},
		{"token-bucket{burst=5,rate=5/s}", []string{"off-by-one{delta=-1}", "burst-map{form=times5}"}, 25},
	}
	for _, tt := range tests {
		r := newRig(t, tt.limit, tt.defects...)
		promise := r.parts.Algorithm.Promise()
		if got := r.volley("a", 10*int(promise.Burst)); got != tt.atOnce {
			t.Errorf("%s %v: got %d at once, want %d", tt.limit, tt.defects, got, tt.atOnce)
		}
		token := promise.Rate.Time(1)
		admitted := 0
		for range 30 { // one for each token
			admitted += r.volley("b", 1)
			r.now += token
		}
		if admitted != 30 {
			t.Errorf("%s %v: got %d of 30 at the rate", tt.limit, tt.defects, admitted)
		}
	}
}
