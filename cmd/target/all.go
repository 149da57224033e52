package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// everything makes a server with each algorithm on the path of its name, set as
// its example is.
func (o *serveOptions) everything(c *cobra.Command) (server.Config, error) {
	var err error
	visitGiven(c, func(name string) {
		if name == "limit" {
			err = conflict(c, "all")
		}
	})
	if err != nil {
		return server.Config{}, err
	}
	if len(o.keys) > 1 {
		return server.Config{}, fmt.Errorf("--key is given %d times: with --all one serves every algorithm", len(o.keys))
	}
	base, err := o.route()
	if err != nil {
		return server.Config{}, err
	}
	cfg := o.frame()
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
	return cfg, nil
}
