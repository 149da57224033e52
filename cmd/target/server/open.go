package server

import (
	"fmt"
	"net"
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/scenarios"
)

// open takes all addresses and serves.
func (s *Server) open() error {
	listeners, err := s.listenAll()
	if err != nil {
		return err
	}
	adminAt := Listener{Address: s.cfg.Admin, HTTP: "http1"}
	if err := adminAt.Check(); err != nil {
		closeListeners(listeners)
		return fmt.Errorf("admin side: %w", err)
	}
	admin, err := adminAt.listen()
	if err != nil {
		closeListeners(listeners)
		return fmt.Errorf("admin side: %w", err)
	}
	errorLog := quietLog(s.cfg.Log)
	for i, l := range s.cfg.Listeners {
		e, err := run(l, s.doors.guard(listeners[i]), s.router(l.name()), requestTimeout, answerTimeout, errorLog, s.certificate)
		if err != nil {
			closeListeners(append(listeners[i:], admin))
			return err
		}
		s.public = append(s.public, e)
	}
	handler, err := s.adminHandler(admin.Addr())
	if err != nil {
		admin.Close()
		return err
	}
	// Without limits of time: a follower of the truth stays as long as it likes.
	s.admin, err = run(adminAt, admin, handler, 0, 0, errorLog, nil)
	return err
}

func (s *Server) listenAll() (all []net.Listener, err error) {
	var addresses []net.Addr
	for _, l := range s.cfg.Listeners {
		ln, err := l.listen()
		if err != nil {
			closeListeners(all)
			return nil, err
		}
		all = append(all, ln)
		if l.TLS {
			addresses = append(addresses, ln.Addr())
		}
	}
	if len(addresses) > 0 {
		if s.certificate, err = selfSigned(addresses); err != nil {
			closeListeners(all)
			return nil, err
		}
	}
	return all, nil
}

func closeListeners(all []net.Listener) {
	for _, ln := range all {
		ln.Close()
	}
}

// URL is where the server is reached, without a slash at the end: that of its
// first listener.
func (s *Server) URL() string { return s.public[0].url }

// AdminURL is where the admin side is reached, without a slash at the end.
func (s *Server) AdminURL() string { return s.admin.url }

// AdminPlace is the address of the admin side.
func (s *Server) AdminPlace() Place {
	return Place{Name: "admin", URL: s.admin.url, Socket: s.admin.socket}
}

// AdminToken is what the admin side asks for, also where it was made up; empty:
// nothing.
func (s *Server) AdminToken() string { return s.cfg.AdminToken }

// MadeUpToken reports whether the token was made up, so that people have to be
// told it.
func (s *Server) MadeUpToken() bool { return s.madeUp }

// Place is one address that the server serves on.
type Place struct {
	Name   string // of the listener
	URL    string // without a slash at the end
	Socket string // path of its unix socket; empty: none
	TLS    bool
}

// Places are all addresses, in the order of the Config.
func (s *Server) Places() (all []Place) {
	for i, e := range s.public {
		all = append(all, Place{Name: s.cfg.Listeners[i].name(), URL: e.url, Socket: e.socket, TLS: e.tls})
	}
	return all
}

// Sign is what a route says of itself.
type Sign struct {
	Place  Place  // the first where it is served
	Path   string // of the route
	Mode   string // what it checks beside its limits
	Limits []Promise
}

// Promise is a limit that a server claims to keep, with or without defects.
type Promise struct {
	Name      string
	Algorithm string
	Limit     scenarios.Limit // of which the Key is zero
	Key       key.Key
	Defects   []string
	Store     string
}

// Signs describe each route, in the order of the Config, at the first of its
// addresses.
func (s *Server) Signs() (all []Sign) {
	places := s.Places()
	for _, rt := range s.routes {
		at := slices.IndexFunc(places, func(p Place) bool { return rt.servedOn(p.Name) })
		sign := Sign{Place: places[at], Path: rt.path(), Mode: rt.Mode.String()}
		for _, l := range rt.limits {
			sign.Limits = append(sign.Limits, l.promise())
		}
		all = append(all, sign)
	}
	return all
}

func (l *limit) promise() Promise {
	p := Promise{Name: l.Name, Algorithm: l.Algorithm.String(), Limit: l.parts.Algorithm.Promise(), Key: l.Key, Store: orMemory(l.Store).String()}
	for _, d := range l.Defects {
		p.Defects = append(p.Defects, d.String())
	}
	return p
}
