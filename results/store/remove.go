package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrLeft is the error of Remove for a folder in which other files are left.
var ErrLeft = errors.New("holds other files as well, which stay")

// Remove removes a run: the files that this package writes, and then the folder, if
// nothing else is in it. The manifest goes last, so that a removal that was
// interrupted can be done again. A folder without a manifest is left alone, and the
// error is ErrNoRun.
func Remove(dir string) error {
	if _, err := loadManifest(dir); err != nil {
		return fmt.Errorf("removing a run: %s %w", dir, err)
	}
	timeline := filepath.Join(dir, timelineName)
	parts, err := os.ReadDir(timeline)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a run: %w", err)
	}
	var gone []string
	for _, e := range parts {
		if _, ok := partNumber(strings.TrimSuffix(e.Name(), ".tmp")); ok && e.Type().IsRegular() {
			gone = append(gone, filepath.Join(timeline, e.Name()))
		}
	}
	gone = append(gone, timeline)
	for _, name := range []string{marksName, verdictName, latencyName, manifestName} {
		gone = append(gone, filepath.Join(dir, name))
	}
	for _, name := range gone {
		err := os.Remove(name)
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
		case name == timeline:
			return fmt.Errorf("removing a run: %s %w", timeline, ErrLeft)
		default:
			return fmt.Errorf("removing a run: %w", err)
		}
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return fmt.Errorf("removing a run: %s %w", dir, ErrLeft)
	}
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("removing a run: %w", err)
	}
	return nil
}
