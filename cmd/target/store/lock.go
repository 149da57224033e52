package store

import (
	"errors"
	"fmt"
	"os"
)

// errLocked says that another one has the file.
var errLocked = errors.New("another server keeps its states there")

// lock takes a file for this process, until it is given back or the process ends,
// however it does. What is locked is a file beside it, which stays: the file
// itself is replaced now and then.
func lock(path string) (*os.File, error) {
	f, err := takeLock(path + ".lock")
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("%w; give each server a file of its own, or end the other one", err)
	}
	return f, err
}
