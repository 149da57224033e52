package server

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Server is a running server: one node or several behind one promise, and what
// they have in common. Its methods may be used by several goroutines.
type Server struct {
	nodes []*node
	front *balancer // nil: there is none
	truth *truth.Ledger

	voice     *dialect.Voice // of answers that no route gives
	notFound  *dialect.Answer
	storeDown *dialect.Answer

	cfg        Config       // it was started with, with defaults filled in
	changing   sync.Mutex   // held by a reload or restart
	exchanging sync.RWMutex // held while a reload takes effect
	inForce    Config       // cfg with the limits and routes of the last reload
	closed     bool         // nothing is reloaded or restarted any more
	shared     *cellar      // of what the nodes share; nil: nothing
	lags       lags         // of what the nodes hear of each other

	admin       *endpoint
	madeUp      bool          // whether the admin token was
	certificate *certificate  // nil: no listener has TLS
	closing     chan struct{} // closed when no decision will follow any more
	closeOnce   sync.Once
	closeErr    error
}

// Start builds the server and serves until Close. The error says what is wrong
// with the Config, or which address could not be had.
func Start(cfg Config) (*Server, error) {
	s, err := build(cfg, time.Now(), nil)
	if err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// build makes the server without its listeners. machine tells the time since
// start; nil: the machine's own.
func build(cfg Config, start time.Time, machine func() int64) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	cfg.Limit, cfg.Key, cfg.Defects = mode.Mode{}, scenarios.Key{}, nil // they are spelled out
	s := &Server{
		cfg: cfg, inForce: cfg, truth: truth.NewLedger(cfg.TruthKeep),
		notFound:  dialect.Problem(http.StatusNotFound, "there is no route for this path"),
		storeDown: dialect.Busy(http.StatusServiceUnavailable, "Limiter out of reach", "the store of the limits cannot be asked; whether a token was spent is not known"),
		closing:   make(chan struct{}),
	}
	s.storeDown.Wait = time.Second // when it is back nobody knows: a polite guess
	if s.voice, err = dialect.New(dialect.Settings{}, nil); err != nil {
		return nil, err
	}
	return s, s.buildNodes(start, machine)
}

func (s *Server) buildNodes(start time.Time, machine func() int64) error {
	doors := newDoors(s.cfg.MaxConns)
	if machine == nil {
		machine = func() int64 { return int64(time.Since(start)) }
	}
	_, lag, err := s.cfg.nodeStore()
	if err != nil {
		return err
	}
	if len(s.cfg.nodeListeners()) > 1 {
		s.lags.lag, s.lags.now = lag, machine
	}
	if s.cfg.sharesStore() {
		s.shared = newCellar("", s.cfg.Log)
	}
	for i, listeners := range s.cfg.nodeListeners() {
		n := &node{server: s, number: i + 1, clock: clock.New(start, machine), doors: doors, room: newRoom(s.cfg.MaxWaiting), listeners: listeners}
		if err := n.clock.Schedule(s.cfg.eventsOf(n.number)); err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
	}
	for _, n := range s.nodes {
		if err := n.begin(s.cfg); err != nil {
			return errors.Join(err, s.closeStores())
		}
	}
	return nil
}

// Base is the moment of monotonic 0 of the truth's MonoNS: with it a test in
// the same process maps them to its own clock.
func (s *Server) Base() time.Time { return s.nodes[0].clock.Base() }

// Truth gives the decisions that are kept, oldest first, and how many older
// ones are lost.
func (s *Server) Truth() (kept []truth.Record, dropped int64) { return s.truth.All() }

// Close stops accepting, gives requests under way three seconds, then the
// readers of the truth feed one second, and cuts off what is left, which its
// error tells. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.changing.Lock()
		s.closed = true
		s.changing.Unlock()
		err := s.front.close()
		var public []*endpoint
		for _, n := range s.nodes {
			public = append(public, n.endpoints()...)
		}
		err = errors.Join(err, closeAll(public, publicGrace))
		close(s.closing)
		if s.admin != nil {
			err = errors.Join(err, s.admin.close(adminGrace))
		}
		s.closeErr = errors.Join(err, s.closeStores())
	})
	return s.closeErr
}

func (s *Server) closeStores() error {
	var errs []error
	for _, n := range s.nodes {
		errs = append(errs, n.end())
	}
	return errors.Join(append(errs, s.shared.close())...)
}
