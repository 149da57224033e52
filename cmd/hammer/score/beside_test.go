package score

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// A limit that counts what a larger one beside it refused is caught from anywhere,
// though no poll may meet the moment when the larger one has something again; and the
// same two limits without that are not accused.
func TestSmallerLimitIsAskedBesideTheLarger(t *testing.T) {
	all, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	wrong := Named(all, []string{"multi"})[0]
	right := wrong
	right.Subject.Config.Limits = slices.Clone(wrong.Subject.Config.Limits)
	for i := range right.Subject.Config.Limits {
		right.Subject.Config.Limits[i].Defects = nil
	}
	for _, thorough := range []bool{false, true} {
		for _, rtt := range []time.Duration{400 * time.Microsecond, time.Millisecond, 20 * time.Millisecond} {
			for seed := uint64(1); seed <= 2; seed++ {
				trial := Trial{Network: network(rtt), Thorough: thorough, Quick: true, Seed: seed}
				if o, err := Run(wrong.Subject, trial); err != nil || o.Status != results.Broken {
					t.Errorf("charged apart, thorough %v, %v, seed %d: got %v, %v: %s", thorough, rtt, seed, o.Status, err, o.Headline)
				}
				if o, err := Run(right.Subject, trial); err != nil || o.Status == results.Broken {
					t.Errorf("charged together, thorough %v, %v, seed %d: got %v, %v: %s", thorough, rtt, seed, o.Status, err, o.Headline)
				}
			}
		}
	}
}
