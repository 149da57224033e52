package server

import (
	"container/heap"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// Sim is a server in virtual time, without listeners: it is the same code that
// answers over a network, asked at moments of the caller's choice. What waits in
// it, such as a request that is held back, waits in that time, so nothing sleeps,
// and a run repeats exactly. It is for one goroutine.
type Sim struct {
	server  *Server
	now     int64 // nanoseconds since the start
	asleep  sleepers
	arrived int64
	idle    []*hand // that have nothing to answer
}

// Simulate builds a server that starts at start. Its listeners are only names,
// and its store has to be in memory, since others do not know the time.
func Simulate(cfg Config, start time.Time) (*Sim, error) {
	s := &Sim{}
	var err error
	if s.server, err = build(cfg, start, func() int64 { return s.now }); err != nil {
		return nil, err
	}
	for _, b := range s.server.nodes[0].life().backings {
		if b.mode.Name != "memory" {
			return nil, errors.Join(errors.New("a server in virtual time has its states in memory: give no store"), s.server.Close())
		}
	}
	return s, nil
}

// Arrive hands over a request that is there at a moment, which is never earlier
// than those before it. reply is called once with the answer and the moment it is
// given at: now, or in a later Arrive or Advance.
func (s *Sim) Arrive(at time.Duration, r *http.Request, reply func(at time.Duration, w *http.Response)) {
	s.ArriveAt(1, at, r, reply)
}

// ArriveAt is Arrive at one of several nodes, which are counted from 1.
func (s *Sim) ArriveAt(node int, at time.Duration, r *http.Request, reply func(at time.Duration, w *http.Response)) {
	n := s.server.nodes[node-1]
	s.hand(at, n.handler(n.listeners[0].name()), r, reply)
}

// Admin asks the admin side at a moment, as in Admin(at, "POST", "/restart?how=hard",
// ""), and gives its answer, which does not wait.
func (s *Sim) Admin(at time.Duration, method, target, body string) (w *http.Response) {
	handler := http.HandlerFunc(s.server.adminMux().ServeHTTP)
	s.hand(at, handler, httptest.NewRequest(method, target, strings.NewReader(body)), func(_ time.Duration, res *http.Response) { w = res })
	return w
}

func (s *Sim) hand(at time.Duration, handler http.Handler, r *http.Request, reply func(at time.Duration, w *http.Response)) {
	s.Advance(at)
	if len(s.idle) == 0 {
		s.idle = append(s.idle, s.hire())
	}
	h := s.idle[len(s.idle)-1]
	s.idle = s.idle[:len(s.idle)-1]
	h.work = func() {
		w := httptest.NewRecorder()
		ctx := clock.WithSleeper(r.Context(), h.sleep)
		handler.ServeHTTP(w, r.WithContext(ctx))
		reply(time.Duration(s.now), w.Result())
	}
	s.arrived++
	s.goOn(sleeper{hand: h, turn: s.arrived})
}

// hand answers requests, one after another. Those that wait hold one each; else the
// same one, whose stack has grown by then, answers all.
type hand struct {
	work  func() // nil: there is none
	sleep func(time.Duration)
	next  func() (time.Duration, bool)
	stop  func()
}

// idle is what a hand yields when it has answered.
const idle time.Duration = -1

func (s *Sim) hire() *hand {
	h := &hand{}
	h.next, h.stop = iter.Pull(func(yield func(time.Duration) bool) {
		h.sleep = func(d time.Duration) { yield(max(d, 0)) }
		for h.work != nil {
			h.work()
			h.work = nil
			yield(idle)
		}
	})
	return h
}

// Close ends the server, which answers nothing after it. What it was still busy
// with is never answered.
func (s *Sim) Close() error {
	for _, h := range s.idle {
		h.stop()
	}
	s.idle = nil
	return s.server.Close()
}

// Advance lets time pass up to a moment.
func (s *Sim) Advance(to time.Duration) {
	for len(s.asleep) > 0 && s.asleep[0].at <= int64(to) {
		next := heap.Pop(&s.asleep).(sleeper)
		s.now = next.at
		s.goOn(next)
	}
	s.now = max(s.now, int64(to))
}

// Next is when something that waits goes on; it is not ok if nothing waits.
func (s *Sim) Next() (at time.Duration, ok bool) {
	if len(s.asleep) == 0 {
		return 0, false
	}
	return time.Duration(s.asleep[0].at), true
}

// goOn runs a request until it waits again or has been answered.
func (s *Sim) goOn(one sleeper) {
	d, _ := one.hand.next()
	if d == idle {
		s.idle = append(s.idle, one.hand)
		return
	}
	one.at = s.now + int64(d)
	heap.Push(&s.asleep, one)
}

// Step steps the wall clock of the first node.
func (s *Sim) Step(d time.Duration) error { return s.server.nodes[0].clock.Step(d) }

// Promises are what its limits claim, in the order of the Config.
func (s *Sim) Promises() (all []Promise) {
	for _, l := range s.server.nodes[0].life().limits {
		all = append(all, l.promise())
	}
	return all
}

// Truth gives the decisions that are kept, oldest first, and how many older ones
// are lost.
func (s *Sim) Truth() (kept []truth.Record, dropped int64) { return s.server.Truth() }

// sleeper is a request that waits.
type sleeper struct {
	at   int64 // when it goes on
	turn int64 // of its arrival, for those of one moment
	hand *hand
}

type sleepers []sleeper

func (s sleepers) Len() int { return len(s) }
func (s sleepers) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].turn < s[j].turn
}
func (s sleepers) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *sleepers) Push(x any)   { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}
