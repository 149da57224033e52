// Package action does what a plan says is done to a server while requests are fired
// at it: it moves clocks, pauses and restarts processes, cuts the way to a store,
// and runs commands. All of that happens in a guardian, a small process of its own,
// which takes back what still lasts when it is told to, and also when whoever
// started it is gone, however that came about.
package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ratehammer/ratehammer/probes/action/vdso"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Tools are by what a server can be reached. The zero value reaches nothing.
type Tools struct {
	Admin    string   `json:"admin,omitempty"`     // URL of the admin side of the reference server; empty: it is none
	Token    string   `json:"token,omitempty"`     // that the admin side wants; empty: none
	PIDs     []int    `json:"pids,omitempty"`      // processes of the server
	Children bool     `json:"children,omitempty"`  // and all that were started by them
	Stores   []int    `json:"stores,omitempty"`    // processes of its store
	Program  []string `json:"program,omitempty"`   // the server itself, which the guardian starts; empty: it runs already
	Faketime bool     `json:"faketime,omitempty"`  // the program is started under libfaketime
	Commands bool     `json:"commands,omitempty"`  // commands may be run
	Dir      string   `json:"directory,omitempty"` // for what has to be on disk; the guardian takes it away at its end
}

// doer is one way to do things of a kind. What it has done it can take back.
type doer interface {
	// check is an error where it is known beforehand that an action cannot be done.
	check(scenarios.Action) error
	// do may say more of what it did than the action says.
	do(context.Context, scenarios.Action) (what string, err error)
	// undo says what it took back; nothing where nothing lasts.
	undo() (what []string, err error)
}

// hand does actions, by whichever tool can.
type hand struct {
	tools Tools

	mu       sync.Mutex
	program  *program // nil: the server is not ours
	clocks   *processClocks
	watching *vdso.Watching // nil: nothing is
	admin    *admin
	signals  *signals
	command  *commands
	order    []doer // in which things are taken back, once used
}

func newHand(t Tools) *hand {
	h := &hand{tools: t, clocks: &processClocks{}, signals: &signals{}, command: &commands{}}
	if t.Admin != "" {
		h.admin = newAdmin(t.Admin, t.Token)
	}
	return h
}

// check is an error where one of the actions cannot be done, as far as that is known
// before anything is done.
func (h *hand) check(actions []scenarios.Action) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range actions {
		d, err := h.tool(a)
		if err == nil {
			err = d.check(a)
		}
		if err != nil {
			return fmt.Errorf("this cannot be done here: %s: %w", a, err)
		}
	}
	return nil
}

// do does one action. It says what is missing where there is no tool for it.
func (h *hand) do(ctx context.Context, a scenarios.Action) (what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, err := h.tool(a)
	if err != nil {
		return "", err
	}
	if !slices.Contains(h.order, d) {
		h.order = append(h.order, d)
	}
	return d.do(ctx, a)
}

func (h *hand) tool(a scenarios.Action) (doer, error) {
	switch {
	case a.Act == scenarios.Command && h.tools.Commands:
		return h.command, nil
	case a.Act == scenarios.Command:
		return nil, errors.New("commands of a scenario are run only where that is allowed: --allow-commands")
	case a.OfClock():
		return h.clock(a)
	case h.admin != nil && (a.OfStore() || a.Act == scenarios.ProcessRestart || a.Act == scenarios.ProcessReload) && a.On != scenarios.OnStore:
		return h.admin, nil
	case a.OfStore():
		return nil, errors.New("the way to a store is cut by the admin side of the reference server (--clock-admin URL): for another one pause its process, with process: pause, on: store, and --store-pid PID")
	case h.program != nil && a.On != scenarios.OnStore:
		h.signals.pids, h.signals.program = h.program.pids(), h.program
		return h.signals, nil
	}
	pids, err := h.pids(a.On)
	if err != nil {
		return nil, err
	}
	h.signals.pids = pids
	return h.signals, nil
}

// pids are the processes that an action is about.
func (h *hand) pids(on string) ([]int, error) {
	all, flag := h.tools.PIDs, "--clock-pid"
	if on == scenarios.OnStore {
		all, flag = h.tools.Stores, "--store-pid"
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing says which process that is: give it with %s PID", flag)
	}
	for _, pid := range all {
		if pid < 1 {
			return nil, fmt.Errorf("%s %d is the number of no process", flag, pid)
		}
	}
	n, err := strconv.Atoi(on)
	numbered := err == nil
	if h.tools.Children && (len(all) == 1 || !numbered) { // the numbers of one given process are those of its family
		if all, err = families(all); err != nil {
			return nil, err
		}
	}
	switch {
	case numbered && n > len(all) && len(all) == 1:
		return nil, fmt.Errorf("on %q is another process than the first, and there is one: give several with %s, or its workers too with --clock-children", on, flag)
	case numbered && n > len(all):
		return nil, fmt.Errorf("on %q: there are %d processes, %s", on, len(all), numbers(all))
	case !numbered:
		return all, nil
	case h.tools.Children && len(h.tools.PIDs) > 1:
		return families(all[n-1 : n])
	}
	return all[n-1 : n], nil
}

func numbers(pids []int) string {
	return strings.Trim(fmt.Sprint(pids), "[]")
}

// clock is what moves a clock; it goes on from action to action.
func (h *hand) clock(a scenarios.Action) (doer, error) {
	switch {
	case h.admin != nil && a.On != scenarios.OnStore:
		return h.admin, nil
	case h.program != nil && h.program.faked != nil && a.On != scenarios.OnStore:
		return h.program.faked, nil
	}
	pids, err := h.pids(a.On)
	if err != nil && a.On != scenarios.OnStore && len(h.tools.PIDs) == 0 {
		return nil, errors.New("nothing moves the server's clock: give --clock-pid PID, --clock-admin URL for the reference server, or --under-faketime -- COMMAND")
	}
	if err != nil {
		return nil, err
	}
	h.clocks.pids, h.clocks.family = pids, h.tools.Children
	return h.clocks, nil
}

// undo takes back what lasts, the latest first. All is tried, whatever fails.
func (h *hand) undo() (what []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range slices.Backward(h.order) {
		w, e := d.undo()
		what, err = append(what, w...), errors.Join(err, e)
	}
	h.order = nil
	return what, err
}
