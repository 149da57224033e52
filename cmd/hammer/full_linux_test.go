package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// On a full disk the run stops and says what is safe, and that can be judged.
func TestDiskFullWhileRecording(t *testing.T) {
	if os.Geteuid() != 0 {
		lab.LeaveOut(t, "mounting a small file system needs root")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatalf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "long.yaml")
	src := "target: " + s.URL + "\nlimit: {burst: 10, rate: 5/s}\nphases: [{name: long, pace: 300/s, for: 60s}]\n"
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	folder := filepath.Join(disk, "run")
	if code := run([]string{"run", file, "--out", folder}, &out, &talk); code != exitFailed {
		t.Errorf("got exit code %d, want %d: %s", code, exitFailed, out.String())
	}
	for _, want := range []string{"no space left on device", "hits are saved in " + folder, "hammer judge " + folder} {
		if !strings.Contains(talk.String(), want) {
			t.Errorf("got %q, want it to say %q", talk.String(), want)
		}
	}
	out.Reset()
	if code := run([]string{"judge", folder}, &out, &talk); code != exitBroken || !strings.Contains(out.String(), "no request was ever limited") {
		t.Errorf("judging what was saved: got exit code %d: %s", code, out.String())
	}
}
