package action

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/ratehammer/ratehammer/scenarios"
)

// order is what the guardian is told, as a line of JSON; the first are its tools.
type order struct {
	Tools *Tools            `json:"tools,omitempty"`
	Do    *scenarios.Action `json:"do,omitempty"`
	Undo  bool              `json:"undo,omitempty"`
	Stop  bool              `json:"stop,omitempty"` // gives up what is being done; it is not answered
}

// report is what it answers to each.
type report struct {
	Error string   `json:"error,omitempty"` // empty: it was done
	What  []string `json:"what,omitempty"`  // was taken back
}

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
			err = h.do(busy.begin(ctx), *o.Do)
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
}

// Start starts a guardian, which is cmd: a program that calls Guard on its standard
// input and output. The error says which tool cannot be had.
func Start(cmd *exec.Cmd, t Tools) (*Guardian, error) {
	g := &Guardian{cmd: cmd}
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
		err = errors.Join(errors.New("it has ended"), g.reports.Err())
	}
	if err == nil {
		err = json.Unmarshal(g.reports.Bytes(), &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("the guardian process: %w", err)
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
func (g *Guardian) Do(ctx context.Context, a scenarios.Action) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	// An order to stop that comes too late stops nothing.
	late := context.AfterFunc(ctx, func() { _ = g.send(order{Stop: true}) })
	defer late()
	_, err := g.order(order{Do: &a})
	return err
}

// Undo takes back all that was done and still lasts, and says what that was.
func (g *Guardian) Undo() (what []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, err := g.order(order{Undo: true})
	return r.What, err
}

// Close ends the guardian, which takes back what still lasts, and the server where it
// was started by it.
func (g *Guardian) Close() error {
	_ = g.orders.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("the guardian process could not take everything back: %w", err)
	}
	return nil
}
