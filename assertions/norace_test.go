//go:build !race

package assertions

// The race detector is off, and large tests can be as large as they say.
const raced = false
