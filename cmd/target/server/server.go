package server

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// Server is a running server. Its methods may be used by several goroutines.
type Server struct {
	cfg      Config
	clock    *clock.Clock
	limits   []*limit
	backings []*backing
	routes   []*route
	room     *room
	doors    *doors
	truth    *truth.Ledger

	voice     *dialect.Voice // of answers that no route gives
	notFound  *dialect.Answer
	storeDown *dialect.Answer

	public      []*endpoint
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
	s, err := build(cfg, clock.New(time.Now(), nil))
	if err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// build makes the server without its listeners.
func build(cfg Config, c *clock.Clock) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, clock: c, truth: truth.NewLedger(cfg.TruthKeep), room: newRoom(cfg.MaxWaiting), doors: newDoors(cfg.MaxConns),
		notFound:  dialect.Problem(http.StatusNotFound, "there is no route for this path"),
		storeDown: dialect.Busy(http.StatusServiceUnavailable, "Limiter out of reach", "the store of the limits cannot be asked; whether a token was spent is not known"),
		closing:   make(chan struct{}),
	}
	s.storeDown.Wait = time.Second // when it is back nobody knows: a polite guess
	if s.voice, err = dialect.New(dialect.Settings{}, nil); err != nil {
		return nil, err
	}
	if err := s.buildRoutes(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) buildRoutes() error {
	for _, l := range s.cfg.Limits {
		built, err := l.build(s.clock, s.cfg.Seed)
		if err != nil {
			return err
		}
		s.limits = append(s.limits, built)
	}
	var err error
	if s.backings, err = openStores(s.limits, s.clock, s.cfg.Log); err != nil {
		return err
	}
	for _, r := range s.cfg.Routes {
		built, err := r.build(s)
		if err != nil {
			return errors.Join(fmt.Errorf("route %s: %w", r.path(), err), closeStores(s.backings))
		}
		s.routes = append(s.routes, built)
	}
	return nil
}

// Base is the moment of monotonic 0 of the truth's MonoNS: with it a test in
// the same process maps them to its own clock.
func (s *Server) Base() time.Time { return s.clock.Base() }

// Truth gives the decisions that are kept, oldest first, and how many older
// ones are lost.
func (s *Server) Truth() (kept []truth.Record, dropped int64) { return s.truth.All() }

// Close stops accepting, gives requests under way three seconds, then the
// readers of the truth feed one second, and cuts off what is left, which its
// error tells. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		err := closeAll(s.public, publicGrace)
		close(s.closing)
		if s.admin != nil {
			err = errors.Join(err, s.admin.close(adminGrace))
		}
		s.closeErr = errors.Join(err, closeStores(s.backings))
	})
	return s.closeErr
}
