//go:build !race

package store

// The race detector is off, and large tests can be as large as they say.
const (
	raced    = false
	walk     = 1000   // steps of a walk
	volleys  = 100    // runs of 200 at once in Redis
	expiring = 20_000 // keys in Redis
)
