//go:build race

package assertions

// The race detector makes large tests ten times slower.
const raced = true

// histories is how many small ones each model is held against brute force on.
const histories = 20_000
