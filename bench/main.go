//go:build linux

package main

import (
	"cmp"
	"encoding/gob"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 5 && os.Args[1] == "fire" {
		if err := fire(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(3)
		}
		return
	}
	rounds := flag.Int("rounds", 5, "how often everything is measured; medians are printed")
	length := flag.Duration("for", 2*time.Second, "how long each measurement takes")
	only := flag.String("only", "", "cost, pace, volley or growth; empty: all")
	flag.Parse()
	b := bench{rounds: *rounds, length: *length}
	var err error
	if b.server, b.url, err = listen(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(3)
	}
	if *only == "" || *only == "cost" {
		b.cost()
	}
	if *only == "" || *only == "pace" {
		b.pace()
	}
	if *only == "" || *only == "volley" {
		b.volley()
	}
	if *only == "" || *only == "growth" {
		b.growth()
	}
}

// bench is what all measurements share.
type bench struct {
	server *arrivals
	url    string
	rounds int
	length time.Duration
}

// tool is a way to fire. A tool that is not installed is left out.
type tool struct {
	name string
	args func(n int) []string // of connections, or of a rate
}

// run runs a tool and gives the CPU it took and what arrived.
func (b *bench) run(args []string, cores string, keep bool) (cpu time.Duration, at []int64, n int64, err error) {
	b.server.take(keep)
	c := exec.Command("taskset", append([]string{"-c", cores}, args...)...)
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		return 0, nil, 0, fmt.Errorf("%s: %w: %s", args[0], err, stderr.String())
	}
	time.Sleep(20 * time.Millisecond)
	u := c.ProcessState.SysUsage().(*syscall.Rusage)
	at, n = b.server.take(false)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), at, n, nil
}

// said is what hammer has said in the run before; nil for another tool.
func (b *bench) said(name string) (told []said) {
	defer os.Remove(os.Getenv(saidFile))
	f, err := os.Open(os.Getenv(saidFile))
	if err != nil || !strings.HasPrefix(name, "hammer") {
		return nil
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&told); err != nil {
		return nil
	}
	slices.SortFunc(told, func(a, b said) int { return cmp.Compare(a.Sent, b.Sent) })
	return told
}

func self(args ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return append([]string{exe, "fire"}, args...)
}

func installed(tools []tool) (here []tool) {
	for _, t := range tools {
		if _, err := exec.LookPath(t.args(1)[0]); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", t.name, err)
			continue
		}
		here = append(here, t)
	}
	return here
}

// cost prints the CPU that a request takes in a closed loop.
func (b *bench) cost() {
	for _, cores := range []string{"0", "0,1"} {
		threads := 1 + strings.Count(cores, ",")
		closed := func(path string) func(int) []string {
			return func(n int) []string {
				return self(b.url, path, "closed", strconv.Itoa(n), b.length.String(), strconv.Itoa(threads))
			}
		}
		tools := installed([]tool{
			{"wrk", func(n int) []string {
				return []string{"wrk", "-t" + strconv.Itoa(min(threads, n)), "-c" + strconv.Itoa(n), "-d" + seconds(b.length), b.url}
			}},
			{"vegeta", func(n int) []string {
				return []string{"vegeta", "attack", "-rate=0", "-max-workers=" + strconv.Itoa(n), "-connections=" + strconv.Itoa(n), "-duration=" + b.length.String(), "-targets=" + b.targets(), "-output=/dev/null"}
			}},
			{"hammer fast", closed("fast")},
			{"hammer portable", closed("portable")},
		})
		fmt.Printf("\nCPU per request in a closed loop, us, generator on %d core(s), everything recorded by hammer and vegeta\n", threads)
		fmt.Printf("%-18s %20s %20s %20s\n", "", "1 connection", "64", "256")
		got := map[string]map[int][]float64{}
		for range b.rounds {
			for _, t := range tools {
				for _, n := range []int{1, 64, 256} {
					cpu, _, count, err := b.run(t.args(n), cores, false)
					if err != nil || count == 0 {
						fmt.Fprintln(os.Stderr, "bench:", t.name, err)
						continue
					}
					if got[t.name] == nil {
						got[t.name] = map[int][]float64{}
					}
					got[t.name][n] = append(got[t.name][n], float64(cpu.Nanoseconds())/1e3/float64(count))
				}
			}
		}
		for _, t := range tools {
			fmt.Printf("%-18s", t.name)
			for _, n := range []int{1, 64, 256} {
				m := median(got[t.name][n])
				fmt.Printf(" %9.2f (%4.2f x)  ", m, m/median(got["wrk"][n]))
			}
			fmt.Println()
		}
	}
	fmt.Println("(x: times what wrk takes, which records nothing)")
}

// targets is a file that tells vegeta where to fire.
func (b *bench) targets() string {
	name := os.TempDir() + "/bench-" + strconv.Itoa(os.Getpid()) + ".targets"
	_ = os.WriteFile(name, []byte("GET "+b.url+"\nX-Api-Key: hammer-bench-a\n"), 0o644)
	return name
}

func seconds(d time.Duration) string { return strconv.Itoa(max(1, int(d.Seconds()))) + "s" }

// pace prints how even a rate is that is asked for.
func (b *bench) pace() {
	_ = os.Setenv(saidFile, filepath.Join(os.TempDir(), "bench-"+strconv.Itoa(os.Getpid())+".said"))
	paced := func(path string) func(int) []string {
		return func(rate int) []string { return self(b.url, path, "pace", strconv.Itoa(rate), b.length.String()) }
	}
	tools := installed([]tool{
		{"vegeta", func(rate int) []string {
			return []string{"vegeta", "attack", "-rate=" + strconv.Itoa(rate), "-duration=" + b.length.String(), "-targets=" + b.targets(), "-output=/dev/null"}
		}},
		{"hammer fast", paced("fast")},
		{"hammer portable", paced("portable")},
		{"hammer full", paced("full")},
	})
	for _, rate := range []int{100, 1_000, 10_000, 50_000} {
		fmt.Printf("\nArrivals at %d/s for %v, both cores shared with the server\n%-18s %12s %12s %12s %12s %12s %12s\n", rate, b.length, "", "late p50", "late p99", "by itself", "burstiness", "achieved/s", "CPU us")
		got := map[string][][]float64{}
		for range b.rounds {
			for _, t := range tools {
				cpu, at, n, err := b.run(t.args(rate), "0,1", true)
				if err != nil || n == 0 {
					fmt.Fprintln(os.Stderr, "bench:", t.name, err)
					continue
				}
				e := even(at, float64(rate), b.said(t.name))
				got[t.name] = append(got[t.name], []float64{float64(e.p50) / 1e3, float64(e.p99) / 1e3, float64(e.own) / 1e3, e.burst, e.achieved, float64(cpu) / 1e3 / float64(n)})
			}
		}
		for _, t := range tools {
			fmt.Printf("%-18s", t.name)
			for col := range 6 {
				var v []float64
				for _, g := range got[t.name] {
					v = append(v, g[col])
				}
				fmt.Printf(" %12.1f", median(v))
			}
			fmt.Println()
		}
	}
	fmt.Println("(late: us after its moment, by the kernel's stamps; by itself: the p99 that hammer reports; burstiness: the smallest bucket that admits all at the rate, 1 is ideal)")
}
