package server

import (
	"net/http"
	"path"
	"slices"
)

// router hands requests that come to one listener to their routes.
type router struct {
	server *Server
	routes []*route // the longest path first
}

func (s *Server) router(listener string) *router {
	rt := &router{server: s}
	for _, r := range s.routes {
		if r.servedOn(listener) {
			rt.routes = append(rt.routes, r)
		}
	}
	slices.SortStableFunc(rt.routes, func(a, b *route) int { return len(b.path()) - len(a.path()) })
	return rt
}

// ServeHTTP looks at the path as a file server would, so that //login and
// /x/../login meet what /login does. It does not redirect: that would be an
// answer that no limit was asked about.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	visitor := visitorOf(r.Context())
	visitor.begin()
	defer visitor.end()
	p := path.Clean("/" + r.URL.Path)
	for _, route := range rt.routes {
		if route.Covers(p) {
			route.handle(w, r)
			return
		}
	}
	rt.server.voice.Write(w, rt.server.notFound, rt.server.clock.Read().Wall)
}
