//go:build !race

package store

// raced: the race detector is off, and the large test can be as large as it says.
const raced = false
