package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// within polls until something is so, for two seconds.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Errorf("after two seconds: %s", what)
}

// started starts hammer as a process of its own.
func started(t *testing.T, scenario string, args ...string) (cmd *exec.Cmd, talk *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte(scenario), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, talk = exec.Command(os.Args[0], append([]string{"run", file, "--out", filepath.Join(t.TempDir(), "run")}, args...)...), &bytes.Buffer{}
	cmd.Args[0] = "hammer"
	cmd.Stderr, cmd.Stdout = talk, talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, talk
}

func paused(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(b), ") T ")
}

// clockOf is how far the wall clock of testdata/bucket.mjs is ahead of ours.
func clockOf(t *testing.T, port int) time.Duration {
	t.Helper()
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		t.Log(err)
		return time.Hour
	}
	defer answer.Body.Close()
	var ms int64
	if _, err := fmt.Fscan(answer.Body, &ms); err != nil {
		t.Fatal(err)
	}
	return time.Until(time.UnixMilli(ms))
}

// hammer is killed, or interrupted, while the server's clock is an hour behind and its
// process paused: both are taken back within two seconds.
func TestEndOfHammerTakesBackClockAndPause(t *testing.T) {
	traced(t)
	for _, by := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(by.String(), func(t *testing.T) {
			pid, port := limiterOf(t, "node", "monotonic")
			cmd, talk := started(t, fmt.Sprintf(`target: http://127.0.0.1:%d/
limit: {burst: 4, rate: 4/s}
phases: [{name: all, pace: 10/s, for: 30s}]
actions:
  - {at: 200ms, clock: {step: -1h}}
  - {at: 500ms, process: pause}
`, port), "--clock-pid", fmt.Sprint(pid))
			for until := time.Now().Add(20 * time.Second); !paused(pid) && time.Now().Before(until); {
				time.Sleep(10 * time.Millisecond)
			}
			if !paused(pid) {
				t.Fatalf("the server was never paused: %s", talk.String())
			}
			if err := cmd.Process.Signal(by); err != nil {
				t.Fatal(err)
			}
			within(t, "the server is still paused", func() bool { return !paused(pid) })
			within(t, "the server's clock is still behind", func() bool { return clockOf(t, port).Abs() < time.Second })
			if err := cmd.Wait(); err == nil {
				t.Error("hammer ended well")
			}
			if by == syscall.SIGINT && !strings.Contains(talk.String(), "is the system's again") {
				t.Errorf("what was taken back is not told: %s", talk.String())
			}
		})
	}
}

// hammer is killed while the way to the store is cut and the server's own clock moved.
func TestKilledHammerRestoresStore(t *testing.T) {
	k, err1 := key.Parse("header:X-Api-Key")
	m, err2 := mode.Parse("token-bucket{burst=4,rate=4/s}")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	s, err := server.Start(server.Config{Limits: []server.Limit{{Name: server.DefaultName, Algorithm: m, Key: k}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var state struct {
		Cut    bool  `json:"cut"`
		Offset int64 `json:"offset_ns"`
	}
	read := func(path string) {
		answer, err := http.Get(s.AdminURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, _ := io.ReadAll(answer.Body)
		if err := json.Unmarshal(b, &state); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
	}
	cmd, talk := started(t, fmt.Sprintf(`target: %s/
limit: {burst: 4, rate: 4/s}
phases: [{name: all, pace: 10/s, for: 30s}]
actions:
  - {at: 200ms, clock: {step: -1h}}
  - {at: 300ms, clock: freeze}
  - {at: 500ms, store: cut}
`, s.URL()), "--clock-admin", s.AdminURL())
	for until := time.Now().Add(20 * time.Second); !state.Cut && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		read("/store")
	}
	if read("/clock"); !state.Cut || state.Offset > -int64(time.Hour) {
		t.Fatalf("got %+v: %s", state, talk.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, "the way to the store is still cut", func() bool { read("/store"); return !state.Cut })
	within(t, "the clock is still off", func() bool { read("/clock"); return state.Offset == 0 })
	_ = cmd.Wait() // it was killed
}
