package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios"
)

// serveOptions are the flags of target serve, as they were written.
type serveOptions struct {
	listen, admin string
	limit, key    string
	costHeader    string
	defects       []string
	mode          string
	announce      bool
	truthKeep     int
}

func newServe() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:     "serve",
		Short:   "Serve HTTP behind a rate limiter until interrupted",
		Long:    serveHelp(),
		Example: "  target serve --limit 'token-bucket{burst=10,rate=5/1s}' --key header:X-Api-Key --defect 'off-by-one{delta=+1}'",
		Args:    wrongUse(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := o.config(c.ErrOrStderr())
			if err != nil {
				return &usageError{command: c.CommandPath(), err: err}
			}
			return serve(c.Context(), cfg, c.OutOrStdout())
		},
	}
	o.addFlags(c)
	return c
}

func (o *serveOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address to serve on; port 0 takes a free one")
	f.StringVar(&o.admin, "admin", "127.0.0.1:0", "address of the admin side, which moves the clock and shows raw keys")
	f.StringVar(&o.limit, "limit", server.DefaultLimit, "the limit")
	f.StringVar(&o.key, "key", "header:X-Api-Key", "what clients are told apart by: header:NAME, ip, query:NAME, cookie:NAME or none")
	f.StringVar(&o.costHeader, "cost-header", "", "request header with the cost in tokens; without it a request costs 1")
	f.StringArrayVar(&o.defects, "defect", nil, "a defect; can be given several times")
	f.StringVar(&o.mode, "mode", "plain", "what is checked beside the limit")
	f.BoolVar(&o.announce, "announce", false, "answer with RateLimit-Policy and RateLimit")
	f.IntVar(&o.truthKeep, "truth-keep", 256*1024, "decisions kept for the truth feed, about 100 bytes each")
}

// serveHelp lists what the code knows, so that the help cannot be out of date.
func serveHelp() string {
	var b strings.Builder
	b.WriteString("Serve HTTP behind a rate limiter until interrupted.\n")
	section(&b, "Limits (--limit)", limiter.List())
	section(&b, "Defects (--defect)", defect.List())
	section(&b, "Modes (--mode)", server.Modes())
	b.WriteString(`
Admin side, on its own address:
  GET  /clock             the server's monotonic and wall clock, in nanoseconds
  POST /clock/step?by=-5s step its wall clock; the machine's is left alone
  GET  /truth             the decisions of the limiter, one JSON object a line
  GET  /truth?follow=1    those from now on, as they come

` + exitHelp)
	return b.String()
}

func section(b *strings.Builder, title string, docs []mode.Doc) {
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, d := range docs {
		fmt.Fprintf(b, "  %s\n      %s\n      for example %s\n", d.Grammar(), d.Text, d.Example)
	}
}

// config reads the flags.
func (o *serveOptions) config(stderr io.Writer) (server.Config, error) {
	limit, err := mode.Parse(o.limit)
	if err != nil {
		return server.Config{}, fmt.Errorf("--limit: %w", err)
	}
	key, err := scenarios.ParseKey(o.key)
	if err != nil {
		return server.Config{}, fmt.Errorf("--key: %w", err)
	}
	front, err := mode.Parse(o.mode)
	if err != nil {
		return server.Config{}, fmt.Errorf("--mode: %w", err)
	}
	var defects []mode.Mode
	for _, text := range o.defects {
		m, err := mode.Parse(text)
		if err != nil {
			return server.Config{}, fmt.Errorf("--defect: %w", err)
		}
		defects = append(defects, m)
	}
	return server.Config{
		Listen: o.listen, Admin: o.admin, Limit: limit, Key: key, CostHeader: o.costHeader,
		Defects: defects, Mode: front, Announce: o.announce, TruthKeep: o.truthKeep,
		Log: slog.New(slog.NewTextHandler(stderr, nil)),
	}, nil
}

// serve runs a server until ctx is done.
func serve(ctx context.Context, cfg server.Config, stdout io.Writer) error {
	s, err := server.Start(cfg)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, greeting(s, cfg)); err != nil {
		s.Close()
		return fmt.Errorf("saying where the server listens: %w", err)
	}
	<-ctx.Done()
	if err := s.Close(); err != nil {
		cfg.Log.Warn("not everything ended by itself", "err", err)
	}
	return nil
}

// greeting says what runs where, and what can be pasted to try it.
func greeting(s *server.Server, cfg server.Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "serving  %s\nadmin    %s\nlimit    %v\nmode     %v\n", s.URL(), s.AdminURL(), s.Promise(), cfg.Mode)
	for _, d := range cfg.Defects {
		fmt.Fprintf(&b, "defect   %v\n", d)
	}
	if len(cfg.Defects) == 0 {
		b.WriteString("defects  none: the limit is kept\n")
	}
	one := curl(s.URL(), cfg.Key)
	fmt.Fprintf(&b, "\ntry\n  curl -i %s\n", one)
	fmt.Fprintf(&b, "  for i in $(seq %d); do curl -s -o /dev/null -w '%%{http_code}\\n' %s; done\n", s.Promise().Burst+3, one)
	fmt.Fprintf(&b, "  curl '%s/truth'\n  curl -X POST '%s/clock/step?by=-5s'\n", s.AdminURL(), s.AdminURL())
	return b.String()
}

// curl gives the arguments of a request that has a key.
func curl(url string, k scenarios.Key) string {
	switch k.Kind {
	case scenarios.KeyHeader:
		return fmt.Sprintf("-H '%s: alice' '%s/'", k.Name, url)
	case scenarios.KeyQuery:
		return fmt.Sprintf("'%s/?%s=alice'", url, k.Name)
	case scenarios.KeyCookie:
		return fmt.Sprintf("--cookie '%s=alice' '%s/'", k.Name, url)
	default:
		return "'" + url + "/'"
	}
}
