package server

import (
	"fmt"
	"net"
)

// open takes all addresses and serves.
func (s *Server) open() error {
	adminAt := Listener{Address: s.cfg.Admin, HTTP: "http1"}
	if err := adminAt.Check(); err != nil {
		return fmt.Errorf("admin side: %w", err)
	}
	taken, err := s.listenAll()
	if err != nil {
		return err
	}
	admin, err := adminAt.listen()
	if err != nil {
		for _, all := range taken {
			closeListeners(all)
		}
		return fmt.Errorf("admin side: %w", err)
	}
	for i, n := range s.nodes {
		if err := n.serve(taken[i]); err != nil {
			for _, all := range taken[i+1:] {
				closeListeners(all)
			}
			admin.Close()
			return err
		}
	}
	if err := s.openFront(); err != nil {
		admin.Close()
		return err
	}
	handler, err := s.adminHandler(admin.Addr())
	if err != nil {
		admin.Close()
		return err
	}
	// Without limits of time: a follower of the truth stays as long as it likes.
	s.admin, err = run(adminAt, admin, handler, 0, 0, quietLog(s.cfg.Log), nil)
	return err
}

// listenAll takes the addresses of all nodes, and makes the certificate.
func (s *Server) listenAll() (all [][]net.Listener, err error) {
	var secret []net.Addr
	for _, n := range s.nodes {
		taken, err := n.listen()
		if err != nil {
			for _, before := range all {
				closeListeners(before)
			}
			return nil, err
		}
		all = append(all, taken)
		for i, l := range n.listeners {
			if l.TLS {
				secret = append(secret, taken[i].Addr())
			}
		}
	}
	if len(secret) > 0 {
		if s.certificate, err = selfSigned(secret); err != nil {
			for _, taken := range all {
				closeListeners(taken)
			}
			return nil, err
		}
	}
	return all, nil
}

// listen takes the addresses of a node.
func (n *node) listen() (taken []net.Listener, err error) {
	for _, l := range n.listeners {
		ln, err := l.listen()
		if err != nil {
			closeListeners(taken)
			return nil, err
		}
		taken = append(taken, ln)
	}
	return taken, nil
}

func closeListeners(all []net.Listener) {
	for _, ln := range all {
		ln.Close()
	}
}

// URL is where the server is reached, without a slash at the end: that of its
// front, or of its first listener.
func (s *Server) URL() string {
	if places := s.Places(); len(places) > 0 {
		return places[0].URL
	}
	return ""
}

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
