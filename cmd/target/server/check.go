package server

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/scenarios/document"
)

// Check says all that is wrong with the Config, or nil. Whether addresses can be
// had and stores can be reached is not tried.
func (c Config) Check() error {
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	limits := errorsOf(c.Limits, Limit.Check, func(l Limit) string { return "limit " + l.name() }, len(c.Limits) > 1)
	routes := errorsOf(c.Routes, Route.Check, func(r Route) string { return "route " + r.path() }, len(c.Routes) > 1)
	return errors.Join(
		limits, routes,
		errorsOf(c.Listeners, Listener.Check, func(l Listener) string { return "listener " + l.name() }, true),
		twice(c.Limits, "limits", Limit.name),
		twice(c.Listeners, "listeners", Listener.name),
		oneStorePerFile(c.Limits),
		c.checkNodes(),
		c.checkRoutes(),
		c.checkShows(),
	)
}

// errorsOf joins the errors of parts, each with its name where there are several.
func errorsOf[T any](parts []T, check func(T) error, name func(T) string, several bool) error {
	var all []error
	for _, p := range parts {
		err := check(p)
		if err != nil && several {
			err = fmt.Errorf("%s: %w", name(p), err)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// twice finds names that two parts have.
func twice[T any](parts []T, what string, name func(T) string) error {
	all := names(parts, name)
	for i, n := range all {
		if slices.Contains(all[:i], n) {
			return fmt.Errorf("two %s are called %s: names must differ", what, n)
		}
	}
	return nil
}

func names[T any](parts []T, name func(T) string) (all []string) {
	for _, p := range parts {
		all = append(all, name(p))
	}
	return all
}

// oneStorePerFile is the error of stores that would write over each other's states.
func oneStorePerFile(limits []Limit) error {
	by := map[string]string{}
	for _, l := range limits {
		o, err := newOpener(l.Store)
		if err != nil || o.file == "" {
			continue // it has been told
		}
		store := orMemory(l.Store).String()
		if other, taken := by[o.file]; taken && other != store {
			return fmt.Errorf("stores %s and %s: both write to one file, give each its own", other, store)
		}
		by[o.file] = store
	}
	return nil
}

// oneWallClock is the error of limits that are asked together and whose wall clock
// would step by itself in different ways.
func oneWallClock(limits []Limit) error {
	first, by := "", ""
	for _, l := range limits {
		for _, d := range l.Defects {
			switch {
			case d.Name != "wall-clock":
			case first == "":
				first, by = d.String(), l.name()
			case first != d.String():
				return fmt.Errorf("limits %s and %s: a route has one wall clock, give both the same %s", by, l.name(), d.Name)
			}
		}
	}
	return nil
}

// checkRoutes finds routes that name what there is not, that ask limits which
// are not in one place, and two for one path.
func (c Config) checkRoutes() error {
	var faults []error
	listeners := names(c.Listeners, Listener.name)
	seen := map[string]bool{}
	for _, r := range c.Routes {
		faults = append(faults, c.checkLimitsOf(r))
		on := r.Listeners
		if len(on) == 0 {
			on = listeners
		}
		for _, l := range on {
			at := fmt.Sprintf("%s on %s", r.path(), l)
			switch {
			case !slices.Contains(listeners, l):
				faults = append(faults, fmt.Errorf("route %s: listener %q is not known; %s", r.path(), l, document.Nearest(l, listeners)))
			case seen[at]:
				faults = append(faults, fmt.Errorf("two routes for %s: paths must differ", at))
			}
			seen[at] = true
		}
	}
	return errors.Join(faults...)
}

func (c Config) checkLimitsOf(r Route) error {
	known := names(c.Limits, Limit.name)
	var first *Limit
	var together []Limit
	for _, name := range r.Limits {
		i := slices.Index(known, name)
		switch {
		case i < 0:
			return fmt.Errorf("route %s: limit %q is not known; %s", r.path(), name, document.Nearest(name, known))
		case first == nil:
			first = &c.Limits[i]
		case orMemory(first.Store).String() != orMemory(c.Limits[i].Store).String():
			return fmt.Errorf("route %s: limits %s and %s are in different stores: what is asked together has to be in one, or it could not be all or nothing", r.path(), first.name(), name)
		}
		together = append(together, c.Limits[i])
	}
	if err := oneWallClock(together); err != nil {
		return fmt.Errorf("route %s: %w", r.path(), err)
	}
	return nil
}
