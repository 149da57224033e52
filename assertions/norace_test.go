//go:build !race

package assertions

// The race detector is off, and large tests can be as large as they say.
const raced = false

// histories is how many small ones each model is held against brute force on.
const histories = 120_000
