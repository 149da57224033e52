package store

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// errSharing is ERROR_SHARING_VIOLATION, which package syscall does not name.
const errSharing = syscall.Errno(32)

// rename tries for a second: a reader, an indexer or a virus scanner that has
// one of the two files open makes the first tries fail.
func rename(from, to string) error {
	var err error
	for range 50 {
		err = os.Rename(from, to)
		if !errors.Is(err, errSharing) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// syncDir does nothing: a folder cannot be synced here, and NTFS keeps its own
// journal of names.
func syncDir(string) error { return nil }
