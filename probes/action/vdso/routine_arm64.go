package vdso

import _ "embed"

// routine is arm64.S, assembled.
//
//go:embed arm64.bin
var routine []byte
