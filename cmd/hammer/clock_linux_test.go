package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/probes/action/vdso"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
)

// traced leaves a test out where the clocks of processes cannot be moved.
func traced(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		lab.LeaveOut(t, "moving the clock of another process needs root")
	}
}

// limiterOf starts a limiter in a language, and gives its process and port.
func limiterOf(t *testing.T, language, clock string) (pid, port int) {
	t.Helper()
	port = lab.Port(t)
	env := []string{fmt.Sprintf("PORT=%d", port), "CLOCK=" + clock}
	var cmd *exec.Cmd
	switch language {
	case "go":
		cmd = lab.Start(t, port, append(env, limiterClock+"="+clock), os.Args[0])
	case "python":
		program := lab.Need(t, "python3", "python3-minimal")
		cmd = lab.Start(t, port, env, program, "testdata/bucket.py")
	case "forked python":
		program := lab.Need(t, "python3", "python3-minimal")
		cmd = lab.Start(t, port, env, program, "testdata/forked.py")
	case "node without Date":
		cmd = lab.Start(t, port, append(env, "DATE=no"), lab.Need(t, "node", "nodejs"), "testdata/bucket.mjs")
	default:
		cmd = lab.Start(t, port, env, lab.Need(t, "node", "nodejs"), "testdata/bucket.mjs")
	}
	return cmd.Process.Pid, port
}

// The wall clock of real programs is stepped back by 2 s while clients stay inside their
// limits. Who takes the time from it locks them out; who does not shows nothing.
func TestClockOfRealLimiters(t *testing.T) {
	traced(t)
	var all sync.WaitGroup // they have little to do but to wait
	defer all.Wait()
	promise := []string{"--burst", "4", "--rate", "4/s", "--clock", "step=-2s"}
	at := func(port int) []string {
		return append([]string{"check", fmt.Sprintf("http://127.0.0.1:%d/", port)}, promise...)
	}
	for _, c := range []struct{ language, clock string }{{"node", "wall"}, {"node", "monotonic"}, {"go", "wall"}, {"go", "monotonic"}, {"python", "wall"}, {"node without Date", "wall"}, {"node without Date", "monotonic"}} {
		all.Go(func() {
			t.Run(c.language+" "+c.clock, func(t *testing.T) {
				pid, port := limiterOf(t, c.language, c.clock)
				code, r := hammer(t, append(at(port), "--clock-pid", fmt.Sprint(pid))...)
				stepSeen(t, c.clock, code, r)
			})
		})
	}
	for _, clock := range []string{"wall", "monotonic"} {
		all.Go(func() {
			t.Run("node under faketime "+clock, func(t *testing.T) {
				node, port := lab.Need(t, "node", "nodejs"), lab.Port(t)
				lab.Need(t, "faketime", "faketime")
				code, r := hammer(t, append(at(port), "--under-faketime", "--", "env", "CLOCK="+clock, fmt.Sprintf("PORT=%d", port), node, "testdata/bucket.mjs")...)
				stepSeen(t, clock, code, r)
			})
		})
	}
	all.Go(func() {
		t.Run("nginx", func(t *testing.T) {
			url, pid := lab.NginxProcess(t, "limit_req_zone $http_x_api_key zone=a:1m rate=4r/s; limit_req_status 429;", "location / { limit_req zone=a burst=3 nodelay; }")
			code, r := hammer(t, append([]string{"check", url + "/", "--contract", "nginx", "--clock-pid", fmt.Sprint(pid), "--clock-children"}, promise...)...)
			stepSeen(t, "monotonic", code, r)
		})
	})
}

func stepSeen(t *testing.T, clock string, code int, r report.Report) {
	t.Helper()
	acted := false
	for _, f := range r.Findings {
		acted = acted || f.Check == assertions.CheckActed && strings.Contains(f.Text, "stepped by -2s") && strings.Contains(f.Text, "is the system's again")
	}
	if !acted {
		t.Errorf("the step is not on record, or not taken back: %+v", r.Findings)
	}
	switch {
	case clock == "monotonic" && code == exitBroken:
		t.Errorf("a right limiter is accused: %s", r.Headline)
	case clock == "monotonic" && code != exitKept:
		t.Logf("not kept, on a busy machine: %s", r.Headline)
	case clock == "wall" && code != exitBroken:
		t.Errorf("got exit code %d: %s", code, r.Headline)
	case clock == "wall" && (len(r.Causes) != 1 || r.Causes[0].ID != assertions.CauseClock || !strings.Contains(r.Causes[0].Text, "stepped by -2s")):
		t.Errorf("got causes %+v", r.Causes)
	case clock == "wall" && !strings.Contains(strings.Join(r.Causes[0].Reasons, ";"), "in their whole life"):
		t.Errorf("clients inside their limits are not told of: %q", r.Causes[0].Reasons)
	}
}

// Where Date does not follow, nothing is fired, and the answer is that nothing is known.
func TestClockThatIsNotRead(t *testing.T) {
	traced(t)
	_, port := limiterOf(t, "go", "wall")
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); other.Wait() })
	var out, talk strings.Builder
	code := run([]string{"check", fmt.Sprintf("http://127.0.0.1:%d/", port), "--burst", "4", "--rate", "4/s", "--clock", "step=-2s", "--clock-pid", fmt.Sprint(other.Process.Pid)}, &out, &talk)
	if code != exitInconclusive || !strings.Contains(talk.String(), "does not read the clock that was moved; the answers come from process") {
		t.Errorf("got exit code %d: %s", code, talk.String())
	}
}

// Two workers on one port share a bucket, and the clock of one goes a second behind: by
// their own clocks too much is let through, by the monotonic one not.
func TestSkewedWorkers(t *testing.T) {
	traced(t)
	var all sync.WaitGroup
	defer all.Wait()
	for _, clock := range []string{"wall", "monotonic"} {
		all.Go(func() {
			t.Run(clock, func(t *testing.T) {
				pid, port := limiterOf(t, "forked python", clock)
				code, r := hammer(t, "check", fmt.Sprintf("http://127.0.0.1:%d/", port), "--burst", "4", "--rate", "4/s",
					"--clock", "skewed-nodes", "--clock-pid", fmt.Sprint(pid), "--clock-children")
				switch {
				case clock == "monotonic" && code == exitBroken:
					t.Errorf("right workers are accused: %s", r.Headline)
				case clock == "wall" && (code != exitBroken || len(r.Causes) == 0 || !strings.Contains(r.Causes[0].Text, "nodes whose clocks differ")):
					t.Errorf("got exit code %d, causes %+v", code, r.Causes)
				}
				for _, f := range r.Findings {
					if f.Check == assertions.CheckServerClock {
						t.Errorf("what hammer did is told as the server's: %s", f.Text)
					}
				}
			})
		})
	}
}

// What cannot be done is said before anything is fired.
func TestActionsThatCannotBeDone(t *testing.T) {
	traced(t)
	file := t.TempDir() + "/f.yaml"
	step, own := []string{"--clock", "step=-2s"}, fmt.Sprint(os.Getpid())
	for _, tt := range []struct {
		args []string
		act  string // of a file; empty: of a check
		want string
	}{
		{append(step, "--clock-pid", "4194304"), "", "there is no process 4194304"},
		{append(step, "--clock-pid", "0"), "", "is the number of no process"},
		{step, "", "give --clock-pid PID"},
		{[]string{"--clock", "skewed-nodes", "--clock-pid", own}, "", "--clock-children"},
		{[]string{"--faults", "restart", "--clock-pid", own}, "", "that hammer did not start"},
		{[]string{"--faults", "store-outage", "--clock-pid", own}, "", "--clock-admin URL"},
		{append(step, "--under-faketime", "--", os.Args[0]), "", "is a Go program"},
		{append(step, "--under-faketime", "--", "no-such-program"), "", "not found"},
		{append(step, "--under-faketime", "--", "false"), "", "has ended, with exit status 1, and said nothing"},
		{nil, "run: [echo, hello]", "--allow-commands"},
		{[]string{"--allow-commands"}, "run: [no-such-program]", "not found"},
		{[]string{"--clock-pid", own}, "process: restart", "that hammer did not start"},
	} {
		args := append([]string{"check", "http://127.0.0.1:1/", "--burst", "4", "--rate", "4/s"}, tt.args...)
		if tt.act != "" {
			src := "target: http://127.0.0.1:1/\nlimit: {burst: 4, rate: 4/s}\nphases: [{name: a, pace: 9/s, for: 2s}]\nactions: [{at: 1s, " + tt.act + "}]\n"
			if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			args = append([]string{"run", file}, tt.args...)
		}
		if slices.Contains(args, "--under-faketime") {
			lab.Need(t, "faketime", "faketime")
		}
		var out, talk strings.Builder
		if code := run(args, &out, &talk); code != exitFailed || !strings.Contains(talk.String(), tt.want) || out.Len() > 0 {
			t.Errorf("%q: got exit code %d, %s", args, code, talk.String())
		}
	}
}

// hammer's own wall clock goes back by an hour while it runs: it says so, and judges as
// before.
func TestOwnClockStepped(t *testing.T) {
	traced(t)
	_, port := limiterOf(t, "go", "monotonic")
	folder := t.TempDir() + "/run"
	file := folder + ".yaml"
	src := fmt.Sprintf("target: http://127.0.0.1:%d/\nlimit: {burst: 4, rate: 4/s}\nphases: [{name: all, pace: 30/s, for: 3s}]\n", port)
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "run", file, "--out", folder)
	cmd.Args[0] = "hammer"
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	c, err := vdso.Take(cmd.Process.Pid, func(vdso.Original) error { return nil })
	if err == nil {
		err = c.Set(c.Course().Stepped(vdso.Mono(), -time.Hour))
	}
	failed := cmd.Wait()
	switch busy := cmd.ProcessState.ExitCode() == exitInconclusive && strings.Contains(out.String(), "too busy"); {
	case err != nil:
		t.Fatalf("%v, %v\n%s", err, failed, out.String())
	case busy:
		t.Logf("not kept, on a busy machine: %s", out.String())
	case !strings.HasPrefix(out.String(), "KEPT"):
		t.Errorf("got %v, %s", failed, out.String())
	}
	stepped := false
	saved, err := store.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range saved.Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range b.Marks {
			stepped = stepped || m.Kind == results.MarkWall && m.Size < -int64(3500*time.Second)
		}
		for _, h := range b.Hits {
			if h.Sent < 0 || h.First < h.Sent || h.Done < h.First {
				t.Errorf("request %d: sent %d, answered %d, done %d", h.Seq, h.Sent, h.First, h.Done)
			}
		}
	}
	if !stepped || !strings.Contains(out.String(), "hammer's own wall clock was moved by -60 min") {
		t.Errorf("the step is not on record, or not told: %s", out.String())
	}
}
