package scenarios

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios/document"
)

// Parse reads a scenario file. name is what errors call the file, and checks
// are the ids of the assertions that there are. The error holds every mistake
// with its line and column.
func Parse(name string, src []byte, checks []string) (*Scenario, error) {
	doc, err := document.Parse(name, src)
	if err != nil {
		return nil, err
	}
	s := &Scenario{Seed: 1}
	root := doc.Root()
	root.Fields(map[string]func(document.Value){
		"name":        func(v document.Value) { s.Name = v.Text() },
		"target":      func(v document.Value) { s.Target = v.Text() },
		"request":     func(v document.Value) { s.Request = readRequest(v) },
		"limit":       func(v document.Value) { s.Limits = append(s.Limits, readLimit(v)) },
		"limits":      func(v document.Value) { s.Limits = append(s.Limits, readLimits(v)...) },
		"keys":        func(v document.Value) { s.Keys = readTexts(v) },
		"phases":      func(v document.Value) { s.Phases = readPhases(v) },
		"actions":     func(v document.Value) { s.Actions = readActions(v) },
		"checks":      func(v document.Value) { s.Checks = readChecks(v, checks) },
		"seed":        func(v document.Value) { s.Seed = uint64(v.Int(0, math.MaxInt64)) },
		"resolution":  func(v document.Value) { s.Wanted = readPercent(v) },
		"timeout":     func(v document.Value) { s.Timeout = v.Duration() },
		"retry-after": func(v document.Value) { s.LateBy = readLateBy(v) },
		"headers":     func(v document.Value) { s.Draft = readDraft(v) },
	})
	if doc.Problems() == 0 && len(s.Limits) == 0 {
		root.Fail("add limit: {burst: 10, rate: 5/s, key: header:X-Api-Key}", "no limit is given: a scenario needs a promise")
	}
	if doc.Problems() == 0 && len(s.Phases) == 0 {
		root.Fail("add phases: [{name: volley, volley: 30}]", "no phase is given: nothing would be fired")
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		root.Fail("", "%v", err)
		return nil, doc.Err()
	}
	return s, nil
}

// read hands a value's text to a parser and puts its error at the value.
func read[T any](v document.Value, parse func(string) (T, error)) T {
	x, err := parse(v.Text())
	if err != nil {
		v.Fail("", "%v", err)
	}
	return x
}

func readTexts(v document.Value) (texts []string) {
	for _, item := range v.List() {
		texts = append(texts, item.Text())
	}
	return texts
}

func readRequest(v document.Value) (r Request) {
	v.Fields(map[string]func(document.Value){
		"method": func(v document.Value) {
			if r.Method = v.Text(); !isToken(r.Method) {
				v.Fail("write GET, POST or another method", "%q cannot be a method", r.Method)
			}
		},
		"headers": func(v document.Value) {
			for _, item := range v.List() {
				r.Headers = append(r.Headers, read(item, ParseHeader))
			}
		},
		"body": func(v document.Value) { r.Body = v.Text() },
	})
	return r
}

// ParseHeader reads a header line such as "Authorization: Bearer x".
func ParseHeader(s string) (Header, error) {
	name, value, ok := strings.Cut(s, ":")
	if !ok || !isToken(name) {
		return Header{}, fmt.Errorf("%q is not a header: write NAME: VALUE", s)
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return Header{}, fmt.Errorf("header %s: a value cannot hold a line break", name)
	}
	return Header{name, strings.TrimSpace(value)}, nil
}

func readLimits(v document.Value) (limits []Limit) {
	for _, item := range v.List() {
		limits = append(limits, readLimit(item))
	}
	return limits
}

func readLimit(v document.Value) Limit {
	l := Limit{Answers: DefaultAnswers(), Slack: DefaultSlack(), Key: Key{Kind: KeyHeader, Name: "X-Api-Key"}}
	burst, rate, before := false, false, v.Problems()
	v.Fields(map[string]func(document.Value){
		"name":        func(v document.Value) { l.Name = v.Text() },
		"contract":    func(v document.Value) { l.Contract = read(v, ParseContract) },
		"align":       func(v document.Value) { l.Align = read(v, ParseAlign) },
		"burst":       func(v document.Value) { l.Burst, burst = v.Int(1, 1e9), true },
		"rate":        func(v document.Value) { l.Rate, rate = read(v, ParseRate), true },
		"key":         func(v document.Value) { l.Key = read(v, ParseKey) },
		"admitted":    func(v document.Value) { l.Answers.Admitted = read(v, ParseRule) },
		"limited":     func(v document.Value) { l.Answers.Limited = read(v, ParseRule) },
		"cost-header": func(v document.Value) { l.CostHeader = v.Text() },
		"cost-body":   func(v document.Value) { l.CostBody = v.Text() },
		"slack":       func(v document.Value) { l.Slack = readSlack(v) },
	})
	if v.Problems() > before {
		return l // what is missing may only be misspelt
	}
	has, _ := l.Contract.Numbers()
	if !burst && has.Burst {
		v.Fail("add burst: 10, the number of requests admitted at once", "the limit has no burst")
	}
	if !rate && has.Rate {
		v.Fail("add rate: 5/s, the requests admitted in the long run", "the limit has no rate")
	}
	if err := l.Check(); err != nil && v.Problems() == before {
		v.Fail("", "%v", err)
	}
	return l
}

func readSlack(v document.Value) Slack {
	s := DefaultSlack()
	v.Fields(map[string]func(document.Value){
		"quantum": func(v document.Value) { s.Quantum = v.Duration() },
		"over":    func(v document.Value) { s.Over = readPercent(v) },
		"under":   func(v document.Value) { s.Under = readPercent(v) },
	})
	return s
}

func readPercent(v document.Value) int64 { return read(v, ParsePercent) }

// ParsePercent reads a share such as 1% or 0.05% as parts per million.
func ParsePercent(s string) (int64, error) {
	text, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if !ok || err != nil || !(f >= 0 && f <= 50) {
		return 0, fmt.Errorf("%q is not a share: write one such as 1%% or 0.05%%, up to 50%%", s)
	}
	return int64(math.Round(f * 10_000)), nil
}

func readLateBy(v document.Value) (late time.Duration) {
	v.Fields(map[string]func(document.Value){
		"late-by": func(v document.Value) { late = v.Duration() },
	})
	return late
}

func readDraft(v document.Value) (draft int) {
	v.Fields(map[string]func(document.Value){
		"draft": func(v document.Value) { draft = int(v.Int(3, 99)) },
	})
	return draft
}

func readChecks(v document.Value, known []string) (checks []string) {
	for _, item := range v.List() {
		c := item.Text()
		covers := func(id string) bool { return Covers([]string{c}, id) }
		if !slices.ContainsFunc(known, covers) {
			item.Fail(document.Nearest(c, known), "unknown check %q", c)
		}
		checks = append(checks, c)
	}
	return checks
}

// Covers reports whether an assertion is among checks: by its id or by the
// first part of it. No checks at all cover every assertion.
func Covers(checks []string, id string) bool {
	for _, c := range checks {
		if c == id || strings.HasPrefix(id, c+".") {
			return true
		}
	}
	return len(checks) == 0
}

func readPhases(v document.Value) (phases []Phase) {
	seen, named := map[string]bool{}, map[string][]string{}
	for _, item := range v.List() {
		before := v.Problems()
		p := readPhase(item)
		if err := p.check(seen); err != nil && v.Problems() == before {
			item.Fail("", "phase %q: %v", p.Name, err)
		}
		if err := p.strangers(named); err != nil && v.Problems() == before {
			item.Fail("", "phase %q: %v", p.Name, err)
		}
		phases = append(phases, p)
	}
	return phases
}

func readPhase(v document.Value) Phase {
	p := Phase{Keys: Keys{Fresh: 1}}
	var length time.Duration
	keyed, before := false, v.Problems()
	v.Fields(map[string]func(document.Value){
		"name":        func(v document.Value) { p.Name = v.Text() },
		"at":          func(v document.Value) { at := v.Duration(); p.At = &at },
		"rest":        func(v document.Value) { p.Rest = v.Duration() },
		"volley":      func(v document.Value) { p.Volley = int(v.Int(1, 1e6)) },
		"every":       func(v document.Value) { p.Every = v.Duration() },
		"pace":        func(v document.Value) { p.Pace = read(v, ParseRate) },
		"count":       func(v document.Value) { p.Count = int(v.Int(1, 1e9)) },
		"for":         func(v document.Value) { length = v.Duration() },
		"keys":        func(v document.Value) { p.Keys, keyed = readKeys(v), true },
		"arrivals":    func(v document.Value) { p.Arrivals = readArrivals(v) },
		"cost":        func(v document.Value) { p.Cost = v.Int(1, 1e9) },
		"retry":       func(v document.Value) { p.Retry = read(v, parseRetry) },
		"tries":       func(v document.Value) { p.Tries = int(v.Int(1, mostTries)) },
		"vary":        func(v document.Value) { p.Vary = readVary(v) },
		"connections": func(v document.Value) { p.Apart = read(v, parseApart) },
		"release":     func(v document.Value) { p.Held = read(v, parseHeld) },
		"attack":      func(v document.Value) { p.Attack = read(v, parseTactic) },
		"against":     func(v document.Value) { p.Against = v.Text() },
		"saturate":    func(v document.Value) { p.Saturate = int(v.Int(1, mostSaturating)) },
		"rounds":      func(v document.Value) { p.Rounds = int(v.Int(1, mostRounds)) },
	})
	if v.Problems() > before {
		return p
	}
	if len(p.Arrivals) > 0 && !keyed {
		p.Keys.Fresh = len(Named(p.Arrivals))
	}
	if p.Saturate > 0 { // its count is the most that it may come to
		p.For, length = length, 0
	}
	if length > 0 && p.Count > 0 {
		v.Fail("remove one of the two", "phase %q: for and count both say how long it lasts", p.Name)
	}
	if length > 0 && p.Pace.Count > 0 {
		p.Count = int(min(p.Pace.Tokens(length)+1, 1e9))
	}
	if length > 0 && p.Pace.Count == 0 && p.Attack != TacticNone {
		v.Fail("give rounds instead of for", "phase %q: an attack ends by itself", p.Name)
	} else if length > 0 && p.Pace.Count == 0 {
		v.Fail("add pace: 20/s or saturate: 8, or write rest instead of for", "phase %q: for is the length of a pace, and there is none", p.Name)
	}
	return p
}

// readVary reads what is varied.
func readVary(v document.Value) (vary Vary) {
	parts := 0
	part := func(p Part) { vary.Part, parts = p, parts+1 }
	named := func(p Part) func(document.Value) {
		return func(v document.Value) { part(p); vary.Name = v.Text() }
	}
	values := func(v document.Value) {
		if v.IsList() {
			vary.Values = readTexts(v)
			return
		}
		vary.Values = []string{v.Text()}
	}
	valued := func(p Part) func(document.Value) {
		return func(v document.Value) { part(p); values(v) }
	}
	before := v.Problems()
	v.Fields(map[string]func(document.Value){
		"header": named(PartHeader), "query": named(PartQuery), "cookie": named(PartCookie),
		"path": valued(PartPath), "method": valued(PartMethod), "body": valued(PartBody),
		"connections": func(v document.Value) { part(PartConnection); vary.Connections = int(v.Int(1, 1000)) },
		"address": func(v document.Value) {
			if part(PartAddress); v.Text() != "within" {
				v.Fail("write address: within", "%q is no way to vary an address", v.Text())
			}
		},
		"value": values,
		"other": func(v document.Value) { vary.Other = v.Text() },
	})
	if parts != 1 && v.Problems() == before {
		v.Fail("write for example vary: {header: X-Forwarded-For, value: '{ip}'}", "%d things are varied: one is, or nobody knows which of them it was", parts)
	}
	return vary
}

// mostRounds keeps what an attack may cost within what can be counted.
const mostRounds = 1000

// readKeys reads a number of fresh keys, or the name of a phase.
func readKeys(v document.Value) Keys {
	text := v.Text()
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > 1e6 {
			v.Fail("give 1 or more", "%d keys", n)
		}
		return Keys{Fresh: n}
	}
	return Keys{Of: text}
}

func parseHeld(s string) (held bool, err error) {
	switch s {
	case "whole":
		return false, nil
	case "last-byte":
		return true, nil
	}
	return false, errors.New(strconv.Quote(s) + " is no way to release a volley: write whole, or last-byte to send all but the requests' ends beforehand")
}

func parseApart(s string) (apart bool, err error) {
	switch s {
	case "shared":
		return false, nil
	case "each":
		return true, nil
	}
	return false, errors.New(strconv.Quote(s) + " is no way to connect: write shared, or each for a connection of its own for each request")
}
