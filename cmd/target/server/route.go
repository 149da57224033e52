package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// route is a Route in force.
type route struct {
	Route
	life     *life
	node     *node
	limits   []*limit
	backing  *backing               // of all limits; nil: there are none
	releases bool                   // whether a limit has to know when a request is done
	remember bool                   // whether a limit has to see the body
	ahead    func(mono int64) int64 // of its wall clock; nil: it is the server's
	front    front
	voice    *dialect.Voice
	instead  *dialect.Voice // of the limits that are kept to while the store is down
	status   int            // of a refusal

	admitted, noContent *dialect.Answer
	noKey, badCost      []*dialect.Answer // by limit
	visits              sync.Pool         // of *visit
}

// Check says what is wrong with the route by itself, or nil. Whether its limits
// and listeners exist is not asked.
func (r Route) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, err := newFront(r.Mode); err != nil {
		faults = append(faults, err)
	}
	if err := r.Answers.Check(); err != nil {
		faults = append(faults, err)
	}
	for _, p := range append([]string{cmp.Or(r.Path, "/")}, r.Exempt...) {
		if p != path.Clean(p) && p != path.Clean(p)+"/" || !strings.HasPrefix(p, "/") {
			fault("path %q: write one such as %s", p, path.Clean("/"+p))
		}
	}
	if len(r.Limits) > dialect.MaxPolicies {
		fault("%d limits on one route: at most %d can be asked together", len(r.Limits), dialect.MaxPolicies)
	}
	for i, name := range r.Limits {
		if slices.Contains(r.Limits[:i], name) {
			fault("limit %s is named twice: a request asks it once", name)
		}
	}
	faults = append(faults, r.checkMethods()...)
	return errors.Join(faults...)
}

// path is the path of the route, without a slash at the end.
func (r Route) path() string { return "/" + strings.Trim(r.Path, "/") }

// Covers reports whether the route is asked by requests to the path p, which is
// clean.
func (r Route) Covers(p string) bool {
	own := strings.TrimSuffix(r.path(), "/") // that of / is empty
	return p == own || strings.HasPrefix(p, own+"/")
}

// servedOn reports whether requests that come to a listener get to the route.
func (r Route) servedOn(listener string) bool {
	return len(r.Listeners) == 0 || slices.Contains(r.Listeners, listener)
}

// build makes the route with its limits, of which all have to be in one store.
func (r Route) build(l *life) (*route, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	kind, m, err := findFront(r.Mode)
	if err != nil {
		return nil, err
	}
	r.Mode = m
	if r.Exempt == nil {
		r.Exempt = kind.exempt
	}
	rt := &route{Route: r, life: l, node: l.node, admitted: dialect.OK(), noContent: dialect.NewAnswer(http.StatusNoContent, "", nil)}
	if rt.front, err = newFront(m); err != nil {
		return nil, err
	}
	if err := rt.addLimits(); err != nil {
		return nil, err
	}
	rt.visits.New = func() any { return newVisit(rt) }
	return rt, nil
}

func (rt *route) addLimits() error {
	var policies, instead []dialect.Policy
	for _, name := range rt.Limits {
		// The Config has been checked: there is this limit, and all are in one store.
		l := rt.life.limits[slices.IndexFunc(rt.life.limits, func(l *limit) bool { return l.Name == name })]
		rt.backing = l.backing
		for _, a := range []limiter.Algorithm{l.parts.Algorithm, l.instead.Algorithm} {
			_, releases := a.(limiter.Releaser)
			rt.releases = rt.releases || releases
		}
		rt.remember = rt.remember || l.CostBody != ""
		if l.parts.Ahead != nil {
			rt.ahead = l.parts.Ahead
		}
		rt.limits = append(rt.limits, l)
		rt.noKey = append(rt.noKey, l.noKey())
		rt.badCost = append(rt.badCost, l.badCost())
		policies = append(policies, l.policy())
		instead = append(instead, l.policyInstead())
	}
	if rt.status = rt.Answers.Status; rt.status == 0 {
		rt.status = http.StatusTooManyRequests
	}
	var err error
	if rt.voice, err = dialect.New(rt.Answers, policies); err != nil {
		return err
	}
	rt.instead, err = dialect.New(rt.Answers, instead)
	return err
}

// handle answers one request. It has arrived in full before a limit is asked, so
// that a client which holds back its last byte holds back the decision.
func (rt *route) handle(w http.ResponseWriter, r *http.Request) {
	rt.share(w.Header(), r)
	rt.voice.Policies(w.Header())
	visitor := visitorOf(r.Context())
	visitor.awaits()
	if rt.remember {
		remember(r)
	}
	failed, counted := rt.front.before(w, r)
	visitor.begin()
	if failed != nil && (!counted || len(rt.limits) == 0) {
		rt.write(w, failed)
		return
	}
	if a := rt.free(w.Header(), r); a != nil {
		rt.write(w, cmp.Or(failed, a))
		return
	}
	rt.ask(w, r, failed)
}

// ask asks the limits, if there are any.
func (rt *route) ask(w http.ResponseWriter, r *http.Request, failed *dialect.Answer) {
	if len(rt.limits) == 0 {
		rt.serve(w, r, rt.front.enter())
		return
	}
	rt.limit(w, r, failed)
}

// limit asks the limits and answers as they say, or to a request that they admit
// and that has failed already, with its failure.
func (rt *route) limit(w http.ResponseWriter, r *http.Request, failed *dialect.Answer) {
	v := rt.visits.Get().(*visit)
	v.shed = failed
	defer v.leave()
	if a := v.prepare(r); a != nil {
		rt.write(w, a)
		return
	}
	if v.passed {
		if failed == nil {
			failed = rt.front.enter()
		}
		rt.serve(w, r, failed)
		return
	}
	a := v.decide(r)
	if v.moved {
		rt.again(w, r, failed)
		return
	}
	if a != nil {
		rt.write(w, a)
		return
	}
	voice := rt.voice
	if v.local {
		voice = rt.instead
		voice.Policies(w.Header())
	}
	voice.Standing(w.Header(), v.standing)
	if v.admitted {
		v.hold(w, r)
		if v.shed != nil {
			rt.write(w, v.shed)
			return
		}
		rt.front.work(r.Context())
		voice.WriteAdmitted(w, v.standing, rt.wall(rt.node.clock.Read()))
		return
	}
	voice.RetryAfter(w.Header(), v.standing)
	rt.write(w, voice.Refusal(v.standing.Decisions))
}

// again asks the limits that are in force now, where those of this route have been
// changed while the request was on its way.
func (rt *route) again(w http.ResponseWriter, r *http.Request, failed *dialect.Answer) {
	s := rt.node.server
	s.exchanging.RLock() // held until they are in force
	life := rt.node.life()
	s.exchanging.RUnlock()
	i := slices.IndexFunc(rt.node.listeners, func(l Listener) bool { return rt.servedOn(l.name()) })
	next := life.routers[rt.node.listeners[i].name()].find(r)
	clear(w.Header())
	if next == nil {
		rt.write(w, s.notFound)
		return
	}
	next.share(w.Header(), r)
	next.voice.Policies(w.Header())
	next.ask(w, r, failed)
}

// serve does the work of a request that has got a place, which shed is nil of.
func (rt *route) serve(w http.ResponseWriter, r *http.Request, shed *dialect.Answer) {
	if shed != nil {
		rt.write(w, shed)
		return
	}
	rt.front.work(r.Context())
	rt.write(w, rt.admitted)
}

// write sends a with the date of the route's own clock, at this moment.
func (rt *route) write(w http.ResponseWriter, a *dialect.Answer) {
	rt.voice.Write(w, a, rt.wall(rt.node.clock.Read()))
}

// wall is the wall clock that the route tells: the server's, unless a defect of one
// of its limits steps it.
func (rt *route) wall(at clock.Instant) int64 {
	if rt.ahead == nil {
		return at.Wall
	}
	return at.Wall + rt.ahead(at.Mono)
}
