package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if burning() || limiting() {
		return
	}
	if len(os.Args) == 2 && os.Args[1] == guardianArgument {
		if err := guard(); err != nil {
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv(largeInto); dir != "" {
		if err := writeLarge(dir, asked(largeHits, 0)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if as := os.Getenv(watchedAs); as != "" {
		length, err := time.ParseDuration(os.Args[3])
		if err == nil {
			err = watched(as, os.Args[1], os.Args[2], length)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testscript.Main(m, map[string]func(){"hammer": main})
}

// The scripts of testdata/script run the program as a user would.
func TestScripts(t *testing.T) {
	servers := serveAwkward(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			for name, url := range servers {
				e.Setenv(name, url)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "halve": halve, "waitfor": waitFor},
	})
}

// exits runs a program and compares its exit code: exits CODE PROGRAM [ARG ...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG ...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// halve cuts a file in half: halve FILE.
func halve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: halve FILE")
	}
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()/2))
}

// waitFor waits until a file is there: waitfor FILE.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	for range 600 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s did not come", args[0])
}

// serveAwkward starts servers that no limiter can be tested at, by the name of
// the variable that holds their URL.
func serveAwkward(t *testing.T) map[string]string {
	answer := func(status int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprintln(w, "hello")
		}
	}
	urls := map[string]string{}
	plain := func(name string, h http.Handler) *httptest.Server {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		urls[name] = s.URL
		return s
	}
	plain("PLAIN", answer(200))
	plain("MOVED", answer(301, "Location", "https://127.0.0.1/elsewhere"))
	plain("UNAUTHORIZED", answer(401))
	plain("MISSING", answer(404))
	plain("FAILING", answer(500))
	plain("ANNOUNCING", answer(200, "RateLimit-Policy", `"default";q=10;w=2`))
	plain("ANNOUNCING_07", answer(200, "RateLimit-Policy", `10;w=2`))
	plain("LIMITED", answer(429, "Retry-After", "1"))
	plain("GARBLED", answer(200, "RateLimit-Policy", `quota;t=1`))
	s := httptest.NewUnstartedServer(answer(200))
	s.Config.ErrorLog = nil
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	urls["TLS"] = s.URL
	urls["TLS_AS_PLAIN"] = "http://" + s.Listener.Addr().String()
	urls["TAKEN"] = urls["PLAIN"][len("http://"):]
	urls["PLAIN_AS_TLS"] = "https://" + urls["PLAIN"][len("http://"):]
	return urls
}
