//go:build !race

package score

// The race detector is off.
const raced = false
