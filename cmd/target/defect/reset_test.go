package defect_test

import (
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// After one of 10 at 1/60s the limit is as if unused in 60 s.
func TestReset(t *testing.T) {
	epoch := start.Unix()
	tests := []struct {
		fields  string
		defects []string
		want    int64
	}{
		{"x-ratelimit", nil, 60},
		{"x-ratelimit", []string{"reset{form=epoch}"}, epoch + 60},
		{"x-ratelimit", []string{"reset{form=zero}"}, 0},
		{"x-ratelimit-epoch", nil, epoch + 60},
		{"x-ratelimit-epoch", []string{"reset{form=seconds}"}, 60},
		{"x-ratelimit-epoch", []string{"reset{form=zero}"}, epoch},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/60s}", defects: tt.defects, answers: dialect.Settings{Fields: []string{tt.fields}}})
		if got := s.header(s.ask(0, by("a")), "X-RateLimit-Reset"); got != tt.want {
			t.Errorf("%s %v: got %d, want %d", tt.fields, tt.defects, got, tt.want)
		}
	}
}
