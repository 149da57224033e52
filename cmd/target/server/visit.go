package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/store"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// visit is one request on its way through the limits of a route, and what they
// have said of it. It is kept for the next request.
type visit struct {
	route    *route
	asks     []store.Ask // by limit
	admitted bool
	passed   bool // a limit does not see the request
	moved    bool // the limits have been changed while the request was on its way
	local    bool // decided by what stands in for the store
	standing dialect.Standing
	delay    time.Duration   // that it has to be held back
	shed     *dialect.Answer // to a request that was admitted and got no place, or had failed before; nil: it got one
	records  []truth.Record
	onSettle func(*store.Answer) // settle, as a value that is made once
}

func newVisit(rt *route) *visit {
	v := &visit{route: rt}
	v.onSettle = v.settle
	return v
}

// leave makes the visit ready for another request, once this one is done.
func (v *visit) leave() {
	if v.admitted && v.route.releases {
		v.release()
	}
	clear(v.asks) // they hold on to keys, and records as well
	clear(v.records)
	*v = visit{
		route: v.route, asks: v.asks[:0], records: v.records[:0], onSettle: v.onSettle,
		standing: dialect.Standing{Decisions: v.standing.Decisions[:0]},
	}
	v.route.visits.Put(v)
}

// release tells the limits that the request is done. Its own context may have
// ended with its client.
func (v *visit) release() {
	if err := v.route.backing.store.Release(context.Background(), v.asks); err != nil {
		v.route.backing.heard(err)
	}
}

// prepare reads from the request what is asked of each limit. It gives the
// answer to one that does not say, or nil.
func (v *visit) prepare(r *http.Request) *dialect.Answer {
	for i, l := range v.route.limits {
		key, ok := l.parts.Key.Of(r)
		if !ok {
			return v.route.noKey[i]
		}
		cost, ok := l.cost(r)
		if !ok {
			return v.route.badCost[i]
		}
		ask := store.Ask{Limit: l.index, Key: key, Cost: cost}
		if l.parts.Ask != nil {
			v.passed = !l.parts.Ask(r, &ask) || v.passed
		}
		v.passed = v.passed || l.parts.ParseFirst && v.shed != nil
		v.asks = append(v.asks, ask)
	}
	return nil
}

// limiterFailed is the answer to a request that a limiter has failed at.
var limiterFailed = dialect.Problem(http.StatusInternalServerError, "the limiter has failed; nothing was spent")

// decide asks the store. It gives the answer to a request that was not decided
// on, or that the store's policy turns away, or nil.
func (v *visit) decide(r *http.Request) *dialect.Answer {
	err := v.route.backing.store.Decide(r.Context(), v.asks, v.onSettle)
	switch {
	case errors.As(err, new(*limiter.CostError)):
		return v.route.badCost[v.costly()]
	case errors.Is(err, store.ErrMoved):
		v.moved = true
		return nil
	case errors.As(err, new(*limiter.FaultError)):
		return limiterFailed
	case err != nil:
		v.route.backing.heard(err)
		return v.route.node.server.storeDown
	case !v.admitted && len(v.standing.Decisions) == 0:
		return v.route.node.server.storeDown
	}
	return nil
}

// costly is the limit that can never admit the cost that is asked of it.
func (v *visit) costly() int {
	for i, l := range v.route.limits {
		if v.asks[i].Cost < 1 || v.asks[i].Cost > l.most {
			return i
		}
	}
	return 0
}

// settle takes over what was decided, finds a place for an admitted request, and
// records the truth. A store in this process calls it where decisions on a key
// come in their order, so the records of a key do too.
func (v *visit) settle(a *store.Answer) {
	v.admitted = a.Admitted
	v.standing.Wall = v.route.wall(a.At)
	status := v.route.status
	v.local = a.Policy == store.Local
	if a.Policy != store.Open && a.Policy != store.Closed { // these know nothing of what is left
		for i, d := range a.Decisions {
			if told := v.route.limits[i].parts.Told; told != nil {
				d = told(v.asks[i], v.standing.Wall, d)
			}
			v.standing.Decisions = append(v.standing.Decisions, d)
		}
	}
	switch {
	case a.Admitted:
		status = v.admit()
	case a.Policy == store.Closed:
		status = v.route.node.server.storeDown.Status
	}
	v.route.backing.heard(a.Cause)
	v.record(a, status)
	v.route.node.server.truth.Add(v.records)
}

// admit finds a place for an admitted request, and tells the status that it will
// be answered with.
func (v *visit) admit() int {
	if v.shed != nil {
		return v.shed.Status
	}
	for _, d := range v.standing.Decisions {
		v.delay = max(v.delay, d.Delay)
	}
	room := v.route.node.room
	if v.shed = room.enter(v.delay); v.shed == nil {
		if v.shed = v.route.front.enter(); v.shed == nil {
			return http.StatusOK
		}
		room.leave(v.delay)
	}
	v.delay = 0
	return v.shed.Status
}

func (v *visit) record(a *store.Answer, status int) {
	policy := ""
	if a.Policy != store.None {
		policy = a.Policy.String()
	}
	for i, ask := range v.asks {
		d := a.Decisions[i]
		var decided int64
		if a.Moments != nil {
			decided = a.Moments[i]
		}
		v.records = append(v.records, truth.Record{
			MonoNS: a.At.Mono, FromNS: a.From.Mono, WallNS: v.standing.Wall, DecidedNS: decided,
			Node: v.route.node.told(), Route: v.route.path(), Limit: v.route.limits[i].Name, Key: ask.Key, Cost: ask.Cost,
			Before: d.Before, After: d.After, Unit: d.Unit, Admitted: a.Admitted,
			Refused: !a.Admitted && !d.Admitted, DelayNS: int64(v.delay), Status: status, Policy: policy,
		})
	}
}

// hold keeps an admitted request back for its delay, or until its client goes.
func (v *visit) hold(w http.ResponseWriter, r *http.Request) {
	if v.delay == 0 {
		return
	}
	defer v.route.node.room.leave(v.delay)
	// The limit of time for reading the request would end the context of one that
	// has been read and waits. An error means that there was no such limit.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	clock.Sleep(r.Context(), v.delay)
}
