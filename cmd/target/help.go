package main

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// serveHelp lists what the code knows, so that the help cannot be out of date.
func serveHelp() string {
	var b strings.Builder
	b.WriteString("Serve HTTP behind rate limiters until interrupted.\n")
	section(&b, "Limits (--limit)", limiter.List())
	section(&b, "Keys (--key), several joined by +", key.List())
	section(&b, "Stores (--store)", server.Stores())
	section(&b, "Fields (--fields)", dialect.Families())
	section(&b, "Retry-After (--retry-after)", dialect.RetryAfters())
	section(&b, "Modes (--mode)", server.Modes())
	section(&b, "HEAD and OPTIONS (--head, --options)", server.Methods())
	section(&b, "What nodes know of each other (--node-store)", server.NodeStores())
	section(&b, "Fronts (--front)", server.Fronts())
	fmt.Fprintf(&b, "\nClocks (--clock):\n  %s\n      Each part says whose clock it is about (else all), when it comes (else at the start) and what happens.\n", clock.Script)
	section(&b, "Defects (--defect)", defect.List())
	b.WriteString(`
Admin side, on its own address:
  GET  /limits            what is promised where
  GET  /status            keys, connections and memory that the server holds
  GET  /clock             the monotonic and wall clocks, in nanoseconds
  POST /clock/step?by=-5s step a wall clock; the machine's is left alone
       /clock/slew?ppm=500, /freeze, /resume, /strobe?step=-1s&every=250ms&times=40, /rate?ppm=50
       /clock/strobe?times=0 ends strobes
  GET  /store             the ways to the stores
  POST /store/cut         cut them; /store/delay?by=200ms, /store/restore
  POST /restart?how=hard  restart the nodes: hard, graceful or rolling
  POST /reload            put the limits and routes of --config in force again, or those of a file in the body
  GET  /truth             the decisions of the limiters, one JSON object a line
  GET  /truth?follow=1    those from now on, as they come
       each with node=2 is about one node
  GET  /certificate       what clients have to trust, with --listen-tls

` + exitHelp)
	return b.String()
}

func section(b *strings.Builder, title string, docs []mode.Doc) {
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, d := range docs {
		fmt.Fprintf(b, "  %s\n      %s\n", d.Grammar(), d.Text)
		if d.Example != d.Grammar() {
			fmt.Fprintf(b, "      for example %s\n", d.Example)
		}
	}
}
