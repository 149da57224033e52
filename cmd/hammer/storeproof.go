package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/probes/action"
	"github.com/ratehammer/ratehammer/scenarios"
)

// storeAsks is how often the server is asked at most: a key may be everybody's, and what
// is spent before the run is missing in it.
const storeAsks = 3

// proveStore sees that the server holds a connection to the process that is said to be
// its store, before anything is done to that. What is not proven is no error: all else
// can be asked, and what hangs on it is doubted.
func (s *session) proveStore(ctx context.Context, t action.Tools, label string, actions []scenarios.Action) {
	if len(t.Stores) == 0 || !slices.ContainsFunc(actions, func(a scenarios.Action) bool { return a.On == scenarios.OnStore }) {
		return
	}
	if s.supply.fresh {
		label += " store"
	}
	var by []action.Process
	for range storeAsks {
		// Some connect for each request: it is looked while one is answered as well.
		seen := make(chan bool)
		go func() { seen <- action.Joined(append(numbersOf(by), t.PIDs...), t.Stores) }()
		answer, err := s.gun.Preflight(ctx, label, 1)
		joined := <-seen
		if err == nil {
			by = action.AnsweredBy(answer.Peer)
		}
		if joined || action.Joined(append(numbersOf(by), t.PIDs...), t.Stores) {
			s.gun.DoubtStore("")
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	doubt := storeDoubt(t, by)
	s.gun.DoubtStore(doubt)
	s.notes = append(s.notes, doubt)
}

func numbersOf(all []action.Process) (pids []int) {
	for _, p := range all {
		pids = append(pids, p.PID)
	}
	return pids
}

// storeDoubt says why nothing is proven, and what to do.
func storeDoubt(t action.Tools, by []action.Process) string {
	for _, pid := range t.PIDs {
		if !slices.Contains(numbersOf(by), pid) {
			by = append(by, action.Named([]int{pid})...)
		}
	}
	server := "which process of this machine answers is not to be seen"
	if len(by) > 0 {
		server = fmt.Sprintf("no connection to it is seen of the server, process %s", inWords(by))
	}
	return fmt.Sprintf("it is not proven that process %s is the store of this limiter: %s; give the process of the store that it uses with --store-pid (ss -tnp tells), and where the limiter is behind another process, its own with --clock-pid", inWords(action.Named(t.Stores)), server)
}

func inWords(all []action.Process) string {
	var words []string
	for _, p := range all {
		words = append(words, p.String())
	}
	return strings.Join(words, ", ")
}
