package server

import (
	"net/http"
	"path"
)

// ServeHTTP looks at the path as a file server would, so that //login and
// /x/../login meet what /login does. It does not redirect: that would be an
// answer that no limit was asked about.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	visitor := visitorOf(r.Context())
	visitor.begin()
	defer visitor.end()
	if route := rt.find(r); route != nil {
		route.handle(w, r)
		return
	}
	rt.node.server.voice.Write(w, rt.node.server.notFound, rt.node.clock.Read().Wall)
}

// find is the route that a request is for, or nil.
func (rt *router) find(r *http.Request) *route {
	p := path.Clean("/" + r.URL.Path)
	for _, route := range rt.routes {
		if route.Covers(p) {
			return route
		}
	}
	return nil
}
