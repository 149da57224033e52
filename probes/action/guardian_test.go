package action

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/scenarios"
)

const asGuardian = "HAMMER_TEST_GUARDIAN"

func TestMain(m *testing.M) {
	if os.Getenv(asGuardian) == "" {
		os.Exit(m.Run())
	}
	if err := Guard(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// guardian starts one; it is gone when the test is.
func guardian(t *testing.T, tools Tools) *Guardian {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asGuardian+"=1")
	g, err := Start(cmd, tools)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// clockServer answers with its wall clock, in milliseconds since 1970.
const clockServer = `require('http').createServer((q, r) => r.end(String(Date.now()))).listen(Number(process.env.PORT), '127.0.0.1')`

func nodeClock(t *testing.T) (pid int, url string) {
	t.Helper()
	port := lab.Port(t)
	cmd := lab.Start(t, port, []string{fmt.Sprintf("PORT=%d", port)}, lab.Need(t, "node", "nodejs"), "-e", clockServer)
	return cmd.Process.Pid, fmt.Sprintf("http://127.0.0.1:%d/", port)
}

// off is how far the wall clock of a server is from ours.
func off(t *testing.T, url string) time.Duration {
	t.Helper()
	client := http.Client{Timeout: 3 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var ms int64
	if _, err := fmt.Fscan(answer.Body, &ms); err != nil {
		t.Fatal(err)
	}
	return time.Until(time.UnixMilli(ms))
}

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if (got - want).Abs() > 300*time.Millisecond {
		t.Errorf("%s: the clock is off by %v, want %v", what, got, want)
	}
}

func (g *Guardian) must(t *testing.T, a scenarios.Action) {
	t.Helper()
	if _, err := g.Do(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

var stepBack = scenarios.Action{Act: scenarios.ClockStep, By: -time.Minute}

// root leaves a test out where processes cannot be traced.
func root(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		lab.LeaveOut(t, "tracing another process needs root")
	}
}

func TestClockOfProcess(t *testing.T) {
	root(t)
	pid, url := nodeClock(t)
	g := guardian(t, Tools{PIDs: []int{pid}, Children: true})
	g.must(t, stepBack)
	near(t, "stepped", off(t, url), -time.Minute)
	g.must(t, scenarios.Action{Act: scenarios.ClockStep, By: time.Hour})
	near(t, "stepped again", off(t, url), 59*time.Minute)
	what, err := g.Undo()
	if err != nil || len(what) != 1 || !strings.Contains(what[0], "is the system's again") {
		t.Errorf("got %q, %v", what, err)
	}
	near(t, "undone", off(t, url), 0)
}

// forking forks a child that forks another and ends, at each line that it hears, and
// prints the number of the one that is left. That one prints its clock at each signal.
const forking = `import os, sys, time
print('ready', flush=True)
for line in sys.stdin:
    r, w = os.pipe()
    if os.fork() == 0:
        left = os.fork()
        if left:
            os.write(w, str(left).encode())
            os._exit(0)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with open(line.strip() + '.new', 'w') as f:
                f.write(str(int(time.time() * 1000)))
            os.rename(line.strip() + '.new', line.strip())
            time.sleep(0.05)
        os._exit(0)
    os.wait()
    print(os.read(r, 20).decode(), flush=True)
`

// A process that was forked while the clock of its parent was moved is put right too,
// although whoever forked it has ended.
func TestForkedClocksAreTakenBack(t *testing.T) {
	root(t)
	cmd := exec.Command(lab.Need(t, "python3", "python3"), "-c", forking)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var ready string // python3 may be a script that becomes python
	if _, err := fmt.Fscan(out, &ready); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "clock")
	fork := func() (pid int) {
		t.Helper()
		fmt.Fprintln(in, file)
		if _, err := fmt.Fscan(out, &pid); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		})
		return pid
	}
	shows := func(what string, want time.Duration) {
		t.Helper()
		var ms int64
		for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			text, _ := os.ReadFile(file)
			if _, err := fmt.Sscan(string(text), &ms); err == nil && (time.Until(time.UnixMilli(ms))-want).Abs() < 3*time.Second {
				return
			}
		}
		t.Errorf("%s: the clock is off by %v, want %v", what, time.Until(time.UnixMilli(ms)), want)
	}
	g := guardian(t, Tools{PIDs: []int{cmd.Process.Pid}})
	g.must(t, stepBack)
	fork()
	shows("forked", -time.Minute)
	what, err := g.Undo()
	if err != nil || !strings.Contains(strings.Join(what, "; "), "the clocks of 1 more") {
		t.Errorf("got %q, %v", what, err)
	}
	shows("undone", 0)
}

// What was done is taken back when whoever ordered it is gone.
func TestOrphanTakesEverythingBack(t *testing.T) {
	root(t)
	pid, url := nodeClock(t)
	g := guardian(t, Tools{PIDs: []int{pid}})
	g.must(t, stepBack)
	g.must(t, scenarios.Action{Act: scenarios.ProcessPause})
	client := http.Client{Timeout: 200 * time.Millisecond}
	if answer, err := client.Get(url); err == nil {
		answer.Body.Close()
		t.Error("a paused server answers")
	}
	begun := time.Now()
	if err := g.Close(); err != nil { // as the end of hammer, however it comes
		t.Fatal(err)
	}
	near(t, "orphaned", off(t, url), 0)
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	g.cmd = exec.Command("true") // so that it is not waited for again
	g.cmd.Start()
}

// A guardian that was killed takes nothing back, and that is said.
func TestKilledGuardian(t *testing.T) {
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sleeper.Process.Kill(); sleeper.Wait() })
	g := guardian(t, Tools{PIDs: []int{sleeper.Process.Pid}})
	g.must(t, scenarios.Action{Act: scenarios.ProcessPause})
	if err := g.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err := g.Undo()
	for _, want := range []string{"nothing guarantees", "the process is paused", fmt.Sprintf("process %d", sleeper.Process.Pid), "kill -CONT"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	if err := g.Close(); err == nil {
		t.Error("a guardian that was killed ended well")
	}
	g.cmd = exec.Command("true") // so that it is not waited for again
	g.cmd.Start()
}

func TestFaketime(t *testing.T) {
	if _, err := faketimeLibrary(); err != nil {
		lab.LeaveOut(t, err.Error())
	}
	port := lab.Port(t)
	t.Setenv("PORT", fmt.Sprint(port))
	g := guardian(t, Tools{Program: []string{lab.Need(t, "node", "nodejs"), "-e", clockServer}, Faketime: true, Dir: t.TempDir()})
	url := fmt.Sprintf("http://127.0.0.1:%d/", port)
	for range 200 {
		if answer, err := http.Get(url); err == nil {
			answer.Body.Close()
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	near(t, "untouched", off(t, url), 0)
	g.must(t, stepBack)
	near(t, "stepped", off(t, url), -time.Minute)
	g.must(t, scenarios.Action{Act: scenarios.ClockFreeze})
	first := off(t, url)
	time.Sleep(600 * time.Millisecond)
	near(t, "frozen", off(t, url)-first, -600*time.Millisecond)
	g.must(t, scenarios.Action{Act: scenarios.ClockResume})
	if _, err := g.Undo(); err != nil {
		t.Fatal(err)
	}
	near(t, "undone", off(t, url), 0)
}

// Programs that libfaketime does not reach are refused, with the way out.
func TestFaketimeRefuses(t *testing.T) {
	if err := heedsLibraries(os.Args[0]); err == nil || !strings.Contains(err.Error(), "--clock-pid") {
		t.Errorf("a Go program: got %v", err)
	}
	if err := heedsLibraries("/nowhere"); err == nil {
		t.Error("a program that is not there is not refused")
	}
	script := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(script, []byte("#!"+os.Args[0]+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := heedsLibraries(script); err == nil || !strings.Contains(err.Error(), "Go program") {
		t.Errorf("a script that a Go program runs: got %v", err)
	}
}

func TestCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "done")
	touch := scenarios.Action{Act: scenarios.Command, Run: []string{"touch", file}, Undo: []string{"rm", file}}
	if _, err := guardian(t, Tools{}).Do(t.Context(), touch); err == nil || !strings.Contains(err.Error(), "--allow-commands") {
		t.Errorf("a command that is not allowed: got %v", err)
	}
	g := guardian(t, Tools{Commands: true})
	g.must(t, touch)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if what, err := g.Undo(); err != nil || len(what) != 1 {
		t.Errorf("got %q, %v", what, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command was not undone")
	}
	slow := scenarios.Action{Act: scenarios.Command, Run: []string{"sleep", "60"}, Within: 50 * time.Millisecond}
	if _, err := g.Do(t.Context(), slow); err == nil || !strings.Contains(err.Error(), "had not ended after 50ms") {
		t.Errorf("a slow command: got %v", err)
	}
	slow.Within = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := g.Do(ctx, slow); err == nil || time.Since(begun) > 30*time.Second {
		t.Errorf("a command that was given up: got %v after %v", err, time.Since(begun))
	}
	if _, err := g.Do(t.Context(), scenarios.Action{Act: scenarios.Command, Run: []string{"false"}}); err == nil {
		t.Error("a command that fails is no error")
	}
}

// A command that is given up takes with it what it has started; one that ends well may
// leave something running.
func TestCommandsEndWithTheirChildren(t *testing.T) {
	g := guardian(t, Tools{Commands: true})
	file := filepath.Join(t.TempDir(), "pid")
	slow := scenarios.Action{Act: scenarios.Command, Run: []string{lab.Need(t, "sh", "dash"), "-c", "sleep 77 & echo $! >" + file + "; wait; true"}, Within: time.Second}
	begun := time.Now()
	if _, err := g.Do(t.Context(), slow); err == nil || !strings.Contains(err.Error(), "had not ended after 1s") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	var child int
	if text, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	} else if _, err := fmt.Sscan(string(text), &child); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); runs(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("process %d, which the command started, still runs", child)
		}
	}
	left := scenarios.Action{Act: scenarios.Command, Run: []string{"sh", "-c", "sleep 5 & exit 0"}, Within: time.Minute}
	if _, err := g.Do(t.Context(), left); err != nil {
		t.Errorf("a command that leaves something running: got %v", err)
	}
}

// runs reports whether a process is there and has not ended.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// What is missing is said.
func TestMissingTools(t *testing.T) {
	g := guardian(t, Tools{})
	for want, a := range map[string]scenarios.Action{
		"give --clock-pid PID, --clock-admin URL": stepBack,
		"--store-pid PID":                         {Act: scenarios.ProcessPause, On: scenarios.OnStore},
		"process: pause, on: store":               {Act: scenarios.StoreCut},
		"which process that is":                   {Act: scenarios.ProcessKill},
	} {
		if _, err := g.Do(t.Context(), a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want it to say %q", a, err, want)
		}
	}
}
