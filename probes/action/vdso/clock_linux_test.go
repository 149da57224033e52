package vdso

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// A program prints its wall clock and its monotonic one, in milliseconds, a line each
// time, until it is ended.
const asProgram = "HAMMER_PRINT_CLOCKS"

func TestMain(m *testing.M) {
	if os.Getenv(asRaw) != "" {
		askKernel()
	}
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		now := time.Now()
		fmt.Println(now.UnixMilli(), now.Sub(begun).Milliseconds())
	}
}

var programs = []struct{ name, program, pack, script string }{
	{"node", "node", "nodejs", `setInterval(() => console.log(Date.now(), Math.round(performance.now())), 10)`},
	{"python", "python3", "python3", "import time\nwhile True: print(int(time.time()*1000), int(time.monotonic()*1000), flush=True); time.sleep(.01)"},
	{"ruby", "ruby", "ruby", `$stdout.sync = true; loop { puts "#{(Time.now.to_f*1000).to_i} #{Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)}"; sleep 0.01 }`},
	{"php", "php", "php-cli", `while (true) { echo (int)(microtime(true)*1000), " ", intdiv(hrtime(true), 1000000), "\n"; usleep(10000); }`},
	{"perl", "perl", "perl", `use Time::HiRes qw(time clock_gettime CLOCK_MONOTONIC); $| = 1; while (1) { printf "%d %d\n", time()*1000, clock_gettime(CLOCK_MONOTONIC)*1000; select undef, undef, undef, 0.01 }`},
}

const java = `public class Clocks { public static void main(String[] a) throws Exception {
  while (true) { System.out.println(System.currentTimeMillis() + " " + System.nanoTime() / 1000000); Thread.sleep(10); } } }`

func command(t *testing.T, name string) *exec.Cmd {
	switch name {
	case "go":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asProgram+"=1")
		return cmd
	case "java":
		program, file := optional(t, "java"), filepath.Join(t.TempDir(), "Clocks.java")
		if err := os.WriteFile(file, []byte(java), 0o644); err != nil {
			t.Fatal(err)
		}
		return exec.Command(program, "-Xint", file)
	}
	for _, p := range programs {
		if p.name != name {
			continue
		}
		program, flag := "", "-e"
		if name == "node" {
			program = lab.Need(t, p.program, p.pack)
		} else {
			program = optional(t, p.program)
		}
		switch name {
		case "python":
			flag = "-c"
		case "php":
			flag = "-r"
		}
		return exec.Command(program, flag, p.script)
	}
	t.Fatalf("no program %q", name)
	return nil
}

// optional is a program that nothing else here needs, so that it is not installed for this.
func optional(t *testing.T, program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// printed is a running program and what it prints.
type printed struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, name string) *printed {
	cmd := command(t, name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	p := &printed{cmd, bufio.NewScanner(out)}
	p.line(t)
	return p
}

func (p *printed) line(t *testing.T) (wall, mono int64) {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the program has ended: %v", p.lines.Err())
	}
	if _, err := fmt.Sscan(p.lines.Text(), &wall, &mono); err != nil {
		t.Fatalf("%q: %v", p.lines.Text(), err)
	}
	return wall, mono
}

// ahead is how much the wall clock is ahead of the monotonic one, in milliseconds: the
// median of lines that were printed from now on.
func (p *printed) ahead(t *testing.T) int64 {
	t.Helper()
	for until := time.Now().Add(50 * time.Millisecond); time.Now().Before(until); {
		p.line(t)
	}
	var all []int64
	for range 9 {
		wall, mono := p.line(t)
		all = append(all, wall-mono)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// mustTake leaves the test out where processes cannot be traced.
func mustTake(t *testing.T, pid int) *Clock {
	t.Helper()
	c, err := Take(pid, func(Original) error { return nil })
	if err != nil {
		if os.Geteuid() != 0 {
			lab.LeaveOut(t, err.Error())
		}
		t.Fatal(err)
	}
	return c
}

func readVDSO(t *testing.T, pid int) []byte {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	i, err := readImage(pid, mem)
	if err != nil {
		t.Fatal(err)
	}
	return i.bytes
}

// The wall clock of running programs is stepped, frozen and slewed, their monotonic
// clock is not, and all is as it was afterwards.
func TestClocksOfPrograms(t *testing.T) {
	var all sync.WaitGroup // they have little to do but to wait
	defer all.Wait()
	for _, name := range []string{"go", "node", "python", "ruby", "php", "perl", "java"} {
		all.Go(func() {
			t.Run(name, func(t *testing.T) {
				p := start(t, name)
				pid := p.cmd.Process.Pid
				before, bytesBefore := p.ahead(t), readVDSO(t, pid)
				c := mustTake(t, pid)
				near := func(what string, want int64) {
					t.Helper()
					if got := p.ahead(t) - before; got < want-100 || got > want+100 {
						t.Errorf("%s: the wall clock is %d ms ahead of where it was, want %d", what, got, want)
					}
				}
				set := func(to Course) {
					t.Helper()
					if err := c.Set(to); err != nil {
						t.Fatal(err)
					}
				}
				near("untouched", 0)
				set(c.Course().Stepped(Mono(), -5*time.Second))
				near("stepped back", -5000)
				set(c.Course().Stepped(Mono(), time.Hour))
				near("stepped forward", 3_595_000)
				set(c.Course().Slewed(Mono(), Frozen))
				first, mono := p.line(t)
				for range 20 {
					wall, now := p.line(t)
					if now < mono {
						t.Errorf("the monotonic clock went back: %d after %d", now, mono)
					}
					mono = now
					first = max(first, wall)
				}
				if last, _ := p.line(t); last != first {
					t.Errorf("frozen: got %d and %d", first, last)
				}
				if err := c.Release(); err != nil {
					t.Fatal(err)
				}
				near("released", 0)
				if !bytes.Equal(readVDSO(t, pid), bytesBefore) {
					t.Error("not all bytes are as they were")
				}
			})
		})
	}
}

// A program that is busy reading its clock in several threads survives a thousand
// changes, takes and releases, and never sees a torn time.
func TestBusyProgram(t *testing.T) {
	script := fmt.Sprintf("const code = %q;\n%s", busyWorker, busyMain)
	cmd := exec.Command(lab.Need(t, "node", "nodejs"), "-e", script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Who waits for a child hears of its stops too, so nobody waits for this one.
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	time.Sleep(300 * time.Millisecond)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		c := mustTake(t, cmd.Process.Pid)
		truth := c.Course()
		for range 100 {
			if err := c.Set(truth.Stepped(Mono(), time.Duration(rng.Int64N(int64(2*time.Hour)))-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := startOf(cmd.Process.Pid); err != nil {
		cmd.Wait()
		t.Fatalf("%v:\n%s", err, out.String())
	}
}

const busyWorker = `const begun = Date.now(); setInterval(() => { for (let i = 0; i < 1e5; i++) { const d = Date.now() - begun; if (d < -8e6 || d > 8e6) { console.log('torn', d); process.exit(1); } } }, 1);`
const busyMain = `const { Worker } = require('worker_threads'); for (let i = 0; i < 3; i++) new Worker(code, {eval: true});`

// A second hand on the same clock is told so, what is not there is said, and a
// process that has ended needs no restoring.
func TestRefusals(t *testing.T) {
	p := start(t, "go")
	c := mustTake(t, p.cmd.Process.Pid)
	if _, err := Take(c.PID(), func(Original) error { return nil }); err == nil {
		t.Error("the clock was taken twice")
	}
	o := c.original
	if _, err := Take(1<<22, func(Original) error { return nil }); err == nil {
		t.Error("a process that is not there was taken")
	}
	p.cmd.Process.Kill()
	p.cmd.Wait()
	if err := Restore(o); err != nil {
		t.Error(err)
	}
}

// Somebody else can restore what was taken, as told beforehand.
func TestRestoredByAnother(t *testing.T) {
	p := start(t, "go")
	before := p.ahead(t)
	var told Original
	c, err := Take(p.cmd.Process.Pid, func(o Original) error { told = o; return nil })
	if err != nil {
		lab.LeaveOut(t, err.Error())
	}
	if err := c.Set(c.Course().Stepped(Mono(), time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := Restore(told); err != nil {
		t.Fatal(err)
	}
	if got := p.ahead(t) - before; got < -100 || got > 100 {
		t.Errorf("the wall clock is %d ms off", got)
	}
}

// What is embedded is what the source says.
func TestRoutineIsAssembled(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		prefix := map[string]string{"amd64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-"}[arch]
		as, objcopy := optional(t, prefix+"as"), optional(t, prefix+"objcopy")
		object, binary := filepath.Join(t.TempDir(), "o"), filepath.Join(t.TempDir(), "bin")
		for _, cmd := range [][]string{{as, "-o", object, arch + ".S"}, {objcopy, "-O", "binary", "-j", ".text", object, binary}} {
			if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, out)
			}
		}
		got, err1 := os.ReadFile(arch + ".bin")
		want, err2 := os.ReadFile(binary)
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s.bin is not what %s.S says (%v, %v)", arch, arch, err1, err2)
		}
	}
}
