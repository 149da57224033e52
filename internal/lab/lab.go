// Package lab starts real programs for tests: nginx, node and what else the
// product has to be held against. Only tests import it.
package lab

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// LeftOut is the environment variable that names a file in which each test
// that had to be left out leaves a line, so that `make test` can tell them all
// at its end.
const LeftOut = "HAMMER_LEFT_OUT"

// Need is the path of a program, or leaves the test out.
func Need(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if path, err = exec.LookPath(filepath.Join("/usr/sbin", program)); err == nil {
		return path
	}
	LeaveOut(t, fmt.Sprintf("%s is not installed (Debian: apt-get install %s)", program, debianPackage))
	return ""
}

// LeaveOut ends a test that cannot run here, and says why: as a failure under
// CI=true, elsewhere as a skip that `make test` tells at its end.
func LeaveOut(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and with CI=true no test may be left out", why)
	}
	if name := os.Getenv(LeftOut); name != "" {
		if f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			fmt.Fprintf(f, "%s: %s\n", t.Name(), why)
			f.Close()
		}
	}
	t.Skip(why)
}

// Port is a port of 127.0.0.1 that was free a moment ago.
func Port(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Start runs a program until the test ends, once something listens on the port.
func Start(t testing.TB, port int, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	return start(t, port, env, name, args...).cmd
}

// process is a program that runs until its test ends, or is made to end before.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	err    error         // how, once exited is closed
}

func start(t testing.TB, port int, env []string, name string, args ...string) *process {
	t.Helper()
	var output bytes.Buffer
	p := &process{cmd: exec.Command(name, args...), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &output, &output
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(p.end)
	for range 400 {
		select {
		case <-p.exited:
			t.Fatalf("%s ended at once: %v\n%s", name, p.err, output.String())
		default:
		}
		if listens(port) {
			return p
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%s does not listen on port %d", name, port)
	return nil
}

// end asks a program to end, and makes it after a while.
func (p *process) end() {
	if runtime.GOOS == "windows" {
		p.cmd.Process.Kill()
	} else {
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
		p.cmd.Process.Kill()
		<-p.exited
	}
}

func listens(port int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// Nginx starts nginx with the lines inside http{} and the locations inside its
// server{}, and gives its URL without a slash at the end.
func Nginx(t testing.TB, http, server string) string {
	t.Helper()
	url, _ := NginxProcess(t, http, server)
	return url
}

// NginxProcess starts nginx likewise, and also gives its process, whose child the
// worker is.
func NginxProcess(t testing.TB, http, server string) (url string, pid int) {
	t.Helper()
	program := Need(t, "nginx", "nginx-light")
	dir, port := t.TempDir(), Port(t)
	conf := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
  keepalive_requests 100000;
  %[2]s
  server { listen 127.0.0.1:%[3]d backlog=1024; root %[1]s/www; %[4]s }
}`, dir, http, port, server)
	write(t, filepath.Join(dir, "nginx.conf"), conf)
	write(t, filepath.Join(dir, "www", "index.html"), "ok\n")
	if os.Geteuid() == 0 { // nginx's workers run as somebody else, who must be able to read
		chmodPath(t, dir)
	}
	cmd := Start(t, port, nil, program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"))
	return fmt.Sprintf("http://127.0.0.1:%d", port), cmd.Process.Pid
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// chmodPath makes a test's folder passable for other users, up to the system's own.
func chmodPath(t testing.TB, dir string) {
	t.Helper()
	for d := dir; d != os.TempDir() && d != "/" && d != "."; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
