package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/probes/action/vdso"
	"github.com/ratehammer/ratehammer/scenarios"
)

// processClocks are the wall clocks of running processes, moved one by one. One process
// may be meant by several actions, alone and with others.
type processClocks struct {
	pids   []int // that the next action is about
	family bool  // they are one: of those some may end, as long as one is left
	taken  []*vdso.Clock
}

func (p *processClocks) check(scenarios.Action) error {
	return p.each(func(pid int) error {
		if slices.ContainsFunc(p.taken, func(c *vdso.Clock) bool { return c.PID() == pid }) {
			return nil
		}
		return vdso.Reachable(pid)
	})
}

// each does something with each of the processes. Of a family some may have ended.
func (p *processClocks) each(f func(pid int) error) error {
	var gone error
	left := 0
	for _, pid := range p.pids {
		err := f(pid)
		switch ended := new(vdso.Ended); {
		case err == nil:
			left++
		case p.family && errors.As(err, &ended):
			gone = err
		default:
			return err
		}
	}
	if left == 0 {
		return gone
	}
	return nil
}

func (p *processClocks) do(_ context.Context, a scenarios.Action) (what string, err error) {
	if err := p.each(func(pid int) error { _, err := p.clock(pid); return err }); err != nil {
		return "", err
	}
	var first, last time.Time
	n := 0
	err = p.each(func(pid int) error {
		c, err := p.clock(pid)
		if err != nil {
			return err
		}
		to, err := moved(c.Course(), vdso.Mono(), a)
		if err == nil {
			err = c.Set(to)
		}
		if last = time.Now(); n == 0 {
			first = last
		}
		n++
		return err
	})
	switch {
	case len(p.pids) == 1 && a.On != "":
		what = fmt.Sprintf("process %d", p.pids[0])
	case len(p.pids) > 1:
		what = fmt.Sprintf("%d processes one after the other, %d to %d, the last %v behind the first", n, p.pids[0], p.pids[len(p.pids)-1], last.Sub(first).Round(10*time.Microsecond))
	}
	return what, err
}

// clock is that of a process, which is taken if it is not yet.
func (p *processClocks) clock(pid int) (*vdso.Clock, error) {
	for _, c := range p.taken {
		if c.PID() == pid {
			return c, nil
		}
	}
	c, err := vdso.Take(pid, func(vdso.Original) error { return nil })
	if err == nil {
		p.taken = append(p.taken, c)
	}
	return c, err
}

// moved is the course of a clock after an action at a moment.
func moved(c vdso.Course, now int64, a scenarios.Action) (vdso.Course, error) {
	switch a.Act {
	case scenarios.ClockStep:
		return c.Stepped(now, a.By), nil
	case scenarios.ClockSlew:
		return c.Slewed(now, a.PPM), nil
	case scenarios.ClockFreeze:
		return c.Slewed(now, vdso.Frozen), nil
	case scenarios.ClockResume:
		return c.Slewed(now, 0), nil
	}
	return c, fmt.Errorf("a clock knows no %s", a.Act)
}

func (p *processClocks) undo() (what []string, err error) {
	for _, c := range p.taken {
		e := c.Release()
		if e == nil {
			what = append(what, fmt.Sprintf("the wall clock of process %d is the system's again", c.PID()))
		}
		err = errors.Join(err, e)
	}
	n, e := p.undoCopies()
	if n > 0 {
		what = append(what, fmt.Sprintf("forked meanwhile, and right again: the clocks of %d more", n))
	}
	p.taken = nil
	return what, errors.Join(err, e)
}

// undoCopies looks for processes that were forked while the clock of their parent was
// moved, and have it from there. Their parent may be gone, so that all processes are
// looked at, until none is found that could have forked another.
func (p *processClocks) undoCopies() (n int, err error) {
	for range 100 {
		pids, err := processes()
		if err != nil || len(p.taken) == 0 {
			return n, nil // there is no /proc, and so no clock was taken
		}
		found := 0
		var errs []error
		for _, pid := range pids {
			for _, c := range p.taken {
				restored, err := c.RestoreCopy(pid)
				if restored {
					found++
				}
				errs = append(errs, err)
			}
		}
		if n += found; found == 0 {
			return n, errors.Join(errs...)
		}
	}
	return n, errors.New("processes with a moved clock are forked faster than they can be put right")
}

// processes are the numbers of all that are there.
func processes() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}
