package vdso

import _ "embed"

// routine is amd64.S, assembled.
//
//go:embed amd64.bin
var routine []byte
