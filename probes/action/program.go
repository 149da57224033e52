package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// program is the server, where it is ours.
type program struct {
	words []string
	log   string // file that its output goes to
	faked *faketime
	cmd   *exec.Cmd
	ended chan struct{}
}

// startProgram starts the server that the tools name.
func startProgram(t Tools) (*program, error) {
	p := &program{words: t.Program, log: t.Dir + "/server.log"}
	if t.Faketime {
		var err error
		if p.faked, err = newFaketime(t.Program[0], t.Dir); err != nil {
			return nil, fmt.Errorf("starting the server: %w", err)
		}
	}
	return p, p.start()
}

func (p *program) start() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(p.words[0], p.words[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = os.Environ()
	if p.faked != nil {
		p.cmd.Env = append(p.cmd.Env, p.faked.environment()...)
	}
	ofItsOwn(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	ended, cmd := make(chan struct{}), p.cmd
	p.ended = ended
	go func() {
		_ = cmd.Wait() // how it ended, its state tells
		close(ended)
	}()
	return nil
}

func (p *program) pids() []int { return []int{p.cmd.Process.Pid} }

// dead is an error where it has ended by itself, with what it said last.
func (p *program) dead() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the server that was started (%s) has ended, with %v%s", strings.Join(p.words, " "), p.cmd.ProcessState, p.said())
	default:
		return nil
	}
}

// said is what it said last.
func (p *program) said() string {
	const most = 300
	text, _ := os.ReadFile(p.log)
	lines := strings.FieldsFunc(strings.TrimSpace(string(text)), func(r rune) bool { return r == '\n' })
	if len(lines) == 0 {
		return ", and said nothing"
	}
	// A program that falls says why first, and where after it; a shell says it last.
	last := strings.TrimSpace(lines[len(lines)-1])
	for _, l := range lines {
		if strings.Contains(l, "Error") || strings.Contains(l, "error") {
			last = strings.TrimSpace(l)
			break
		}
	}
	return fmt.Sprintf(", and said %q", last[:min(len(last), most)])
}

// stop ends it, gently for three seconds.
func (p *program) stop() {
	pid := p.cmd.Process.Pid
	if err := signal(pid, "continue"); err == nil {
		_ = signal(pid, "stop")
		select {
		case <-p.ended:
			return
		case <-time.After(3 * time.Second):
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *program) restart(ctx context.Context) error {
	p.stop()
	if ctx.Err() != nil {
		return errors.New("the run was over")
	}
	return p.start()
}
