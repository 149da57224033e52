package assertions

import (
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

func TestSeenInWords(t *testing.T) {
	low, high := 4.99, 5.1
	tests := []struct {
		low, high *float64
		want      string
	}{
		{nil, nil, "no error in the rate would have been caught"},
		{&low, nil, "a rate too slow by 0.2 % would have been caught, one too fast by no amount"},
		{nil, &high, "a rate too fast by 2 % would have been caught, one too slow by no amount"},
		{&low, &high, "only a rate too slow by 0.2 %, too fast by 2 % would have been caught"},
	}
	for _, tt := range tests {
		if got := seen(results.Resolution{RateLow: tt.low, RateHigh: tt.high}, 5); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
