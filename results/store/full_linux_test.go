package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDiskFull fills a real file system of 256 KiB.
func TestDiskFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root; TestDiskFullAtAnyStep has the same without one")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatalf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	// 100,000 hits are more than a megabyte.
	dir, c := filepath.Join(disk, "run"), newClock()
	w := mustCreate(t, dir, world{now: c.now, create: createFile})
	err := fire(w, c, cut(steady(100_000), 1000))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want the disk full", err)
	}
	if w.Saved() == 0 {
		t.Errorf("got no hit saved, want some parts before the disk was full")
	}
	t.Log(err)
	checkFull(t, w, dir, err)
}
