package server

import (
	"fmt"
	"net"
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
