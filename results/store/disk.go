package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// file is what the writer needs of an open file.
type file interface {
	io.WriteCloser
	Sync() error
}

// createFile makes a file that must not be there yet.
func createFile(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// replaceFile gives path this content as one step: whoever reads it, and
// whenever the machine stops, finds either the old content or the new one.
func replaceFile(path string, content []byte) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(dir, name+".*.tmp")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.Write(content)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return syncDir(dir)
}
