package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProgram makes the test binary be target itself.
const asProgram = "RATEHAMMER_TEST_AS_TARGET"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"target": main})
}

// The scripts know the address $TAKEN, which somebody else listens on, and the
// command `exits CODE target ...`.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Defer(func() { ln.Close() })
			e.Setenv("TAKEN", ln.Addr().String())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var status *exec.ExitError
		if !errors.As(err, &status) {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = status.ExitCode()
	}
	if got != want {
		ts.Fatalf("got exit code %d, want %d", got, want)
	}
}

// The program serves where it says, and ends with 0 on a signal.
func TestServeUntilSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent these signals")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--key", "ip", "--defect", "off-by-one{delta=+1}")
		cmd.Env = append(os.Environ(), asProgram+"=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		url := readURL(t, out)
		if res, err := http.Get(url); err != nil || res.StatusCode != 200 {
			t.Errorf("GET %s: got %v, %v, want 200", url, res, err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("after %v: got %v and %q, want exit code 0 and nothing to say", signal, err, &stderr)
		}
	}
}

// readURL waits for the line that says where the server listens.
func readURL(t *testing.T, out io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "serving  "); ok {
			return url
		}
	}
	t.Fatalf("the program ended without saying where it serves: %v", lines.Err())
	return ""
}

// A greeting that nobody can read is an error, and the server does not go on.
func TestGreetingCannotBeWritten(t *testing.T) {
	var stderr bytes.Buffer
	r, w := io.Pipe()
	r.Close()
	if code := run(t.Context(), []string{"serve", "--listen", "127.0.0.1:0"}, w, &stderr); code != exitFailed {
		t.Errorf("got exit code %d, want %d", code, exitFailed)
	}
}
