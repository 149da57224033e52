package main

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Each defect of the reference server is found, and named after what it breaks.
func TestEmbeddedDefects(t *testing.T) {
	tests := []struct{ defect, broken string }{
		{"off-by-one{delta=1}", "bound.upper"},
		{"off-by-one{delta=-1}", "bound.lower"},
		{"wall-clock{step=-10s,every=2s}", "bound.lower"},
		{"wall-clock{step=-1s,every=1500ms}", "bound.lower"},
		{"wall-clock{step=10s,every=2s}", "bound.upper"},
		{"ra{form=floor}", "retry-after.positive"},
		{"ra{form=zero}", "retry-after.positive"},
		{"ra{form=window}", "retry-after.tight"},
		{"starts-empty", "bound.lower"},
		{"loses-refill-on-refusal", "bound.lower"},
	}
	for _, tt := range tests {
		t.Run(tt.defect, func(t *testing.T) {
			t.Parallel()
			code, r := hammer(t, "check", "--defect", tt.defect)
			if code != exitBroken || !strings.Contains(brokenChecks(r), tt.broken) {
				t.Errorf("got exit code %d, broken %q, want %s: %s", code, brokenChecks(r), tt.broken, r.Headline)
			}
			for _, f := range r.Findings {
				if f.Check == tt.broken && (len(f.Seqs) == 0 || f.Recheck == "") {
					t.Errorf("%s carries no requests or no command: %+v", f.Check, f)
				}
			}
		})
	}
}

// At a slow rate a Retry-After that is rounded down is not zero: only a client
// that obeys it finds out.
func TestEmbeddedFloorAtSlowRate(t *testing.T) {
	t.Parallel()
	code, r := hammer(t, "check", "--burst", "2", "--rate", "1/4s", "--defect", "ra{form=floor}")
	if code != exitBroken || !strings.Contains(brokenChecks(r), "retry-after.honest") {
		t.Errorf("got exit code %d, broken %q, want retry-after.honest: %s", code, brokenChecks(r), r.Headline)
	}
}

// HAMMER_BUSY_RUNS is how often the clean server is checked while the machine
// is kept busy; make busy sets it to 50.
const busyRuns = "HAMMER_BUSY_RUNS"

// The clean server is never called broken, however busy the machine is.
func TestCleanUnderLoad(t *testing.T) {
	runs := 2
	if n, err := strconv.Atoi(os.Getenv(busyRuns)); err == nil {
		runs = n
	}
	stop := burn(t, runtime.NumCPU())
	defer stop()
	var counts [3]int
	for i := range runs {
		_, r := hammer(t, "check", "--seed", strconv.Itoa(i+1))
		counts[r.Status]++
		if r.Status == results.Broken {
			t.Errorf("run %d: the clean server was called broken: %s", i+1, r.Headline)
		}
	}
	t.Logf("%d runs with %d cores kept busy: %d kept, %d inconclusive, %d broken",
		runs, runtime.NumCPU(), counts[results.Kept], counts[results.Inconclusive], counts[results.Broken])
	if counts[results.Kept] == 0 {
		t.Errorf("no run of %d was kept", runs)
	}
}

// burn keeps so many cores busy, in processes of their own, until stop is called.
func burn(t *testing.T, cores int) (stop func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var burners []*exec.Cmd
	for range cores {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), burnFor+"=10m")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		burners = append(burners, cmd)
	}
	return func() {
		for _, cmd := range burners {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
}

// burnFor makes the test binary do nothing but keep a core busy for that long.
const burnFor = "HAMMER_TEST_BURN"

// burning reports whether this process is one that burn has started, once it is done.
func burning() bool {
	d, err := time.ParseDuration(os.Getenv(burnFor))
	if err != nil {
		return false
	}
	for start := time.Now(); time.Since(start) < d; {
	}
	return true
}
