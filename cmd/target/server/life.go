package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// acquire finds out whether the stores that the limits name can be had.
func (l *life) acquire() error {
	var errs []error
	for _, b := range l.backings {
		if err := b.acquire(l.node); err != nil {
			errs = append(errs, fmt.Errorf("store %w", err))
		}
	}
	return errors.Join(errs...)
}

// ready is the error that opening the stores in this process would end in.
func (l *life) ready() error {
	var errs []error
	for _, b := range l.backings {
		if b.tables == nil {
			continue
		}
		if err := b.tables.Ready(b.limits); err != nil {
			errs = append(errs, fmt.Errorf("store %w", err))
		}
	}
	return errors.Join(errs...)
}

// openElsewhere opens those stores that are not in this process.
func (l *life) openElsewhere() error {
	var errs []error
	for _, b := range l.backings {
		if b.tables == nil {
			if err := b.open(l.node); err != nil {
				errs = append(errs, fmt.Errorf("store %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// changeTables makes the states in this process those of the limits of this life.
func (l *life) changeTables() {
	for _, b := range l.backings {
		if b.tables != nil {
			b.tables.Change(b.limits, l.node.clock)
		}
	}
}

// openStores opens those that are not open yet.
func (l *life) openStores() error {
	var errs []error
	for _, b := range l.backings {
		if b.store != nil {
			continue
		}
		if err := b.open(l.node); err != nil {
			errs = append(errs, fmt.Errorf("store %w", err))
		}
	}
	return errors.Join(errs...)
}

// buildRoutes makes the routes, once the limits have their stores.
func (l *life) buildRoutes(cfg Config) error {
	for _, r := range cfg.Routes {
		built, err := r.build(l)
		if err != nil {
			return fmt.Errorf("route %s: %w", r.path(), err)
		}
		l.routes = append(l.routes, built)
	}
	for _, at := range l.node.listeners {
		l.routers[at.name()] = l.router(at.name())
	}
	return nil
}

// closeStores may be called on nil, which has none.
func (l *life) closeStores() error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, b := range l.backings {
		errs = append(errs, b.close())
	}
	return errors.Join(errs...)
}

// router hands requests that come to one listener to their routes.
type router struct {
	node     *node
	listener string
	routes   []*route // the longest path first
}

func (l *life) router(listener string) *router {
	rt := &router{node: l.node, listener: listener}
	for _, r := range l.routes {
		if r.servedOn(listener) {
			rt.routes = append(rt.routes, r)
		}
	}
	slices.SortStableFunc(rt.routes, func(a, b *route) int { return cmp.Compare(len(b.path()), len(a.path())) })
	return rt
}

// handler answers what comes to a listener as the node lives at that moment.
func (n *node) handler(listener string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.life().routers[listener].ServeHTTP(w, r)
	})
}
