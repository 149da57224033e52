package assertions

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// reckoned is what a proof's formula comes to, as a reader would reckon it.
func reckoned(t *testing.T, proof string) float64 {
	t.Helper()
	_, text, _ := strings.Cut(proof, ", ")
	formula, rest, _ := strings.Cut(text, " over ")
	length, _, _ := strings.Cut(rest, ",")
	over, err := time.ParseDuration(strings.ReplaceAll(length, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", proof, err)
	}
	var b, n, lumps float64
	var rate string
	if k, _ := fmt.Sscanf(formula, "%g + %s x T", &b, &rate); k == 2 && strings.Contains(rate, "/") {
		r, err := scenarios.ParseRate(rate)
		if err != nil {
			t.Fatalf("%q: %v", proof, err)
		}
		return b + r.PerSecond()*over.Seconds()
	}
	if k, _ := fmt.Sscanf(formula, "%g + %g x %g,", &b, &n, &lumps); k == 3 {
		return b + n*lumps
	}
	if k, _ := fmt.Sscanf(formula, "%g in any ", &b); k == 1 {
		return b
	}
	t.Fatalf("%q: the formula cannot be read", proof)
	return 0
}

// The formula that is shown comes to the number that is shown as allowed, but for
// what is granted to clocks.
func TestFormulaIsTheOneUsed(t *testing.T) {
	// No limiter of any of the contracts, and one that admits twice as fast.
	fast := func() virtual.Server { return &mutant{perSecond: 20 * token, burst: 40} }
	for _, l := range []scenarios.Limit{
		declaredAs(t, scenarios.TokenBucket, 20, "10/s"), declaredAs(t, scenarios.Nginx, 20, "10/s"),
		declaredAs(t, scenarios.Lumps, 20, "10/1s"), declaredAs(t, scenarios.Queue, 20, "10/s"),
		declaredAs(t, scenarios.FixedWindow, 0, "20/2s"), declaredAs(t, scenarios.SlidingLog, 0, "20/2s"),
		declaredAs(t, scenarios.SlidingCounter, 0, "20/2s"), declaredAs(t, scenarios.Quota, 0, "20/2s"),
	} {
		for name, server := range map[string]func() virtual.Server{"twice as much": fast, "any": func() virtual.Server { return &mutant{burst: 1e9} }} {
			for _, align := range []scenarios.Align{"", scenarios.AlignFirstHit} {
				if has, _ := l.Contract.Numbers(); align != "" && !has.Align {
					continue
				}
				l.Align = align
				for _, f := range trialOf(t, server(), l, virtual.LAN(), 1).Findings {
					if f.Check != CheckUpper || f.Status != results.Broken {
						continue
					}
					// 500 ppm of what comes, 1 ms of the rate, and the length's three digits.
					if got := reckoned(t, f.Proof); math.Abs(got-f.Allowed) > 0.1+0.006*f.Allowed {
						t.Errorf("%v, %s: %q comes to %g, and %g is said to be allowed", l, name, f.Proof, got, f.Allowed)
					}
				}
			}
		}
	}
}
