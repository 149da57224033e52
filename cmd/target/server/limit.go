package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// maxDelay is how long a request is held back at most. A limit that would hold
// one back longer is refused when the server starts, as far as it can be seen
// from its promise, and the request is turned away if not.
const maxDelay = 10 * time.Minute

// limit is one limit in force.
type limit struct {
	Limit
	parts   defect.Parts
	most    int64       // tokens that one request can ask for
	quota   int64       // tokens that a key which was never used has
	instead store.Limit // what is kept to in this process while the store is down
	backing *backing    // where its states are
	index   int         // among the limits of the backing
}

// Check says what is wrong with the limit by itself, or nil.
func (l Limit) Check() error {
	// Its clock only has to be one that a defect can change.
	_, err := l.build(clock.New(time.Unix(0, 0), func() int64 { return 0 }), 0, func() int64 { return 0 }, 0)
	return err
}

// checkWords is the error of what would break a header or a list.
func (l Limit) checkWords() error {
	if strings.ContainsFunc(l.Name, func(c rune) bool { return c < ' ' || c > '~' }) || len(l.Name) > 64 {
		return fmt.Errorf("name %q: give at most 64 letters, digits and signs of ASCII", l.Name)
	}
	if strings.ContainsFunc(l.CostHeader, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }) {
		return fmt.Errorf("cost header %q: give the name of a header", l.CostHeader)
	}
	if l.CostBody != "" && !slices.Contains(costBodies, l.CostBody) {
		return fmt.Errorf("cost body %q: write %s, or nothing", l.CostBody, strings.Join(costBodies, ", "))
	}
	if l.CostBody != "" && l.CostHeader != "" {
		return errors.New("a cost header and a cost body: give one of them")
	}
	return nil
}

func (l Limit) name() string {
	if l.Name == "" {
		return DefaultName
	}
	return l.Name
}

// build makes the limit for a node with that clock, whose states go back to since.
// It came at a moment of the monotonic clock.
func (l Limit) build(c *clock.Clock, seed uint64, since func() int64, came int64) (*limit, error) {
	l.Name = l.name()
	if err := l.checkWords(); err != nil {
		return nil, err
	}
	if _, err := newOpener(l.Store); err != nil {
		return nil, err
	}
	algorithm, err := newAlgorithm(l.Algorithm)
	if err != nil {
		return nil, err
	}
	parts := defect.Right(algorithm, c, seed)
	parts.Key, parts.Since, parts.Came = l.Key, since, came
	if err := defect.Apply(&parts, l.Defects); err != nil {
		return nil, err
	}
	built := &limit{Limit: l, parts: parts, instead: store.Limit{Algorithm: parts.Algorithm, Now: parts.Now}}
	if !l.Fallback.IsZero() {
		fallback, err := newAlgorithm(l.Fallback)
		if err != nil {
			return nil, fmt.Errorf("fallback: %w", err)
		}
		right := defect.Right(fallback, c, seed)
		built.instead = store.Limit{Algorithm: right.Algorithm, Now: right.Now}
	}
	built.measure()
	return built, nil
}

// newAlgorithm builds the algorithm, unless it would hold back too long.
func newAlgorithm(m mode.Mode) (limiter.Algorithm, error) {
	a, err := limiter.New(m)
	if err != nil {
		return nil, err
	}
	p := a.Promise()
	if longest := p.Rate.Time(p.Burst); p.Contract == scenarios.Queue && longest > maxDelay {
		return nil, fmt.Errorf("%s: the last in the queue would wait %v, and no request is held back longer than %v; give a smaller burst or a faster rate", m.Name, longest, maxDelay)
	}
	return a, nil
}

// measure finds what the algorithm says of itself only when it is asked: how
// much a key has, and how much one request can ask for.
func (l *limit) measure() {
	a := l.parts.Algorithm
	now := l.parts.Now(l.parts.Clock.Read())
	l.quota = a.View(a.Fresh(now), now).Limit
	var never *limiter.CostError
	if _, err := a.Decide(a.Fresh(now), now, 0); errors.As(err, &never) {
		l.most = never.Most
	}
}

// policy is the limit as clients are told of it.
func (l *limit) policy() dialect.Policy {
	promise, quota := l.parts.Algorithm.Promise(), l.quota
	if l.parts.Promised != nil {
		promise, quota = l.parts.Promised(promise, quota)
	}
	return dialect.Policy{
		Name:       l.Name,
		Promise:    promise,
		Quota:      quota,
		Shared:     l.Key.String() == "none",
		RetryAfter: l.parts.RetryAfter,
		RetryDate:  l.parts.RetryDate,
	}
}

// policyInstead is what is kept to while the store is down.
func (l *limit) policyInstead() dialect.Policy {
	p := l.policy()
	if !l.Fallback.IsZero() {
		a := l.instead.Algorithm
		now := l.parts.Now(l.parts.Clock.Read())
		p.Promise, p.Quota, p.RetryAfter, p.RetryDate = a.Promise(), a.View(a.Fresh(now), now).Limit, nil, nil
	}
	return p
}

// cost is how many tokens a request asks for: 1 unless the header or the body
// says otherwise. It is not ok if the header does not hold a number.
func (l *limit) cost(r *http.Request) (cost int64, ok bool) {
	switch {
	case l.CostBody != "":
		return operations(r), true
	case l.CostHeader == "":
		return 1, true
	}
	text := r.Header.Get(l.CostHeader)
	if text == "" {
		return 1, true
	}
	cost, err := strconv.ParseInt(text, 10, 64)
	return cost, err == nil
}

// noKey is the answer to a request that does not show its client.
func (l *limit) noKey() *dialect.Answer {
	return dialect.Problem(http.StatusBadRequest,
		fmt.Sprintf("the request has no %s, by which the limit %s tells clients apart; nothing was spent", l.Key.Words(), l.Name))
}

// badCost is the answer to a cost that is no number or can never be had.
func (l *limit) badCost() *dialect.Answer {
	switch {
	case l.CostBody != "":
		return dialect.Problem(http.StatusBadRequest, fmt.Sprintf("the body asks for more than the %d operations that the limit %s can ever admit at once; nothing was spent", l.most, l.Name))
	case l.CostHeader == "":
		return dialect.Problem(http.StatusBadRequest, fmt.Sprintf("the limit %s can never admit a request; nothing was spent", l.Name))
	}
	return dialect.Problem(http.StatusBadRequest,
		fmt.Sprintf("the cost in header %s must be a whole number from 1 to %d; nothing was spent", l.CostHeader, l.most))
}
