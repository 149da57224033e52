//go:build !linux

package action

// unixPairs are none where they are not to be seen.
func unixPairs() map[string]string { return nil }
