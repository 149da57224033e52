package action

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/ratehammer/ratehammer/scenarios"
)

// order is what the guardian is told, as a line of JSON; the first are its tools.
type order struct {
	Tools *Tools             `json:"tools,omitempty"`
	Check []scenarios.Action `json:"check,omitempty"` // whether they can be done
	Do    *scenarios.Action  `json:"do,omitempty"`
	Look  bool               `json:"look,omitempty"`  // whether the server that was started is there
	Watch string             `json:"watch,omitempty"` // watchBegin or watchEnd
	Undo  bool               `json:"undo,omitempty"`
	Stop  bool               `json:"stop,omitempty"` // gives up what is being done; it is not answered
}

// report is what it answers to each.
type report struct {
	Error string   `json:"error,omitempty"` // empty: it was done
	What  []string `json:"what,omitempty"`  // was taken back, or what was done
	Seen  *Seen    `json:"seen,omitempty"`  // while it was watched
}

// When what a server asks for is watched.
const (
	watchBegin = "begin"
	watchEnd   = "end"
)

// Guard is what the guardian does: it obeys orders until there are none to come,
// and then takes back what still lasts. The error is what could not be taken back.
func Guard(orders io.Reader, reports io.Writer) error {
	var h *hand
	out := json.NewEncoder(reports)
	incoming := make(chan order)
	ctx, gone := context.WithCancel(context.Background())
	busy := &interruptible{}
	go func() {
		defer close(incoming)
		defer gone()
		lines := bufio.NewScanner(orders)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var o order
			if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
				return
			}
			if o.Stop {
				busy.interrupt()
				continue
			}
			incoming <- o
		}
	}()
	for o := range incoming {
		var r report
		var err error
		switch {
		case h == nil && o.Tools == nil:
			err = errors.New("no tools")
		case o.Tools != nil:
			h = newHand(*o.Tools)
			if len(o.Tools.Program) > 0 {
				h.program, err = startProgram(*o.Tools)
			}
		case o.Do != nil:
			var what string
			if what, err = h.do(busy.begin(ctx), *o.Do); what != "" {
				r.What = []string{what}
			}
		case o.Look:
			if h.program != nil {
				err = h.program.dead()
			}
		case o.Watch == watchBegin:
			err = h.watch()
		case o.Watch == watchEnd:
			r.Seen, err = h.watched()
		case o.Check != nil:
			err = h.check(o.Check)
		default:
			r.What, err = h.undo()
		}
		if err == nil && h != nil && h.program != nil && o.Do != nil {
			err = h.program.dead()
		}
		if err != nil {
			r.Error = err.Error()
		}
		_ = out.Encode(r) // nobody may be there any more
	}
	if h == nil {
		return nil
	}
	_, err := h.undo()
	if h.program != nil && h.program.cmd.Process != nil {
		h.program.stop()
	}
	if h.tools.Dir != "" {
		err = errors.Join(err, os.RemoveAll(h.tools.Dir))
	}
	return err
}

// interruptible is what is being done, and can be given up.
type interruptible struct {
	mu     sync.Mutex
	cancel context.CancelFunc
}

func (i *interruptible) begin(parent context.Context) context.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	ctx, cancel := context.WithCancel(parent)
	i.cancel = cancel
	return ctx
}

func (i *interruptible) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cancel != nil {
		i.cancel()
	}
}

// Guardian is the process that does what plans say. It is a probes.Actor. It is
// safe for concurrent use, and does one thing at a time.
type Guardian struct {
	mu      sync.Mutex // of one order and its report
	writing sync.Mutex
	cmd     *exec.Cmd
	orders  io.WriteCloser
	reports *bufio.Scanner
	tools   Tools
	did     []scenarios.Action // since all was taken back
}

// errLost is the error of a guardian that is gone: somebody has ended it.
var errLost = errors.New("the guardian process is gone")

// stuck is what is to be said of a guardian that is gone when things are to be taken back.
func (g *Guardian) stuck() error {
	if len(g.did) == 0 {
		return fmt.Errorf("%w: it had done nothing that lasts", errLost)
	}
	var did []string
	for _, a := range g.did[max(0, len(g.did)-3):] {
		did = append(did, a.String())
	}
	whom := "the server and its store"
	if pids := slices.Concat(g.tools.PIDs, g.tools.Stores); len(pids) > 0 {
		whom = "process " + numbers(pids)
	}
	return fmt.Errorf("%w: nothing guarantees that what it did is undone (%s): start %s anew, and let go on what is paused, with kill -CONT PID", errLost, strings.Join(did, ", "), whom)
}

// noted keeps what was done, without what was done and undone again.
func (g *Guardian) noted(a scenarios.Action) {
	if n := len(g.did); n > 0 && a.Act == scenarios.ClockStep && g.did[n-1].Act == a.Act && g.did[n-1].On == a.On && g.did[n-1].By == -a.By {
		g.did = g.did[:n-1]
		return
	}
	g.did = append(g.did, a)
}

// Start starts a guardian, which is cmd: a program that calls Guard on its standard
// input and output. The error says which tool cannot be had.
func Start(cmd *exec.Cmd, t Tools) (*Guardian, error) {
	g := &Guardian{cmd: cmd, tools: t}
	var err error
	if g.orders, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	reports, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	ofItsOwn(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guardian: %w", err)
	}
	g.reports = bufio.NewScanner(reports)
	g.reports.Buffer(nil, 1<<20)
	if _, err := g.order(order{Tools: &t}); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Guardian) order(o order) (r report, err error) {
	if err = g.send(o); err == nil && !g.reports.Scan() {
		err = cmp.Or(g.reports.Err(), io.ErrUnexpectedEOF)
	}
	if err == nil {
		err = json.Unmarshal(g.reports.Bytes(), &r)
	}
	switch {
	case err != nil:
		return r, errLost
	case r.Error != "":
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (g *Guardian) send(o order) error {
	g.writing.Lock()
	defer g.writing.Unlock()
	line, err := json.Marshal(o)
	if err == nil {
		_, err = g.orders.Write(append(line, '\n'))
	}
	return err
}

// Do does an action and returns when it is done. A ctx that has ended gives a command
// up at once.
func (g *Guardian) Do(ctx context.Context, a scenarios.Action) (what string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	// An order to stop that comes too late stops nothing.
	late := context.AfterFunc(ctx, func() { _ = g.send(order{Stop: true}) })
	defer late()
	r, err := g.order(order{Do: &a})
	g.noted(a) // also where it failed: a part of it may have been done
	return strings.Join(r.What, ", "), err
}

// Check is an error where one of the actions cannot be done, as far as that is known
// beforehand. It does nothing to the server.
func (g *Guardian) Check(actions []scenarios.Action) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(actions) == 0 {
		return nil
	}
	_, err := g.order(order{Check: actions})
	return err
}

// Look is an error where the server that was started has ended, and says how.
func (g *Guardian) Look() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.order(order{Look: true})
	return err
}

// Watched says what the processes whose clocks were moved so far ask for, while f goes on.
func (g *Guardian) Watched(f func() error) (Seen, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.order(order{Watch: watchBegin}); err != nil {
		return Seen{}, err
	}
	failed := f()
	r, err := g.order(order{Watch: watchEnd})
	if failed != nil || err != nil {
		return Seen{}, errors.Join(failed, err)
	}
	return *r.Seen, nil
}

// Undo takes back all that was done and still lasts, and says what that was.
func (g *Guardian) Undo() (what []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, err := g.order(order{Undo: true})
	switch {
	case errors.Is(err, errLost):
		err = g.stuck()
	case err == nil:
		g.did = nil
	}
	return r.What, err
}

// Close ends the guardian, which takes back what still lasts, and the server where it
// was started by it.
func (g *Guardian) Close() error {
	_ = g.orders.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("the guardian process has not ended well, so that perhaps not everything was taken back: %w", err)
	}
	return nil
}
