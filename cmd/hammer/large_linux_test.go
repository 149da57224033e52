package main

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results/store"
)

// peak is the most memory that a process that has ended had, in MiB.
func peak(c *exec.Cmd) int64 { return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 }

// A run of any length is recorded within 100 MB, and judged within 200 MB with a page of
// less than 2 MB, each of them a whole process.
func TestLargeRun(t *testing.T) {
	n := asked(largeHits, 60_000)
	dir := filepath.Join(t.TempDir(), "run")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := exec.Command(self)
	write.Env = append(os.Environ(), largeInto+"="+dir, largeHits+"="+strconv.Itoa(n))
	begun := time.Now()
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	written := time.Since(begun)
	page := filepath.Join(t.TempDir(), "page.html")
	judge := exec.Command("hammer", "judge", dir, "--report", "html="+page)
	var out bytes.Buffer
	judge.Stdout = &out
	begun = time.Now()
	err = judge.Run()
	first, _, _ := strings.Cut(out.String(), "\n")
	size := int64(math.MaxInt64)
	if info, err := os.Stat(page); err == nil {
		size = info.Size()
	}
	t.Logf("%d requests: written in %v within %d MiB, judged in %v within %d MiB, a page of %d kB: %s", n, written.Round(time.Millisecond), peak(write), time.Since(begun).Round(time.Millisecond), peak(judge), size/1000, first)
	if size >= 2_000_000 {
		t.Errorf("the page takes %d bytes, want less than 2 MB", size)
	}
	if err != nil || !strings.HasPrefix(first, "KEPT") {
		t.Errorf("got %v, %q, want that it is kept", err, first)
	}
	if got := peak(write); got > 100 && !raceEnabled {
		t.Errorf("recording took %d MiB, want at most 100", got)
	}
	if got := peak(judge); got > 200 && !raceEnabled {
		t.Errorf("judging took %d MiB, want at most 200", got)
	}
}

// A run that is killed at any moment leaves a folder that says what it was and can be
// judged: every closed part is whole, and nothing is missing but the end.
func TestKilledRuns(t *testing.T) {
	url := serveAwkward(t)["PLAIN"]
	file := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(file, []byte("limit: {burst: 10, rate: 5/s}\nphases: [{name: load, pace: 500/s, for: 1m}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	kills := asked(largeKills, 2)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for i := range kills {
		dir := filepath.Join(t.TempDir(), "run")
		run := exec.Command("hammer", "run", file, url, "--out", dir)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		alive := false
		for range 400 { // there is nothing to look at before the folder is there
			if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
				alive = true
				break
			}
			time.Sleep(25 * time.Millisecond)
		}
		after := time.Duration(rng.Int64N(int64(3500 * time.Millisecond)))
		time.Sleep(after)
		if err := errors.Join(run.Process.Kill(), ignoreExit(run.Wait())); err != nil || !alive {
			t.Fatalf("%v, alive %v", err, alive)
		}
		hits, parts := readable(t, dir)
		page := filepath.Join(t.TempDir(), "page.html")
		judge := exec.Command("hammer", "judge", dir, "--report", "html="+page)
		out, err := judge.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == exitFailed) {
			t.Errorf("kill %d after %v: %v: %s", i+1, after, err, out)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		t.Logf("killed after %v: %d requests in %d parts: %s", after.Round(time.Millisecond), hits, parts, first)
	}
}

func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// readable reads a killed run to its end. All that may be wrong with it is that it
// does not end, and the last line of its marks.
func readable(t *testing.T, dir string) (hits, parts int) {
	t.Helper()
	r, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.Ended || r.Manifest.Scenario == "" {
		t.Errorf("the manifest says that the run has ended, or not what it was: %+v", r.Manifest)
	}
	for b, err := range r.Blocks() {
		hits += len(b.Hits)
		var d store.Damage
		if errors.As(err, &d) && d.File != "manifest.json" && (d.File != "marks.jsonl" || !strings.Contains(d.Text, "cut")) {
			t.Errorf("a closed part cannot be read: %v", d)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "timeline", "part-*.parquet"))
	if err != nil || int64(hits) != r.Hits() {
		t.Errorf("%v: got %d of %d hits", err, hits, r.Hits())
	}
	return hits, len(files)
}
