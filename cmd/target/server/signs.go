package server

import (
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/scenarios"
)

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
