package server

import (
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Place is one address that the server serves on.
type Place struct {
	Name   string // of the listener
	Node   int    // number of the node, from 1; 0: there is only one, or it is the front
	URL    string // without a slash at the end
	Socket string // path of its unix socket; empty: none
	TLS    bool
}

// Places are all addresses: of the front, if there is one, and of the nodes in
// their order.
func (s *Server) Places() (all []Place) {
	if s.front != nil {
		all = append(all, Place{Name: "front", URL: s.front.public.url})
	}
	for _, n := range s.nodes {
		for i, e := range n.endpoints() {
			all = append(all, Place{Name: n.listeners[i].name(), Node: n.told(), URL: e.url, Socket: e.socket, TLS: e.tls})
		}
	}
	return all
}

// Sign is what a route says of itself.
type Sign struct {
	Place  Place  // the first where it is served; zero: it is down, or in virtual time
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
	for _, rt := range s.nodes[0].life().routes {
		sign := Sign{Path: rt.path(), Mode: rt.Mode.String()}
		if at := slices.IndexFunc(places, func(p Place) bool { return rt.servedOn(p.Name) }); at >= 0 {
			sign.Place = places[at]
		}
		for _, l := range rt.limits {
			sign.Limits = append(sign.Limits, l.promise())
		}
		all = append(all, sign)
	}
	return all
}

// bestEffort are the numbers of a promise without the promise.
func bestEffort(l scenarios.Limit) scenarios.Limit {
	l.Contract = scenarios.BestEffort
	if l.Burst == 0 {
		l.Burst = l.Rate.Count
	}
	return l
}

func (l *limit) promise() Promise {
	p := Promise{Name: l.Name, Algorithm: l.Algorithm.String(), Limit: l.parts.Algorithm.Promise(), Key: l.Key, Store: orMemory(l.Store).String()}
	if l.BestEffort {
		p.Limit = bestEffort(p.Limit)
	}
	for _, d := range l.Defects {
		p.Defects = append(p.Defects, d.String())
	}
	return p
}
