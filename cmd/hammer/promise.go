package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// promise are the flags that say what the limiter promises.
type promise struct {
	contract, rate, key string
	align               string
	burst               int64
	admitted, limited   string
	quantum             time.Duration
	over, under, wanted string
	lateBy              time.Duration
	costHeader          string
	costBody            string
	same                []string
	also                []string
	identity            bool
}

func (p *promise) addFlags(f *pflag.FlagSet) {
	slack := scenarios.DefaultSlack()
	f.StringVar(&p.contract, "contract", "", "kind of promise (default token-bucket): "+contractNames())
	f.StringVar(&p.align, "align", "", "where fixed windows or lumps begin: epoch, start or first-hit (default any)")
	f.Int64Var(&p.burst, "burst", 0, "requests admitted at once, b")
	f.StringVar(&p.rate, "rate", "", "requests admitted in the long run, r: 5/s, 100/m, 1/10s; of windows, how many in how long")
	f.StringArrayVar(&p.also, "also", nil, "further limit that holds on the same keys, as 'fixed-window{rate=100/m}' or 'token-bucket{burst=20,rate=100/m,name=minute}', in the words of the flags above; may be repeated")
	f.StringVar(&p.key, "key", "header:X-Api-Key", "what clients are told apart by: header:NAME, ip, xff{trusted=1,ipv6=64}, forwarded, query:NAME, cookie:NAME or none")
	f.StringVar(&p.admitted, "admitted", "200-399", "answers that admit: statuses, ranges, header:NAME=VALUE; alternatives by comma, both by +")
	f.StringVar(&p.limited, "limited", "429", "answers that refuse, in the same form; asked before --admitted")
	f.StringVar(&p.costHeader, "cost-header", "", "request header that says how many tokens a request asks for; without it each asks for one")
	f.StringVar(&p.costBody, "cost-body", "", "how the body says it instead: array, an array of JSON asks for as many tokens as it has elements, each of them --body")
	f.StringArrayVar(&p.same, "same", nil, "part of a request that makes no difference to the limit, and is varied to see that: header:NAME, query:NAME, cookie:NAME, path:/A,/B, method:A,B, body:TEXT or connections; may be repeated")
	f.BoolVar(&p.identity, "identity", false, "nothing but the key tells clients apart: vary all whose names can be guessed")
	f.DurationVar(&p.quantum, "quantum", slack.Quantum, "step of the limiter's clock that is granted")
	f.StringVar(&p.over, "over", "0.05%", "how much faster than the rate its clock may run")
	f.StringVar(&p.under, "under", "0.2%", "how much slower its clock and rounding may be")
	f.StringVar(&p.wanted, "resolution", "1%", "error in the rate that must be seen for a 'kept'")
	f.DurationVar(&p.lateBy, "late-by", 0, "how much later than the truth Retry-After may be on purpose, as with jitter, beyond its rounding")
}

// template is the limit without burst and rate, and the resolution.
func (p *promise) template() (l scenarios.Limit, wanted int64, err error) {
	var errs []error
	if p.contract != "" {
		l.Contract = flagValue(&errs, "contract", p.contract, scenarios.ParseContract)
	}
	if p.align != "" {
		l.Align = flagValue(&errs, "align", p.align, scenarios.ParseAlign)
	}
	l.Key = flagValue(&errs, "key", p.key, scenarios.ParseKey)
	l.Answers.Admitted = flagValue(&errs, "admitted", p.admitted, scenarios.ParseRule)
	l.Answers.Limited = flagValue(&errs, "limited", p.limited, scenarios.ParseRule)
	l.Slack.Quantum = p.quantum
	l.Slack.Over = flagValue(&errs, "over", p.over, scenarios.ParsePercent)
	l.Slack.Under = flagValue(&errs, "under", p.under, scenarios.ParsePercent)
	wanted = flagValue(&errs, "resolution", p.wanted, scenarios.ParsePercent)
	if len(errs) == 0 && l.Answers.Admitted.String() == l.Answers.Limited.String() {
		errs = append(errs, fmt.Errorf("--admitted and --limited are both %s: every answer would be a refusal", p.limited))
	}
	if p.burst < 0 || p.burst > 1e9 {
		errs = append(errs, fmt.Errorf("--burst %d: give 1 or more", p.burst))
	}
	if p.lateBy < 0 {
		errs = append(errs, fmt.Errorf("--late-by %v is negative", p.lateBy))
	}
	l.Burst, l.CostHeader, l.CostBody = p.burst, p.costHeader, p.costBody
	if p.rate != "" {
		l.Rate = flagValue(&errs, "rate", p.rate, scenarios.ParseRate)
	}
	return l, wanted, errors.Join(errs...)
}

// makesNoDifference is what is declared to make no difference to a limit.
func (p *promise) makesNoDifference(k scenarios.Key) (all []scenarios.Vary, err error) {
	var errs []error
	for _, text := range p.same {
		all = append(all, flagValue(&errs, "same", text, scenarios.ParseSame))
	}
	if p.identity {
		all = append(all, library.Identity(k)...)
	}
	if len(all) > 0 && k.Kind == scenarios.KeyNone {
		errs = append(errs, errors.New("--same and --key none exclude each other: with none there are no clients to tell apart"))
	}
	return all, errors.Join(errs...)
}

// flagValue parses a flag's text and names the flag in the error.
func flagValue[T any](errs *[]error, name, text string, parse func(string) (T, error)) T {
	v, err := parse(text)
	if err != nil {
		*errs = append(*errs, fmt.Errorf("--%s: %w", name, err))
	}
	return v
}

// complete is the promise to judge: the flags', or, where they make none, what
// the server announces. The note says where it is from.
func complete(l scenarios.Limit, header http.Header) (limit scenarios.Limit, note string, err error) {
	has, _ := l.Contract.Numbers()
	burst, rate := l.Burst > 0 || !has.Burst, l.Rate.Count > 0 || !has.Rate
	switch {
	case burst && rate:
		return l, "", l.Check()
	case burst && has.Burst:
		return l, "", missing("--rate", "--burst says how much at once; add what the limiter admits in the long run, such as --rate 5/s")
	case rate && has.Rate:
		return l, "", missing("--burst", "--rate says how much in the long run; add what the limiter admits at once, such as --burst 10")
	case l.Contract != "" && l.Contract != scenarios.TokenBucket && l.Contract != scenarios.GCRA:
		return l, "", missing(needs(has), fmt.Sprintf("a %s promises a number: add it", l.Contract))
	}
	announced, why := probes.Announced(header)
	if len(announced) == 0 {
		hint := "say what the limiter promises, such as --burst 10 --rate 5/s; the server announces nothing in RateLimit-Policy"
		if why != "" {
			hint = "say what the limiter promises, such as --burst 10 --rate 5/s; what the server announces is of no use: " + why
		}
		return l, "", missing("--burst and --rate", hint)
	}
	var said []string
	for _, a := range announced {
		said = append(said, strings.TrimPrefix(fmt.Sprintf("%s: %v", a.Name, a.Rate), ": "))
	}
	if len(announced) > 1 {
		return l, "", &probes.Hinted{
			Err:  fmt.Errorf("the server announces %d policies (%s), and not whom each of them counts together", len(announced), strings.Join(said, "; ")),
			Hint: "say what one of them promises with --burst and --rate, and with --also what the others do that count the same clients; or write all of them into a scenario and run that (docs/scenario.md)",
		}
	}
	l.Name, l.Burst, l.Rate = announced[0].Name, announced[0].Burst, announced[0].Rate
	if l.Contract == "" { // a policy names no algorithm
		l.Contract, l.Burst = scenarios.Quota, 0
	}
	return l, "the promise is the one that the server announces in RateLimit-Policy (" + said[0] + ")", nil
}

// needs are the flags of a contract's numbers.
func needs(n scenarios.Numbers) string {
	switch {
	case n.Burst && n.Rate:
		return "--burst and --rate"
	case n.Burst:
		return "--burst"
	}
	return "--rate"
}

func contractNames() string {
	var names []string
	for _, c := range scenarios.Contracts {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

func missing(what, hint string) error {
	return &probes.Hinted{Err: fmt.Errorf("no promise to check: %s missing", what), Hint: hint}
}
