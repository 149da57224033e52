package server

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// condition is what has to be there for a defect to make a difference.
type condition struct {
	defect string
	shows  func(Config, Limit, Route) bool
	wants  string
}

func conditions() []condition {
	told := func(_ Config, _ Limit, r Route) bool { return len(r.Answers.Fields) > 0 }
	fields := "header fields to be wrong in: give fields, such as x-ratelimit"
	return []condition{
		{"remaining", told, fields},
		{"reset", told, fields},
		{"policy-told", told, fields},
		{"multi", func(_ Config, _ Limit, r Route) bool { return len(r.Limits) > 1 }, "several limits that are asked together: give another one"},
		{"parse-first", func(_ Config, _ Limit, r Route) bool { return countsEarly(r) }, "requests that fail early and are said to count: give mode order{early=counted}"},
		{"persist", func(c Config, l Limit, _ Route) bool { return c.outlives(l) }, "a store that outlives a node: give memory{persist=FILE}, or several nodes that share theirs"},
	}
}

// checkShows finds defects that would be told of and do nothing on any route. What
// has to happen for one to show, as a store that is cut off, is not known here.
func (c Config) checkShows() error {
	var faults []error
	for _, l := range c.Limits {
		for _, want := range conditions() {
			if !slices.ContainsFunc(l.Defects, func(d mode.Mode) bool { return d.Name == want.defect }) {
				continue
			}
			asked, shown := false, false
			for _, r := range c.Routes {
				if slices.Contains(r.Limits, l.name()) {
					asked, shown = true, shown || want.shows(c, l, r)
				}
			}
			if asked && !shown {
				faults = append(faults, fmt.Errorf("limit %s: defect %s: does nothing here, it wants %s", l.name(), want.defect, want.wants))
			}
		}
	}
	return errors.Join(faults...)
}

// countsEarly reports whether a request that fails before the limits spends.
func countsEarly(r Route) bool {
	f, err := newFront(r.Mode)
	o, ok := f.(*order)
	return err == nil && ok && o.counted
}

// outlives reports whether the states of a limit are there after one node has ended.
func (c Config) outlives(l Limit) bool {
	o, err := newOpener(l.Store)
	return err == nil && (!o.local || o.file != "" || c.sharesStore())
}
