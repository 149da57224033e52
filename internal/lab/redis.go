package lab

import (
	"fmt"
	"testing"
)

// RedisServer is a redis-server that belongs to one test. It keeps nothing on
// disk.
type RedisServer struct {
	Address string // host and port

	t       testing.TB
	program string
	dir     string
	port    int
	process *process
}

// Redis starts a redis-server until the test ends, or leaves the test out.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	r := &RedisServer{t: t, program: Need(t, "redis-server", "redis-server"), dir: t.TempDir(), port: Port(t)}
	r.Address = fmt.Sprintf("127.0.0.1:%d", r.port)
	r.Restart()
	return r
}

// Restart starts it, empty and on the same address, after it was killed.
func (r *RedisServer) Restart() {
	r.t.Helper()
	r.process = start(r.t, r.port, nil, r.program, "--port", fmt.Sprint(r.port), "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", r.dir, "--loglevel", "warning")
	// A frozen one hears no request to end. Cleanups run from the last to the first.
	process := r.process
	r.t.Cleanup(func() { thaw(process.cmd.Process) })
}

// PID is its process.
func (r *RedisServer) PID() int { return r.process.cmd.Process.Pid }

// Kill ends it at once, as a crash does.
func (r *RedisServer) Kill() {
	r.t.Helper()
	if err := r.process.cmd.Process.Kill(); err != nil {
		r.t.Fatalf("killing redis-server: %v", err)
	}
	<-r.process.exited
}

// Freeze stops it in its tracks: connections stay open and nothing is answered.
// Where no process can be frozen the test is left out.
func (r *RedisServer) Freeze() {
	r.t.Helper()
	if err := freeze(r.process.cmd.Process); err != nil {
		LeaveOut(r.t, fmt.Sprintf("redis-server cannot be frozen: %v", err))
	}
}

// Thaw lets it go on.
func (r *RedisServer) Thaw() {
	r.t.Helper()
	if err := thaw(r.process.cmd.Process); err != nil {
		r.t.Fatalf("thawing redis-server: %v", err)
	}
}
