//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// takeLock makes the file, which outlives a process that is killed: there is no
// lock on this system that ends with it.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w, or was killed: then remove %s", errLocked, path)
	}
	return f, err
}

func dropLock(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }
