package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// Below these are what everything serves beside the algorithms.
const (
	defectsPath = "/defects/"
	trapsPath   = "/traps/"
)

// everything makes a server with each algorithm on the path of its name, set as
// its example is; each defect beside its clean twin; and each trap.
func (o *serveOptions) everything(c *cobra.Command) (server.Config, error) {
	var errs []error
	visitGiven(c, func(name string) {
		if name == "limit" || name == "defect" {
			errs = append(errs, fmt.Errorf("--all and --%s: give one of them", name))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return server.Config{}, err
	}
	if len(o.keys) > 1 {
		return server.Config{}, fmt.Errorf("--key is given %d times: with --all one serves every algorithm", len(o.keys))
	}
	base, err := o.route()
	if err != nil {
		return server.Config{}, err
	}
	cfg, err := o.frame()
	if err != nil {
		return cfg, err
	}
	for _, d := range limiter.List() {
		l, err := o.readLimit(d.Example, o.keys[0])
		if err != nil {
			return server.Config{}, err
		}
		l.Name = d.Name
		r := base
		r.Path, r.Limits = "/"+d.Name, []string{d.Name}
		cfg.Limits = append(cfg.Limits, l)
		cfg.Routes = append(cfg.Routes, r)
	}
	for _, e := range defect.Catalogue() {
		if e.On.Keeps && (cfg.Nodes == 1 || cfg.NodeStore.Name != "shared") {
			continue // memory here is gone with its node, rightly
		}
		for _, d := range []string{"", e.Example} {
			if err := addSpecimen(&cfg, e, d); err != nil {
				return cfg, fmt.Errorf("defect %s: %w", e.Name, err)
			}
		}
	}
	for _, t := range defect.Traps() {
		if err := addTrap(&cfg, t); err != nil {
			return cfg, fmt.Errorf("trap %s: %w", t.Name, err)
		}
	}
	return cfg, nil
}

// addSpecimen adds what a defect can be seen on, made wrong by it, or without it
// the clean twin. Where the states are is the defect's affair.
func addSpecimen(cfg *server.Config, e defect.Entry, wrong string) error {
	name := e.Name + "/right"
	if wrong != "" {
		name = e.Name + "/wrong"
	}
	on := e.On
	flags := limitFlags{
		limits: []string{cmp.Or(on.Limit, server.DefaultLimit)}, keys: []string{cmp.Or(on.Key, defaultKey)},
		costHeader: on.CostHeader, costBody: on.CostBody, store: cmp.Or(on.Store, "memory"),
	}
	if on.Beside != "" {
		flags.limits = append(flags.limits, on.Beside)
	}
	if wrong != "" {
		flags.defects = []string{wrong}
	}
	answers := answerFlags{mode: cmp.Or(on.Mode, "plain"), retryAfter: on.RetryAfter, fields: list(on.Fields)}
	return addRoute(cfg, defectsPath+name, name, flags, answers)
}

// addTrap adds a trap.
func addTrap(cfg *server.Config, t defect.Trap) error {
	flags := limitFlags{limits: t.Limits, keys: []string{defaultKey}, store: "memory", bestEffort: t.BestEffort}
	return addRoute(cfg, trapsPath+t.Name, "trap/"+t.Name, flags, answerFlags{mode: "plain", fields: list(t.Fields)})
}

func list(one string) []string {
	if one == "" {
		return nil
	}
	return []string{one}
}

// addRoute adds a route with limits of its own, which are called by name and, if
// there are several, a number.
func addRoute(cfg *server.Config, path, name string, flags limitFlags, answers answerFlags) error {
	limits, err := flags.readLimits()
	if err != nil {
		return err
	}
	r, err := answers.route()
	if err != nil {
		return err
	}
	r.Path = path
	for i, l := range limits {
		if l.Name = name; i > 0 {
			l.Name = fmt.Sprintf("%s-%d", name, i+1)
		}
		r.Limits = append(r.Limits, l.Name)
		cfg.Limits = append(cfg.Limits, l)
	}
	cfg.Routes = append(cfg.Routes, r)
	return nil
}
