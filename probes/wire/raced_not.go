//go:build !race

package wire

// raced is whether the race detector watches.
const raced = false
