package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/ratehammer/ratehammer/probes/action/vdso"
	"github.com/ratehammer/ratehammer/scenarios"
)

// processClocks are the wall clocks of running processes, moved one by one.
type processClocks struct {
	pids  []int
	taken []*vdso.Clock
}

func (p *processClocks) do(_ context.Context, a scenarios.Action) error {
	for len(p.taken) < len(p.pids) {
		c, err := vdso.Take(p.pids[len(p.taken)], func(vdso.Original) error { return nil })
		if err != nil {
			return err
		}
		p.taken = append(p.taken, c)
	}
	for _, c := range p.taken {
		to, err := moved(c.Course(), vdso.Mono(), a)
		if err != nil {
			return err
		}
		if err := c.Set(to); err != nil {
			return err
		}
	}
	return nil
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
