package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// spin keeps a core busy until in ends, as it does when the process that began this
// one is gone, however it went.
func spin(in io.Reader) error {
	over := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, in)
		over <- err
	}()
	for n := 0; ; n++ {
		if n%1_000_000 == 0 {
			select {
			case err := <-over:
				return err
			default:
			}
		}
	}
}

// keepBusy has a process for each core do nothing but spin, until rest is called.
func keepBusy() (rest func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	var ends []io.Closer
	rest = func() {
		for i, c := range all {
			_ = errors.Join(ends[i].Close(), c.Wait())
		}
	}
	for range runtime.NumCPU() {
		c := exec.Command(self, "score", "--spin")
		end, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			rest()
			return nil, fmt.Errorf("keeping the cores busy: %w", err)
		}
		all, ends = append(all, c), append(ends, end)
	}
	return rest, nil
}
