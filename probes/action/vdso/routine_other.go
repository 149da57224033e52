//go:build !amd64 && !arm64

package vdso

// routine is there for amd64 and arm64 alone.
var routine []byte
