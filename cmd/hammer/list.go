package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/scenarios"
)

// listing is what hammer list says, in JSON.
type listing struct {
	Version   int     `json:"version"`
	Scenarios []entry `json:"scenarios"`
	Checks    []entry `json:"checks"`
}

type entry struct {
	ID  string `json:"id"`
	Say string `json:"says"`
}

func newList(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the built-in scenarios and the assertions",
		Long:  "Lists what the standard scenario is made of, and every assertion, each with a sentence.\n\n" + exitCodes,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l := listing{Version: report.SchemaVersion}
			for _, t := range scenarios.Tracks() {
				l.Scenarios = append(l.Scenarios, entry{t.Name, t.Says})
			}
			for _, a := range assertions.All() {
				l.Checks = append(l.Checks, entry{a.ID, a.Says})
			}
			if c.json {
				return report.JSON(c.out, l)
			}
			fmt.Fprintln(c.out, "Scenarios: hammer check fires all of them")
			print := func(e entry) { fmt.Fprintf(c.out, "  %-22s %s\n", e.ID, e.Say) }
			for _, e := range l.Scenarios {
				print(e)
			}
			fmt.Fprintln(c.out, "\nAssertions: every run is judged by all of them")
			for _, e := range l.Checks {
				print(e)
			}
			return nil
		},
	}
}
