package main

import (
	"fmt"
	"strings"

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
	section(&b, "Defects (--defect)", defect.List())
	b.WriteString(`
Admin side, on its own address:
  GET  /limits            what is promised where
  GET  /status            keys, connections and memory that the server holds
  GET  /clock             its monotonic and wall clock, in nanoseconds
  POST /clock/step?by=-5s step its wall clock; the machine's is left alone
  GET  /truth             the decisions of the limiters, one JSON object a line
  GET  /truth?follow=1    those from now on, as they come
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
