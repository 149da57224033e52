package action

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// faketime is the wall clock of a program that was started under libfaketime. Its
// monotonic clock stays true: no step that happens to a machine moves that one.
type faketime struct {
	library string
	file    string // that the library reads the time from, at each call
	offset  time.Duration
	frozen  time.Time // zero: it runs
}

// newFaketime looks for the library, and at whether the program will heed it.
func newFaketime(name, dir string) (*faketime, error) {
	library, err := faketimeLibrary()
	if err != nil {
		return nil, err
	}
	if err := heedsLibraries(name); err != nil {
		return nil, err
	}
	f := &faketime{library: library, file: filepath.Join(dir, "faketime")}
	return f, f.write()
}

func faketimeLibrary() (string, error) {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", errors.New("libfaketime is not installed (Debian: apt-get install faketime)")
}

// heedsLibraries is an error for a program that asks no library for the time.
func heedsLibraries(name string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	for range 3 { // a script is run by another program
		interpreter, ok := shebang(path)
		if !ok {
			break
		}
		if path, err = exec.LookPath(interpreter); err != nil {
			return err
		}
	}
	const wayOut = "start it yourself and give --clock-pid PID instead, which needs no library"
	if _, err := buildinfo.ReadFile(path); err == nil {
		return fmt.Errorf("%s is a Go program, which asks no library for the time: %s", name, wayOut)
	}
	program, err := elf.Open(path)
	if err != nil {
		return nil // it is not known to be static
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			return nil
		}
	}
	return fmt.Errorf("%s is a static program, which loads no library: %s", name, wayOut)
}

// shebang is the program that a script names as its own.
func shebang(path string) (interpreter string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if !ok || len(words) == 0 {
		return "", false
	}
	if filepath.Base(words[0]) == "env" && len(words) > 1 {
		return words[1], true
	}
	return words[0], true
}

func (f *faketime) environment() []string {
	return []string{"LD_PRELOAD=" + f.library, "FAKETIME_TIMESTAMP_FILE=" + f.file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
}

func (f *faketime) check(a scenarios.Action) error {
	if a.Act == scenarios.ClockSlew {
		return errors.New("libfaketime steps and freezes, and slews nothing: give --clock-pid PID for that")
	}
	return nil
}

func (f *faketime) do(_ context.Context, a scenarios.Action) (what string, err error) {
	if err := f.check(a); err != nil {
		return "", err
	}
	now := time.Now().Add(f.offset)
	switch a.Act {
	case scenarios.ClockStep:
		f.offset += a.By
		if !f.frozen.IsZero() {
			f.frozen = f.frozen.Add(a.By)
		}
	case scenarios.ClockFreeze:
		f.frozen = now
	case scenarios.ClockResume:
		if !f.frozen.IsZero() {
			f.offset, f.frozen = f.offset+f.frozen.Sub(now), time.Time{}
		}
	default:
		return "", fmt.Errorf("libfaketime knows no %s", a.Act)
	}
	return "", f.write()
}

// write tells the library the time. It reads a whole file or the one before.
func (f *faketime) write() error {
	text := fmt.Sprintf("%+.6f\n", f.offset.Seconds())
	if !f.frozen.IsZero() {
		text = f.frozen.Format("2006-01-02 15:04:05.000000") + "\n"
	}
	if err := os.WriteFile(f.file+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(f.file+".new", f.file)
}

func (f *faketime) undo() (what []string, err error) {
	f.offset, f.frozen = 0, time.Time{}
	if err := f.write(); err != nil {
		return nil, err
	}
	return []string{"the server's wall clock is the system's again"}, nil
}
