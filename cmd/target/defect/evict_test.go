package defect_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// A victim is drained, others ask once each, and the victim asks again: right is
// what has been earned meanwhile, and wrong a full bucket of 10 once it has been
// forgotten, which with room for 100 keys the hundredth other one brings about.
func TestEvict(t *testing.T) {
	tests := []struct {
		defects []string
		others  int
		rest    time.Duration
		want    int // at 1 token a second
	}{
		{nil, 1000, 0, 0},
		{nil, 0, 2100 * time.Millisecond, 2},
		{[]string{"evict{form=lru,max-keys=100}"}, 99, 0, 0},
		{[]string{"evict{form=lru,max-keys=100}"}, 100, 0, 10},
		{[]string{"evict{form=clear-all,max-keys=100}"}, 99, 0, 0},
		{[]string{"evict{form=clear-all,max-keys=100}"}, 100, 0, 10},
		{[]string{"evict{form=idle,after=2s}"}, 1000, 0, 0},
		{[]string{"evict{form=idle,after=2s}"}, 0, 2 * time.Second, 2},
		{[]string{"evict{form=idle,after=2s}"}, 0, 2100 * time.Millisecond, 10},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/s}", defects: tt.defects})
		s.count(0, 20, same("victim"))
		s.count(0, tt.others, func(i int) *http.Request { return by(fmt.Sprint(i)) })
		if got := s.count(tt.rest, 20, same("victim")); got != tt.want {
			t.Errorf("%v, %d others, %v: got %d admitted, want %d", tt.defects, tt.others, tt.rest, got, tt.want)
		}
	}
}

// By lru a victim that keeps asking keeps its seat, and its debt; where all are
// cleared it loses both.
func TestEvictForms(t *testing.T) {
	for form, want := range map[string]int{"lru": 0, "clear-all": 40} {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: []string{"evict{max-keys=50,form=" + form + "}"}})
		s.count(0, 10, same("victim"))
		admitted := 0
		for i := range 200 { // with the victim, 50 keys are there after each 49 others
			s.ask(0, by(fmt.Sprint(i)))
			admitted += s.count(0, 11, same("victim"))
		}
		if admitted != want {
			t.Errorf("%s: got %d admitted, want %d", form, admitted, want)
		}
	}
}
