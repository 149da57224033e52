package action

import (
	"context"
	"errors"
	"fmt"

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
	p.taken = nil
	return what, err
}
