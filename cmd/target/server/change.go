package server

import (
	"errors"
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// How a node can be restarted.
const (
	graceful = "graceful"
	hard     = "hard"
)

// errClosed says that a server is not there any more.
var errClosed = errors.New("the server has been closed")

// errReloaded says that limits and routes are in force, though not all went well.
var errReloaded = errors.New("reloaded")

// Reload puts other limits and routes in force, on all nodes at once, or none of
// them with an error. What else is in the Config stays as it is.
//
// A limit of the same name and key that says what it did keeps what keys have
// spent; of one that has changed in a store in this process all keys are under the
// new settings at once, with what limiter.Succeed carries over; others start
// afresh, and in a Redis those that have changed do. A request that is on its way
// meanwhile is asked of the new limits.
func (s *Server) Reload(cfg Config) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.closed {
		return errClosed
	}
	if err := cfg.Check(); err != nil {
		return err
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	next := s.inForce
	next.Limits, next.Routes = cfg.Limits, cfg.Routes
	if err := next.Check(); err != nil { // with the listeners that there are
		return err
	}
	lives, err := s.prepare(next)
	if err != nil {
		return err
	}
	err = s.exchange(lives)
	s.inForce = next
	if err != nil {
		return fmt.Errorf("%w, but: %w", errReloaded, err)
	}
	s.cfg.Log.Info("limits and routes reloaded", "limits", len(next.Limits), "routes", len(next.Routes))
	return nil
}

// prepare builds the next life of each node as far as nothing that is in force is
// changed, and finds out whether the rest can be done. With an error all is as it
// was.
func (s *Server) prepare(cfg Config) (lives []*life, err error) {
	for _, n := range s.nodes {
		l, err := n.prepare(cfg)
		if err == nil {
			err = l.acquire()
		}
		if err == nil {
			err = errors.Join(l.ready(), l.openElsewhere())
		}
		lives = append(lives, l)
		if err != nil {
			for _, l := range lives {
				err = errors.Join(err, l.closeStores())
			}
			return nil, errors.Join(err, s.clearCellars())
		}
	}
	return lives, nil
}

// clearCellars closes what nothing that is in force has its states in.
func (s *Server) clearCellars() error {
	used := map[*store.Tables]bool{}
	for _, n := range s.nodes {
		for _, b := range n.life().backings {
			used[b.tables] = true
		}
	}
	errs := []error{s.shared.keep(used)}
	for _, n := range s.nodes {
		errs = append(errs, n.own.keep(used))
	}
	return errors.Join(errs...)
}

// exchange lets the nodes live on by other limits. From the first change of tables
// on the earlier lives decide on nothing that has changed.
func (s *Server) exchange(lives []*life) error {
	s.exchanging.Lock()
	defer s.exchanging.Unlock()
	var errs []error
	for i, l := range lives {
		if i == 0 || s.shared == nil {
			l.changeTables()
		}
	}
	for i, l := range lives {
		errs = append(errs, l.openStores())
		n := s.nodes[i]
		before := n.now.Swap(l)
		errs = append(errs, n.past.closeStores())
		n.past = before // requests of it may be under way
	}
	return errors.Join(append(errs, s.clearCellars())...)
}

// restart ends nodes and starts them again on the same addresses: gracefully, with
// time for requests under way, or hard, in the midst of them. What they have in
// memory of their own is lost, unless that is in a file as well. Their clocks run
// on: they are those of machines.
func (s *Server) restart(nodes []*node, how string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.closed {
		return errClosed
	}
	for _, n := range nodes {
		n.stop(how)
	}
	for _, n := range nodes {
		if err := n.restart(s.inForce); err != nil {
			return fmt.Errorf("starting node %d again: %w", n.number, err)
		}
		s.cfg.Log.Info("node restarted", "node", n.number, "how", how)
	}
	return nil
}

// stop ends a node.
func (n *node) stop(how string) {
	log := n.server.cfg.Log
	grace := publicGrace
	if how == hard {
		grace = 0
	}
	if err := n.leave(grace); err != nil && how == graceful {
		log.Warn("not everything ended by itself", "node", n.number, "err", err)
	}
	if err := errors.Join(n.past.closeStores(), n.end()); err != nil {
		log.Warn("ending a node", "node", n.number, "err", err)
	}
	n.past = nil
}

// restart starts a node that was stopped.
func (n *node) restart(cfg Config) error {
	if err := n.begin(cfg); err != nil || !n.serves {
		return err
	}
	taken, err := n.listen()
	if err != nil {
		return err
	}
	return n.serve(taken)
}
