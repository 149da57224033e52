//go:build !(linux && (amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x || 386 || arm))

package wire

func newDriver(o Options) (driver, error) { return newPortable(o), nil }
