package assertions

import (
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A queue that holds everything back looks like a bucket that nobody pushed: who
// declared the bucket is told of the other contract, and nobody else is.
func TestQueueUnderABucketsPromiseIsHintedAt(t *testing.T) {
	tests := []struct {
		server string
		as     scenarios.Limit
		hint   bool
	}{
		{"queue{burst=5000,rate=10/s}", declaredAs(t, scenarios.TokenBucket, 20, "10/s"), true},
		{"token-bucket{burst=5000,rate=10/s}", declaredAs(t, scenarios.TokenBucket, 20, "10/s"), false},
		{"token-bucket{burst=20,rate=10/s}", declaredAs(t, scenarios.TokenBucket, 20, "10/s"), false},
		{"queue{burst=5000,rate=10/s}", declaredAs(t, scenarios.Queue, 20, "10/s"), false},
	}
	for _, tt := range tests {
		v := trial(t, algorithm(t, tt.server), tt.as, virtual.LAN(), 1)
		hint := false
		for _, f := range v.Findings {
			hint = hint || f.Check == CheckEnforced && strings.Contains(f.Text, "--contract queue")
		}
		if hint != tt.hint {
			t.Errorf("%s as %v: hinted at a queue: %v, want %v; %s", tt.server, tt.as, hint, tt.hint, v.Headline)
		}
	}
}
