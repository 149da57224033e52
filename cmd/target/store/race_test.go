//go:build race

package store

// The race detector makes large tests ten times slower.
const (
	raced    = true
	walk     = 200
	volleys  = 20
	expiring = 10_000
)
