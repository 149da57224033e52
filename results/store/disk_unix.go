//go:build !windows

package store

import "os"

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes the names in a folder last: without it a renamed file may be
// gone after a power cut although its content was synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}
