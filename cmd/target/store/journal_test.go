package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// shelf is a store whose states are in a file, in virtual time.
type shelf struct {
	t     *testing.T
	path  string
	now   time.Duration
	clock *clock.Clock
	Store
	tables *Tables
	limits []Limit
}

func newShelf(t *testing.T, limits ...string) *shelf {
	s := &shelf{t: t, path: filepath.Join(t.TempDir(), "states")}
	s.clock = clock.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), func() int64 { return int64(s.now) })
	s.open(limits...)
	return s
}

// limitsOf are limits that are called as their place.
func limitsOf(t *testing.T, texts ...string) (all []Limit) {
	t.Helper()
	for i, text := range texts {
		m, err := mode.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := limiter.New(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Limit{Algorithm: a, Name: fmt.Sprint("limit ", i), Terms: text})
	}
	return all
}

// open opens the file as a new process does, whatever became of the last one.
func (s *shelf) open(limits ...string) (torn bool) {
	s.t.Helper()
	var err error
	if s.tables != nil {
		err = dropLock(s.tables.file.lock) // as it is when the process ends, however it does
		s.tables.file.lock = nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if s.tables, torn, err = OpenTables(s.path); err != nil {
		s.t.Fatal(err)
	}
	s.limits = limitsOf(s.t, limits...)
	if s.Store, err = s.tables.Open(s.limits, s.clock); err != nil {
		s.t.Fatal(err)
	}
	tables := s.tables
	s.t.Cleanup(func() { tables.Close() })
	return torn
}

// admitted counts those of n requests of a key that a limit admits.
func (s *shelf) admitted(limit int, key string, n int) (admitted int) {
	s.t.Helper()
	for range n {
		asks := []Ask{{Limit: limit, Key: key, Cost: 1}}
		if err := s.Decide(s.t.Context(), asks, func(a *Answer) {
			if a.Admitted {
				admitted++
			}
		}); err != nil {
			s.t.Fatal(err)
		}
	}
	return admitted
}

func (s *shelf) file() string {
	s.t.Helper()
	text, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// What was answered is there again after the process has gone without a word, of
// every algorithm; keys may be any bytes.
func TestStatesOutliveTheProcess(t *testing.T) {
	for _, d := range limiter.List() {
		one, other := newShelf(t, d.Example), newShelf(t, d.Example)
		for i := range 40 {
			one.now += 130 * time.Millisecond
			other.now = one.now
			key := fmt.Sprint("key \xff\"\n", i%3)
			want := other.admitted(0, key, 1)
			if got := one.admitted(0, key, 1); got != want && d.Name != "concurrency" {
				t.Errorf("%s, request %d: got %d admitted, want %d", d.Name, i, got, want)
			}
			if i%7 == 6 {
				one.open(d.Example) // the old one was never closed
			}
		}
		if got, want := one.Len(), other.Len(); got != want && d.Name != "concurrency" {
			t.Errorf("%s: got %d keys, want %d", d.Name, got, want)
		}
	}
}

// What is under way is over when the process is.
func TestPlacesAreNotKept(t *testing.T) {
	s := newShelf(t, "concurrency{burst=2}")
	s.admitted(0, "a", 2)
	s.open("concurrency{burst=2}")
	if got := s.admitted(0, "a", 3); got != 2 {
		t.Errorf("got %d places, want 2", got)
	}
}

// Limits with other settings, and other limits, have nothing to do with the states.
func TestOtherTermsAreNotTakenOver(t *testing.T) {
	const ten, hour = "fixed-window{rate=10/1h}", "fixed-window{rate=10/2h}"
	s := newShelf(t, ten, ten)
	s.admitted(0, "a", 4)
	s.open(hour, ten)
	if got := [2]int{s.admitted(0, "a", 20), s.admitted(1, "a", 20)}; got != [2]int{10, 10} {
		t.Errorf("got %v, want 10 of either", got)
	}
	s.open(ten, ten)
	if got := [2]int{s.admitted(0, "a", 20), s.admitted(1, "a", 20)}; got != [2]int{10, 0} {
		t.Errorf("got %v: what was not served is gone, the other is kept", got)
	}
}

// A limit that is said to be volatile leaves nothing.
func TestVolatile(t *testing.T) {
	s := newShelf(t)
	limits := limitsOf(t, "fixed-window{rate=10/1h}")
	limits[0].Volatile = true
	var err error
	if s.Store, err = s.tables.Open(limits, s.clock); err != nil {
		t.Fatal(err)
	}
	if got := s.admitted(0, "a", 20); got != 10 || s.file() != "" {
		t.Errorf("got %d admitted and %q in the file, want 10 and nothing", got, s.file())
	}
}

// A last line that was not written to its end is left out, whatever of it is
// there; any other line that cannot be read is an error, and nothing is lost.
func TestTornTail(t *testing.T) {
	const limit = "fixed-window{rate=10/1h}"
	s := newShelf(t, limit)
	s.admitted(0, "a", 4)
	whole := s.file()
	last := strings.LastIndexByte(strings.TrimSuffix(whole, "\n"), '\n') + 1
	for cut := last + 1; cut < len(whole); cut++ {
		if err := os.WriteFile(s.path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		if torn := s.open(limit); !torn {
			t.Errorf("%d bytes of the last line: not told", cut-last)
		}
		if got := s.admitted(0, "a", 20); got != 7 {
			t.Fatalf("%d bytes of the last line: got %d admitted, want 10 but the first three", cut-last, got)
		}
	}
	if err := os.WriteFile(s.path, []byte(strings.Replace(whole, `"key"`, `"k`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.tables.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenTables(s.path); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a broken line in the middle: got %v", err)
	}
}

// When it is opened, and when it has become long, the file is written anew while
// decisions go on, and nothing is lost.
func TestFileIsShortened(t *testing.T) {
	const limit = "fixed-window{rate=2100/1h}"
	s := newShelf(t, limit)
	s.tables.file.bound = 100
	done := make(chan struct{})
	for i := range 4 {
		go func() {
			s.admitted(0, fmt.Sprint(i), 2000)
			done <- struct{}{}
		}()
	}
	for range 4 {
		<-done
	}
	s.tables.tidy.Wait()
	lines := strings.Count(s.file(), "\n")
	if lines > 7900 {
		t.Errorf("got %d lines of 8000 decisions on 4 keys", lines)
	}
	s.open(limit)
	if lines := strings.Count(s.file(), "\n"); lines != 5 {
		t.Errorf("opened again: got %d lines, want the limit and 4 keys", lines)
	}
	if got := s.admitted(0, "2", 300); got != 100 {
		t.Errorf("got %d left, want 100", got)
	}
}

// Nothing is answered that could not be written down.
func TestFileThatCannotBeWritten(t *testing.T) {
	s := newShelf(t, "fixed-window{rate=10/1h}")
	if err := s.tables.Close(); err != nil {
		t.Fatal(err)
	}
	settled := false
	if err := s.Decide(t.Context(), []Ask{{Key: "a", Cost: 1}}, func(*Answer) { settled = true }); err == nil || settled {
		t.Errorf("got %v, settled %v, want an error and no answer", err, settled)
	}
	if _, err := (&Tables{file: &journal{path: filepath.Join(t.TempDir(), "no", "folder")}}).Open(s.limits, s.clock); err == nil {
		t.Error("in a folder that there is not: got no error")
	}
}
