package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/document"
)

// aiming are the flags that say what is fired at, and how.
type aiming struct {
	keysFile    string
	headers     []string
	method      string
	body        string
	timeout     time.Duration
	insecure    bool
	path        string
	allow       []string
	maxRequests int
}

func (a *aiming) addFlags(f *pflag.FlagSet) {
	f.StringVar(&a.keysFile, "keys", "", "file with the keys that the server knows, one a line; without it fresh ones are invented")
	f.StringArrayVar(&a.headers, "header", nil, "header of every request, 'NAME: VALUE'; may be repeated")
	f.StringVar(&a.method, "method", "", "method of every request (default GET)")
	f.StringVar(&a.body, "body", "", "body of every request")
	f.DurationVar(&a.timeout, "timeout", scenarios.DefaultTimeout, "after which a request is given up")
	f.BoolVar(&a.insecure, "insecure", false, "do not verify the server's certificate")
	a.addGuardFlags(f)
}

// addAgainFlags are for the commands that fire what a file or a folder says.
func (a *aiming) addAgainFlags(f *pflag.FlagSet) {
	f.StringVar(&a.keysFile, "keys", "", "file with the keys that the server knows, one a line; overrides those of the scenario")
	f.StringArrayVar(&a.headers, "header", nil, "further header of every request, 'NAME: VALUE', such as credentials that do not belong into a file")
	f.BoolVar(&a.insecure, "insecure", false, "do not verify the server's certificate")
	a.addGuardFlags(f)
	a.timeout = scenarios.DefaultTimeout
}

func (a *aiming) addGuardFlags(f *pflag.FlagSet) {
	f.StringVar(&a.path, "path", "best", "how requests travel: fast is HTTP/1.1 over plain TCP in an event loop, full is net/http, h2c is HTTP/2 over plain TCP, best the fast one where the URL is http://")
	f.StringArrayVar(&a.allow, "allow", nil, "public host that may be fired at, or @FILE with one a line; also HAMMER_ALLOW")
	f.IntVar(&a.maxRequests, "max-requests", 100_000, "a run that would send more does not start")
}

// request is the template of every request.
func (a *aiming) request() (r scenarios.Request, err error) {
	var errs []error
	for _, h := range a.headers {
		r.Headers = append(r.Headers, flagValue(&errs, "header", h, scenarios.ParseHeader))
	}
	r.Method, r.Body = strings.ToUpper(a.method), a.body
	if strings.ContainsFunc(a.method, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }) {
		errs = append(errs, fmt.Errorf("--method %q is no method: write one such as GET or POST", a.method))
	}
	if a.body != "" && a.method == "" {
		errs = append(errs, errors.New("--body needs a --method that carries one, such as --method POST"))
	}
	if a.timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout %v: give a time above zero", a.timeout))
	}
	if a.maxRequests < 1 {
		errs = append(errs, fmt.Errorf("--max-requests %d: give 1 or more", a.maxRequests))
	}
	return r, errors.Join(errs...)
}

// travels is which path requests take.
func (a *aiming) travels() (probes.Path, error) {
	p, err := probes.ParsePath(a.path)
	if err != nil {
		return p, fmt.Errorf("--path: %w", err)
	}
	return p, nil
}

// guard is which public hosts may be fired at.
func (a *aiming) guard() (g probes.Guard, err error) {
	g.Allowed = strings.FieldsFunc(os.Getenv("HAMMER_ALLOW"), func(r rune) bool { return r == ',' || r == ' ' })
	for _, host := range a.allow {
		name, isFile := strings.CutPrefix(host, "@")
		if !isFile {
			g.Allowed = append(g.Allowed, host)
			continue
		}
		hosts, err := readLines(name)
		if err != nil {
			return g, fmt.Errorf("--allow: %w", err)
		}
		g.Allowed = append(g.Allowed, hosts...)
	}
	return g, nil
}

// keys are the keys that the server knows, in the file's order.
func (a *aiming) keys() ([]string, error) {
	if a.keysFile == "" {
		return nil, nil
	}
	keys, err := readLines(a.keysFile)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("--keys: %s holds no key: write one a line", a.keysFile)
	}
	seen := map[string]int{}
	for i, k := range keys {
		if first, ok := seen[k]; ok {
			return nil, fmt.Errorf("--keys: %s holds the same key as entry %d and as entry %d: each is to be another client", a.keysFile, first, i+1)
		}
		seen[k] = i + 1
	}
	return keys, nil
}

// readLines are a file's lines without blank ones and comments.
func readLines(name string) (lines []string, err error) {
	src, err := document.ReadFile(name)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(src), "\uFEFF")) {
		n++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case len(line) > maxLine:
			return nil, fmt.Errorf("%s:%d: %d bytes in one line: write one entry a line, of at most %d", name, n, len(line), maxLine)
		case !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl):
			return nil, fmt.Errorf("%s:%d: the line holds bytes that are no text: is it the right file?", name, n)
		default:
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// maxLine is how long an entry may be, in bytes: servers cut headers off at not much more.
const maxLine = 4096

// supply is which keys a run has, as the plan and the gun know them. Real keys
// are credentials: the record calls them by number.
type supply struct {
	scenarios.Supply
	values map[string]string // by label
	fresh  bool              // invented, so that every bucket is full at first
	kind   string            // for people
}

// supplyOf is the supply for given keys, or what can be invented at a target.
func supplyOf(g *probes.Gun, key scenarios.Key, given []string) (supply, error) {
	switch {
	case len(given) > 0 && key.Kind == scenarios.KeyNone:
		return supply{}, errors.New("--keys and --key none exclude each other: with none there is one budget for everybody")
	case len(given) > 0:
		return named(given), nil
	case g.Invents():
		return supply{fresh: true, kind: "fresh keys"}, nil
	case key.Kind == scenarios.KeyNone:
		return supply{Supply: scenarios.Supply{Given: []string{"everybody"}}, kind: "one budget for everybody"}, nil
	}
	return supply{Supply: scenarios.Supply{Given: []string{"this machine"}}, kind: "this machine's address alone"}, nil
}

func named(given []string) supply {
	s := supply{values: map[string]string{}, kind: fmt.Sprintf("%d given keys", len(given))}
	for i, k := range given {
		label := givenLabel(i)
		s.Given = append(s.Given, label)
		s.values[label] = k
	}
	return s
}

// givenLabel is what the record calls the i-th of the given keys, from 0.
func givenLabel(i int) string { return fmt.Sprintf("key %d", i+1) }

// firstGiven is the first of them.
const firstGiven = "key 1"

// probe is the label of the key for the first requests.
func (s supply) probe() (label string, requests int) {
	if len(s.Given) > 0 {
		return s.Given[0], 1 // it costs a token that is needed
	}
	return "preflight", 3
}

// newNonce makes the fresh keys of one run differ from those of every other.
func newNonce() string {
	b := make([]byte, 4)
	rand.Read(b)
	return hex.EncodeToString(b)
}
