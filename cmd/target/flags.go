package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// tokenVariable is the environment variable that holds the admin token, where it
// is seen by fewer than on a command line.
const tokenVariable = "TARGET_ADMIN_TOKEN"

const (
	defaultListen = "127.0.0.1:8080"
	defaultKey    = "header:X-Api-Key"
)

// serveOptions are the flags of target serve, as they were written.
type serveOptions struct {
	file string
	all  bool
	addressFlags
	nodeFlags
	limitFlags
	answerFlags
	truthKeep, maxConns, maxWaiting int
}

// addressFlags say where to serve.
type addressFlags struct {
	listen, listenTLS []string
	http              string
	admin, adminToken string
}

// nodeFlags say how many servers there are, and how their clocks run.
type nodeFlags struct {
	nodes            int
	nodeStore, front string
	clock            []string
}

// limitFlags say what to keep to.
type limitFlags struct {
	limits, keys, defects []string
	costHeader, costBody  string
	store, fallback       string
	bestEffort            bool
}

// answerFlags say how requests are treated and answered.
type answerFlags struct {
	mode, retryAfter, head, options string
	status                          int
	fields, exempt, origins         []string
}

func (o *serveOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.file, "config", "", "YAML file that says everything, for many limits; instead of the other flags")
	f.BoolVar(&o.all, "all", false, "every algorithm on its own path, and every defect; instead of --limit and --defect")
	o.limitFlags.add(f)
	o.answerFlags.add(f)
	o.addressFlags.add(f)
	o.nodeFlags.add(f)
	f.IntVar(&o.truthKeep, "truth-keep", 256*1024, "decisions kept for the truth feed, about 200 bytes each")
	f.IntVar(&o.maxConns, "max-connections", 8192, "connections open at once")
	f.IntVar(&o.maxWaiting, "max-waiting", 10_000, "requests held back at once, by limits that delay")
}

func (o *limitFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.limits, "limit", []string{server.DefaultLimit}, "a limit; given several times all have to admit")
	f.StringArrayVar(&o.keys, "key", []string{defaultKey}, "what clients are told apart by, once for all limits or once for each")
	f.StringVar(&o.costHeader, "cost-header", "", "request header with the cost in tokens; without it a request costs 1")
	f.StringVar(&o.costBody, "cost-body", "", "how the cost is read from the body: array, an array of JSON costs as much as it has elements")
	f.StringVar(&o.store, "store", "memory", "where the states of keys are")
	f.StringVar(&o.fallback, "fallback", "", "the limit that is kept to in this process while a store with down=local is down (default the limit itself)")
	f.BoolVar(&o.bestEffort, "best-effort", false, "declare the limits as best effort: what is admitted beyond them breaks no promise")
	f.StringArrayVar(&o.defects, "defect", nil, "a defect of all limits; can be given several times")
}

func (o *answerFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.mode, "mode", "plain", "what is checked beside the limit")
	f.IntVar(&o.status, "status", 429, "status of a refusal, 400 to 599")
	f.StringVar(&o.retryAfter, "retry-after", "seconds", "form of Retry-After")
	f.StringSliceVar(&o.fields, "fields", nil, "sets of header fields that tell of the limit")
	f.StringArrayVar(&o.exempt, "exempt", nil, "path that GET and HEAD are not limited on, one with a slash at its end with all below it")
	f.StringVar(&o.head, "head", "limited", "what to do with HEAD: limited or free")
	f.StringVar(&o.options, "options", "", "what to do with OPTIONS: limited, free or preflight (default limited, with --origin preflight)")
	f.StringArrayVar(&o.origins, "origin", nil, "origin that may read answers from a page in a browser, or *")
}

func (o *nodeFlags) add(f *pflag.FlagSet) {
	f.IntVar(&o.nodes, "nodes", 1, "servers behind the same limits, each with a clock and an address of its own")
	f.StringVar(&o.nodeStore, "node-store", "shared", "what several nodes know of each other: shared, separate or lagging{lag=500ms}")
	f.StringVar(&o.front, "front", "", "what hands requests to the nodes, on an address of its own: round-robin, connection or sticky")
	f.StringArrayVar(&o.clock, "clock", nil, "what the clocks do by themselves, as in 'at 5s step -10s; node 2 at 8s slew 500ppm'")
}

// read puts what the flags say into a Config.
func (o *nodeFlags) read(cfg *server.Config) (err error) {
	cfg.Nodes = o.nodes
	if cfg.NodeStore, err = flagMode("node-store", o.nodeStore); err != nil {
		return err
	}
	if o.front != "" {
		if cfg.Front, err = flagMode("front", o.front); err != nil {
			return err
		}
	}
	for _, text := range o.clock {
		events, err := clock.ParseScript(text)
		if err != nil {
			return fmt.Errorf("--%w", err)
		}
		cfg.Clock = append(cfg.Clock, events...)
	}
	return nil
}

func (o *addressFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.listen, "listen", []string{defaultListen}, "address to serve on, HOST:PORT or unix:PATH; port 0 takes a free one")
	f.StringArrayVar(&o.listenTLS, "listen-tls", nil, "address to serve on with a certificate made at the start")
	f.StringVar(&o.http, "http", "both", "version of HTTP: both, http1 or http2")
	f.StringVar(&o.admin, "admin", "127.0.0.1:0", "address of the admin side, which moves the clock and shows raw keys")
	f.StringVar(&o.adminToken, "admin-token", "", "what the admin side asks for; also from "+tokenVariable)
}

// visitGiven calls do with the name of each flag that was given.
func visitGiven(c *cobra.Command, do func(name string)) {
	c.Flags().Visit(func(f *pflag.Flag) { do(f.Name) })
}

// fromFlags makes a server with one route.
func (o *serveOptions) fromFlags() (server.Config, error) {
	limits, err := o.readLimits()
	if err != nil {
		return server.Config{}, err
	}
	r, err := o.route()
	if err != nil {
		return server.Config{}, err
	}
	for _, l := range limits {
		r.Limits = append(r.Limits, l.Name)
	}
	cfg, err := o.frame()
	cfg.Limits, cfg.Routes = limits, []server.Route{r}
	return cfg, err
}

// checkCounts finds numbers that are none of something.
func (o *serveOptions) checkCounts() error {
	var errs []error
	for _, f := range []struct {
		flag  string
		given int
	}{{"nodes", o.nodes}, {"truth-keep", o.truthKeep}, {"max-connections", o.maxConns}, {"max-waiting", o.maxWaiting}} {
		if f.given < 1 {
			errs = append(errs, fmt.Errorf("--%s %d: give at least 1", f.flag, f.given))
		}
	}
	return errors.Join(errs...)
}

// frame is what does not depend on limits and routes.
func (o *serveOptions) frame() (server.Config, error) {
	if err := o.checkCounts(); err != nil {
		return server.Config{}, err
	}
	cfg := server.Config{Admin: o.admin, TruthKeep: o.truthKeep, MaxConns: o.maxConns, MaxWaiting: o.maxWaiting}
	plain := o.listen
	if len(o.listenTLS) > 0 && len(plain) == 1 && plain[0] == defaultListen {
		plain = nil // only TLS was asked for
	}
	for _, a := range plain {
		cfg.Listeners = append(cfg.Listeners, server.Listener{Address: a, HTTP: o.http})
	}
	for _, a := range o.listenTLS {
		cfg.Listeners = append(cfg.Listeners, server.Listener{Address: a, HTTP: o.http, TLS: true})
	}
	if len(cfg.Listeners) > 1 { // several may ask for any free port
		for i := range cfg.Listeners {
			cfg.Listeners[i].Name = fmt.Sprintf("%s (%d)", cfg.Listeners[i].Address, i+1)
		}
	}
	err := o.nodeFlags.read(&cfg)
	return cfg, err
}

func (o *answerFlags) route() (server.Route, error) {
	m, err := flagMode("mode", o.mode)
	return server.Route{
		Mode:    m,
		Answers: dialect.Settings{Status: o.status, RetryAfter: o.retryAfter, Fields: o.fields},
		Exempt:  o.exempt, Head: o.head, Options: o.options, Origins: o.origins,
	}, err
}

// readLimits reads the limits, each with its key.
func (o *limitFlags) readLimits() ([]server.Limit, error) {
	if len(o.keys) != 1 && len(o.keys) != len(o.limits) {
		return nil, fmt.Errorf("%d limits and %d keys: give --key once for all limits, or once for each", len(o.limits), len(o.keys))
	}
	var limits []server.Limit
	var errs []error
	named := map[string]int{}
	for i, text := range o.limits {
		l, err := o.readLimit(text, o.keys[min(i, len(o.keys)-1)])
		errs = append(errs, err)
		named[l.Algorithm.Name]++
		switch n := named[l.Algorithm.Name]; {
		case len(o.limits) == 1:
			l.Name = server.DefaultName
		case n == 1:
			l.Name = l.Algorithm.Name
		default:
			l.Name = fmt.Sprintf("%s-%d", l.Algorithm.Name, n)
		}
		limits = append(limits, l)
	}
	return limits, errors.Join(errs...)
}

func (o *limitFlags) readLimit(algorithm, keyText string) (l server.Limit, err error) {
	var errs [3]error
	l.BestEffort = o.bestEffort
	l.CostHeader, l.CostBody = o.costHeader, o.costBody
	l.Algorithm, errs[0] = flagMode("limit", algorithm)
	l.Store, errs[1] = flagMode("store", o.store)
	if l.Key, errs[2] = key.Parse(keyText); errs[2] != nil {
		errs[2] = fmt.Errorf("--key: %w", errs[2])
	}
	if o.fallback != "" {
		if l.Fallback, err = flagMode("fallback", o.fallback); err != nil {
			return l, err
		}
	}
	for _, text := range o.defects {
		d, err := flagMode("defect", text)
		if err != nil {
			return l, err
		}
		l.Defects = append(l.Defects, d)
	}
	return l, errors.Join(errs[:]...)
}

// flagMode reads the mode that a flag gives.
func flagMode(flag, text string) (mode.Mode, error) {
	m, err := mode.Parse(text)
	if err != nil {
		return m, fmt.Errorf("--%s: %w", flag, err)
	}
	return m, nil
}
