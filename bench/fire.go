//go:build linux

package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// fire is hammer's generator in a process of its own: it records everything, as hammer
// does, and judges nothing.
//
//	fire URL PATH closed CONNECTIONS TIME LOOPS
//	fire URL PATH pace RATE TIME
//	fire URL PATH volley SIZE 0s
//	fire URL PATH grow RATE TIME KEYS OWN
func fire(args []string) error {
	path, err := probes.ParsePath(args[1])
	if err != nil {
		return err
	}
	g, err := probes.Aim(context.Background(), probes.Target{URL: args[0], Path: path, Answers: scenarios.DefaultAnswers(),
		Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}, Nonce: "bench"})
	if err != nil {
		return err
	}
	defer g.Close()
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := store.Create(dir+"/run", store.Manifest{Started: time.Now(), Scenario: "bench", URL: args[0]})
	if err != nil {
		return err
	}
	if name := os.Getenv("BENCH_PROFILE"); name != "" {
		p, _ := os.Create(name)
		_ = pprof.StartCPUProfile(p)
		defer pprof.StopCPUProfile()
	}
	sink := into{w: w}
	if os.Getenv(saidFile) != "" {
		sink.said = new([]said)
	}
	n, _ := strconv.Atoi(args[3])
	length, err := time.ParseDuration(args[4])
	if err != nil {
		return err
	}
	var run results.Run
	switch args[2] {
	case "closed":
		loops, _ := strconv.Atoi(args[5])
		run, err = g.Saturate(context.Background(), probes.Saturation{Key: "a", Connections: n, For: length, Loops: loops}, sink, &probes.Progress{})
	case "pace":
		run, err = g.Fire(context.Background(), paced(n, length), scenarios.Slack{}, 0, sink, &probes.Progress{})
	case "grow":
		keys, _ := strconv.Atoi(args[5])
		run, err = g.Fire(context.Background(), spread(n, length, keys, args[6] == "true"), scenarios.Slack{}, 0, sink, &probes.Progress{})
	case "volley":
		run, err = g.Fire(context.Background(), volley(n), scenarios.Slack{}, 0, sink, &probes.Progress{})
	}
	if err != nil {
		return err
	}
	if err := errors.Join(w.Close(store.Manifest{Run: run, Scenario: "bench"}), sink.tell()); err != nil {
		return err
	}
	fmt.Printf("sent %d missed %d bytes a hit %.1f\n", run.Sent, run.Missed, float64(size(dir))/float64(max(run.Sent, 1)))
	return nil
}

// size is how many bytes the files below a folder have.
func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if i, err := e.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}

// into is a folder as a sink. Beside the record it keeps what hammer says of its own
// lateness, for the comparison with what the server saw.
type into struct {
	w    *store.Writer
	said *[]said // nil: it is not asked for
}

// said is when a request was due, and when hammer says that it was sent.
type said struct{ Planned, Sent int64 }

func (i into) Block(b results.Block) error {
	if i.said != nil {
		for _, h := range b.Hits {
			*i.said = append(*i.said, said{h.Planned, h.Sent})
		}
	}
	return i.w.Write(b)
}

// tell writes what was said into the file that the environment names.
func (i into) tell() error {
	if i.said == nil {
		return nil
	}
	f, err := os.Create(os.Getenv(saidFile))
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewEncoder(f).Encode(*i.said)
}

const saidFile = "BENCH_SAID"

// volley is a plan of one volley, whose requests are kept back at their ends.
func volley(size int) scenarios.Plan {
	return lay(scenarios.Phase{Name: "volley", Rest: 500 * time.Millisecond, Volley: size, Held: true, Keys: scenarios.Keys{Fresh: 1}})
}

// paced is a plan of one rate on one key.
func paced(rate int, length time.Duration) scenarios.Plan {
	return lay(scenarios.Phase{Name: "pace", Pace: scenarios.Rate{Count: int64(rate), Per: time.Second}, Count: int(float64(rate) * length.Seconds()), Rest: 50 * time.Millisecond, Keys: scenarios.Keys{Fresh: 1}})
}

func lay(phase scenarios.Phase) scenarios.Plan {
	s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 1, Rate: scenarios.Rate{Count: 1, Per: time.Second}}}, Phases: []scenarios.Phase{phase}}
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		panic(err) // the scenario is our own
	}
	return p
}
