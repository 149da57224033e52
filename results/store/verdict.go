package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// SaveVerdict puts a verdict beside the record, in place of an earlier one.
func SaveVerdict(dir string, v any) error {
	return saveJSON(filepath.Join(dir, verdictName), v)
}

// ReadVerdict is the JSON text that SaveVerdict wrote. A run that was not judged
// gives an error that is fs.ErrNotExist.
func ReadVerdict(dir string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, verdictName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no verdict yet, judge the run first: %w", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the verdict: %w", err)
	}
	return b, nil
}
