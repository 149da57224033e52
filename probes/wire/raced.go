//go:build race

package wire

// raced is whether the race detector watches, which must see what a server in this
// process does before it answers as done before the answer is read.
const raced = true
