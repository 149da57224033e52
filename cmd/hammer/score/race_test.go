//go:build race

package score

// The race detector makes thorough scenarios ten times slower.
const raced = true
