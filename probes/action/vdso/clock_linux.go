package vdso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	cells     = 4
	cellSize  = 24
	chosenAt  = cells * cellSize // of the number of the cell in force
	entriesAt = chosenAt + 8
)

// Clock is the wall clock that a process is shown. It is not safe for concurrent use.
type Clock struct {
	original Original
	mem      *os.File
	at       uint64 // of the routine
	chosen   uint32
	course   Course
	courses  map[string]bool // all that were set, as they stand in the process
}

// Take makes a process show a wall clock of ours, which goes on as the system's
// until it is Set. tell is told of what will be overwritten before anything is.
func Take(pid int, tell func(Original) error) (*Clock, error) {
	c, err := take(pid, tell)
	if err != nil {
		return nil, fmt.Errorf("the clock of process %d: %w", pid, err)
	}
	return c, nil
}

func take(pid int, tell func(Original) error) (*Clock, error) {
	c, err := reach(pid)
	if err != nil {
		return nil, err
	}
	if err := c.patch(pid, tell); err != nil {
		c.mem.Close()
		return nil, c.ended(err)
	}
	return c, nil
}

// Reachable is an error where the clock of a process cannot be taken, and why. Nothing is
// written; its threads stand still for a moment.
func Reachable(pid int) error {
	c, err := reach(pid)
	if err == nil {
		defer c.mem.Close()
		_, _, err = c.plan(pid)
	}
	if err == nil {
		err = stopped(pid, func([]uint64) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("the clock of process %d: %w", pid, err)
	}
	return nil
}

// reach opens the memory of a process.
func reach(pid int) (*Clock, error) {
	started, err := startOf(pid)
	if err != nil {
		return nil, err
	}
	if len(routine) == 0 {
		return nil, errors.New("this is done on amd64 and arm64 alone")
	}
	if !sameTime(pid) {
		return nil, errors.New("it has a monotonic clock of its own (another time namespace): run hammer in the same one")
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("this takes the right to trace it: run hammer as root, or with CAP_SYS_PTRACE: %w", err)
	}
	return &Clock{original: Original{PID: pid, Started: started}, mem: mem, courses: map[string]bool{}, course: Course{At: Mono(), Wall: time.Now().UnixNano()}}, nil
}

// plan finds the place of the routine in the process, and gives the jumps to it and what
// they overwrite.
func (c *Clock) plan(pid int) (jumps, was []Patch, err error) {
	i, err := readImage(pid, c.mem)
	if err != nil {
		return nil, nil, err
	}
	functions, err := i.functions()
	if err != nil {
		return nil, nil, err
	}
	room, err := i.room(len(routine))
	if err != nil {
		return nil, nil, err
	}
	c.at = i.base + room
	for n, f := range functions {
		entry := binary.LittleEndian.Uint64(routine[entriesAt+8*n:])
		if f.Size == 0 || entry == 0 {
			continue
		}
		from := i.base + f.Value
		to := jump(from, c.at+entry)
		jumps = append(jumps, Patch{from, to})
		was = append(was, Patch{from, bytes.Clone(i.bytes[f.Value:][:len(to)])})
		if i.leaves(f.Value) {
			return nil, nil, errors.New("its clock is moved already, by another run of hammer")
		}
	}
	return jumps, append(was, Patch{c.at, make([]byte, len(routine))}), nil
}

// patch puts the routine into the process, and then jumps to it.
func (c *Clock) patch(pid int, tell func(Original) error) error {
	jumps, was, err := c.plan(pid)
	if err != nil {
		return err
	}
	c.original.Patches = was
	if err := tell(c.original); err != nil {
		return err
	}
	if err := c.write(0, routine); err != nil {
		return fmt.Errorf("its vDSO cannot be written: %w", err)
	}
	if err := c.Set(c.course); err != nil {
		return err
	}
	return writeWhere(pid, c.mem, jumps)
}

// ended is what is to be said of an error where the process is gone, which it comes from then.
func (c *Clock) ended(err error) error {
	now, gone := startOf(c.PID())
	switch {
	case err == nil:
		return nil
	case gone != nil:
		return &Ended{c.PID()}
	case now != c.original.Started:
		return &Ended{c.PID()}
	}
	return err
}

func isEnded(err error) bool { return errors.As(err, new(*Ended)) }

// PID is the process's number.
func (c *Clock) PID() int { return c.original.PID }

// Course is how the clock runs.
func (c *Clock) Course() Course { return c.course }

// Set lets the clock run another course from now on. It is read back.
func (c *Clock) Set(to Course) error {
	if to.PPM < Frozen || to.PPM > -Frozen {
		return fmt.Errorf("a clock cannot run %d ppm faster", to.PPM)
	}
	next := (c.chosen + 1) % cells // whoever reads the one in force reads it to its end
	var cell []byte
	for _, x := range []int64{to.At, to.Wall, to.PPM} {
		cell = binary.LittleEndian.AppendUint64(cell, uint64(x))
	}
	c.courses[string(cell)] = true
	number := binary.LittleEndian.AppendUint32(nil, next)
	if err := c.ended(errors.Join(c.write(uint64(next*cellSize), cell), c.write(chosenAt, number[:1]))); isEnded(err) {
		return err
	} else if err != nil {
		return fmt.Errorf("the clock of process %d cannot be set: %w", c.PID(), err)
	}
	c.chosen, c.course = next, to
	back := make([]byte, len(routine))
	_, err := c.mem.ReadAt(back, int64(c.at))
	err = c.ended(err)
	if err == nil && (!bytes.Equal(back[next*cellSize:][:cellSize], cell) || back[chosenAt] != byte(next)) {
		err = errors.New("what was written is not there")
	}
	if err != nil && !isEnded(err) {
		err = fmt.Errorf("the clock of process %d cannot be read back: %w", c.PID(), err)
	}
	return err
}

// Release writes back what was there.
func (c *Clock) Release() error {
	defer c.mem.Close()
	return Restore(c.original)
}

func (c *Clock) write(at uint64, b []byte) error {
	_, err := c.mem.WriteAt(b, int64(c.at+at))
	return err
}

// Restore writes back what was in a process; one that has ended is none.
func Restore(o Original) error {
	if now, err := startOf(o.PID); err != nil || now != o.Started {
		return nil
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", o.PID), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	n := len(o.Patches) - 1
	if n < 0 || !mapped(mem, o.Patches[n].At) { // it runs another program by now, with a vDSO of its own
		return nil
	}
	if err := writeWhere(o.PID, mem, o.Patches[:n]); err != nil { // from here on nobody enters the routine
		return fmt.Errorf("writing back the vDSO of process %d: %w", o.PID, err)
	}
	if err := writeWhere(o.PID, mem, o.Patches[n:]); err != nil {
		return fmt.Errorf("writing back the vDSO of process %d: %w", o.PID, err)
	}
	return nil
}

// RestoreCopy writes back what a process has of this one, which it was forked from, or an
// ancestor of it was, while the clock was moved; it says whether there was anything. The
// vDSO is where it is here, unless the process runs another program by now: then there is
// nothing. A process that may not be looked at is taken for somebody else's.
func (c *Clock) RestoreCopy(pid int) (restored bool, err error) {
	of := c.original
	started, err := startOf(pid)
	if err != nil || pid == of.PID && started == of.Started {
		return false, nil // it has ended, or is no copy
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return false, nil
	}
	defer mem.Close()
	if !c.copied(mem) {
		return false, nil
	}
	of.PID, of.Started = pid, started
	if err := Restore(of); err != nil {
		return false, err
	}
	if now, err := startOf(pid); err == nil && now == started && c.copied(mem) {
		return false, fmt.Errorf("process %d still has a moved clock", pid)
	}
	return true, nil
}

// copied reports whether our routine is where it was put, with a course that we have set
// to the nanosecond: another run of hammer on a process of the same family has others.
func (c *Clock) copied(mem *os.File) bool {
	there := make([]byte, len(routine))
	if _, err := mem.ReadAt(there, int64(c.at)); err != nil || !bytes.Equal(there[entriesAt:], routine[entriesAt:]) {
		return false
	}
	chosen := int(there[chosenAt]) % cells
	return c.courses[string(there[chosen*cellSize:][:cellSize])]
}

func mapped(mem *os.File, at uint64) bool {
	_, err := mem.ReadAt(make([]byte, 1), int64(at))
	return err == nil
}

// writeWhere writes patches while no thread is inside of one.
func writeWhere(pid int, mem *os.File, patches []Patch) error {
	for range 200 {
		busy := false
		err := stopped(pid, func(at []uint64) error {
			for _, p := range patches {
				// At the first byte of a patch of a function nothing of it was done yet.
				if busy = busy || slices.ContainsFunc(at, func(x uint64) bool { return x > p.At && x < p.At+uint64(len(p.Bytes)) }); busy {
					return nil
				}
			}
			for _, p := range patches {
				if _, err := mem.WriteAt(p.Bytes, int64(p.At)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !busy {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("its threads are always reading the clock")
}

// Mono is the system's CLOCK_MONOTONIC.
func Mono() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// startOf is when a process was started, as the kernel counts it.
func startOf(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("there is no process %d", pid)
	}
	words := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // a name may hold anything
	if len(words) < 20 || words[0] == "Z" || words[0] == "X" {
		return "", &Ended{pid}
	}
	return words[19], nil
}

// sameTime reports whether a process has our monotonic clock.
func sameTime(pid int) bool {
	ours, err1 := os.Readlink("/proc/self/ns/time")
	its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/time", pid))
	return err1 != nil || err2 != nil || ours == its
}
