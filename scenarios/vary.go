package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Part is a part of a request that a client can choose.
type Part string

// The parts. The empty one is none.
const (
	PartHeader     Part = "header"
	PartQuery      Part = "query"
	PartCookie     Part = "cookie"
	PartPath       Part = "path"
	PartMethod     Part = "method"
	PartBody       Part = "body"
	PartConnection Part = "connections" // which connection it goes over
	PartAddress    Part = "address"     // the client's own, within the prefix by which the key knows it
)

// Vary is the one thing that is another in each request of a phase, while the
// client stays the same: if a limiter tells clients apart by it, the client has
// fresh budgets, or spends those of another. The zero Vary varies nothing.
type Vary struct {
	Part Part
	Name string // of the header, parameter or cookie
	// Values are taken in turn. In them {n} is the number of the request on its
	// key, from 1, {ip} an address of nobody that differs with it, {key} what the
	// key reads on the wire and {other} the same of a key of the phase Other. None:
	// {n}.
	Values []string
	// Connections are how many connections a key's requests take in turn.
	Connections int
	Other       string // name of an earlier phase; empty: there is no {other}
}

// named reports whether a part has a name.
func (p Part) named() bool { return p == PartHeader || p == PartQuery || p == PartCookie }

// None reports whether nothing is varied.
func (v Vary) None() bool { return v.Part == "" }

// Text is the value for a key's n-th request, from 1, but for what stands for keys.
func (v Vary) Text(n int) string {
	text := "{n}"
	if len(v.Values) > 0 {
		text = v.Values[(n-1)%len(v.Values)]
	}
	return strings.NewReplacer("{n}", strconv.Itoa(n), "{ip}", nobody(n)).Replace(text)
}

// nobody is an address out of those that are set apart for documentation
// (RFC 5737), another for each of 508 numbers in a row.
func nobody(n int) string {
	const each = 254
	n = (n - 1) % (2 * each)
	net := [...]string{"203.0.113.", "198.51.100."}[n/each]
	return net + strconv.Itoa(1+n%each)
}

// String says in words what is varied.
func (v Vary) String() string {
	switch v.Part {
	case PartHeader:
		return v.Name
	case PartQuery:
		return "the query parameter " + v.Name
	case PartCookie:
		return "the cookie " + v.Name
	case PartAddress:
		return "the address within its prefix"
	case PartConnection:
		return "the connection"
	}
	return "the " + string(v.Part)
}

// Equal reports whether two vary the same in the same way.
func (v Vary) Equal(w Vary) bool {
	return v.Part == w.Part && v.Name == w.Name && v.Connections == w.Connections && v.Other == w.Other && slices.Equal(v.Values, w.Values)
}

// check says what is wrong with it, or nil.
func (v Vary) check(seen map[string]bool) error {
	switch {
	case v.None():
		return nil
	case v.Part.named() && !isToken(v.Name):
		return fmt.Errorf("vary: %q cannot be the name of a %s", v.Name, v.Part)
	case v.Part == PartConnection && v.Connections < 1:
		return errors.New("vary: connections: give 1 or more")
	case v.Part == PartPath && slices.ContainsFunc(v.Values, func(s string) bool { return !strings.HasPrefix(s, "/") }):
		return errors.New("vary: path: each begins with a /")
	case v.Part == PartMethod && slices.ContainsFunc(v.Values, func(s string) bool { return !isToken(s) }):
		return errors.New("vary: method: write GET, POST or another method")
	case (v.Part == PartPath || v.Part == PartMethod || v.Part == PartBody) && len(v.Values) == 0:
		return fmt.Errorf("vary: %s: no value is given", v.Part)
	case slices.ContainsFunc(v.Values, func(s string) bool { return strings.ContainsAny(s, "\r\n\x00") && v.Part != PartBody }):
		return errors.New("vary: a value cannot hold a line break")
	case v.Other != "" && !seen[v.Other]:
		return fmt.Errorf("vary: other: no earlier phase is named %q", v.Other)
	case v.Other == "" && slices.ContainsFunc(v.Values, func(s string) bool { return strings.Contains(s, "{other}") }):
		return errors.New("vary: {other} stands for a key of another phase: name it with other")
	}
	return nil
}

// fits says why what is varied is not the same client's choice, or nil.
func (v Vary) fits(k Key) error {
	switch {
	case v.Part == PartHeader && k.Kind == KeyHeader && strings.EqualFold(v.Name, k.Name) && k.Trusted == 0,
		v.Part == PartQuery && k.Kind == KeyQuery && v.Name == k.Name,
		v.Part == PartCookie && k.Kind == KeyCookie && v.Name == k.Name:
		return fmt.Errorf("vary: clients are told apart by %v, so that each value is another client", k)
	case v.Part == PartAddress && (k.IPv6 == 0 || k.IPv6 == 128 || k.Kind != KeyHeader):
		return fmt.Errorf("vary: address: the key %v has no prefix; write for example xff{ipv6=64}", k)
	}
	return nil
}

// ParseSame reads a part of a request that makes no difference to a limit:
// header:NAME, query:NAME, cookie:NAME, path:/A,/B, method:A,B, body:TEXT or
// connections; a path may hold {n}.
func ParseSame(s string) (Vary, error) {
	part, rest, _ := strings.Cut(s, ":")
	v := Vary{Part: Part(part)}
	switch {
	case s == string(PartConnection):
		return v, nil
	case v.Part.named():
		v.Name = rest
	case v.Part == PartBody && rest != "":
		v.Values = []string{rest}
	case v.Part == PartPath, v.Part == PartMethod:
		v.Values = strings.Split(rest, ",")
		if len(v.Values) == 1 && !strings.Contains(rest, "{n}") {
			return v, fmt.Errorf("%q is one %s: give several, by comma, or one with {n} in it", s, part)
		}
	default:
		return v, fmt.Errorf("%q is no part of a request: write header:NAME, query:NAME, cookie:NAME, path:/A,/B, method:A,B, body:TEXT or connections", s)
	}
	if err := v.check(nil); err != nil {
		return v, fmt.Errorf("%q: %w", s, err)
	}
	return v, nil
}

// Ask is what one request is made of, beside the template that all share.
type Ask struct {
	Key   string // label of its client
	Cost  int64  // tokens asked for
	Vary  Vary
	Turn  int    // of the request among those of its phase and key, from 1
	Other string // label of the client that {other} stands for; empty: nobody
}

// Line is which of a key's own connections it goes over, from 1; 0: any.
func (a Ask) Line() int {
	if a.Vary.Part != PartConnection {
		return 0
	}
	return 1 + (a.Turn-1)%a.Vary.Connections
}

// Ask is what a shot of the plan asks for.
func (p *Plan) Ask(s Shot) Ask {
	a := Ask{Key: p.Keys[s.Key], Cost: s.Cost, Turn: int(s.Turn)}
	if s.Turn > 0 {
		a.Vary = p.Varied[s.Phase]
	}
	if a.Vary.Other != "" {
		a.Other = p.Keys[s.Other]
	}
	return a
}
