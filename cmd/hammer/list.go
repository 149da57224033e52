package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// listing is what hammer list says, in JSON.
type listing struct {
	Version   int     `json:"version"`
	Scenarios []trap  `json:"scenarios"`
	Clocks    []entry `json:"clocks"` // what hammer check --clock does
	Faults    []entry `json:"faults"` // and --faults
	Checks    []entry `json:"checks"`
}

// trap is a part of the scenarios that are drawn from a promise.
type trap struct {
	entry
	Finds    []library.Kind `json:"finds"`
	Regular  bool           `json:"regular"`  // part of hammer check without --thorough
	Requests int            `json:"requests"` // at most, for the promise that is asked about
	Seconds  float64        `json:"seconds"`
}

type entry struct {
	ID  string `json:"id"`
	Say string `json:"says"`
}

func newList(c *console) *cobra.Command {
	var p promise
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the traps that scenarios are made of, and the assertions",
		Long: `Lists the traps that hammer check fires, with what each finds, and what it costs
at most for a promise: burst 10 and 5/s, or the one that is given. And every
assertion, each with a sentence.

` + exitCodes,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return list(c, p) },
	}
	cmd.Flags().SortFlags = false
	p.addFlags(cmd.Flags())
	return cmd
}

func list(c *console, p promise) error {
	l, wanted, err := p.template()
	if err != nil {
		return err
	}
	fillIn(&l)
	if _, _, err := complete(l, nil); err != nil {
		return err
	}
	out := listing{Version: report.SchemaVersion}
	same, err := p.makesNoDifference(l.Key)
	if err != nil {
		return err
	}
	fires := library.Fires(l, library.Circumstances{Wanted: wanted, Same: same})
	if len(same) == 0 && l.Key.Kind != scenarios.KeyNone {
		same = library.Identity(l.Key)
	}
	prices := library.Prices(l, library.Circumstances{Wanted: wanted, Same: same})
	for _, t := range library.Traps() {
		if price, ok := prices[t.Name]; ok {
			out.Scenarios = append(out.Scenarios, trap{entry{t.Name, t.Says}, t.Finds, fires[t.Name], price.Requests, price.Length.Seconds()})
		}
	}
	for _, d := range library.Disturbances() {
		if d.OfClock {
			out.Clocks = append(out.Clocks, entry{d.Name, d.Says})
		} else {
			out.Faults = append(out.Faults, entry{d.Name, d.Says})
		}
	}
	for _, a := range assertions.All() {
		out.Checks = append(out.Checks, entry{a.ID, a.Says})
	}
	if c.json {
		return report.JSON(c.out, out)
	}
	fmt.Fprintf(c.out, "Traps for %v: hammer check fires those with a *, and with --thorough the least set that finds all\n", l)
	for _, t := range out.Scenarios {
		mark := " "
		if t.Regular {
			mark = "*"
		}
		var kinds []string
		for _, k := range t.Finds {
			kinds = append(kinds, string(k))
		}
		fmt.Fprintf(c.out, "%s %-10s at most %d requests in %.1f s: %s\n             finds %s\n", mark, t.ID, t.Requests, t.Seconds, t.Say, strings.Join(kinds, "; "))
	}
	fmt.Fprintln(c.out, "\nDisturbances: hammer check --clock and --faults do them to the server meanwhile")
	for _, e := range append(out.Clocks, out.Faults...) {
		fmt.Fprintf(c.out, "  %-15s %s\n", e.ID, e.Say)
	}
	fmt.Fprintln(c.out, "\nAssertions: every run is judged by all of them")
	for _, e := range out.Checks {
		fmt.Fprintf(c.out, "  %-22s %s\n", e.ID, e.Say)
	}
	return nil
}
