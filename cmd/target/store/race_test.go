//go:build race

package store

// raced: the race detector makes the large test ten times slower.
const raced = true
