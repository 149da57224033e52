//go:build race

package assertions

// The race detector makes large tests ten times slower.
const raced = true
