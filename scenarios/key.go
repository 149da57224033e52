package scenarios

import (
	"fmt"
	"strconv"
	"strings"
)

// KeyKind is what a limiter tells its clients apart by.
type KeyKind uint8

// The kinds of key. The zero value is no key at all.
const (
	KeyNone   KeyKind = iota // one budget for everybody
	KeyIP                    // the peer's address
	KeyHeader                // the value of a request header
	KeyQuery                 // the value of a query parameter
	KeyCookie                // the value of a cookie
)

var keyNames = map[string]KeyKind{"none": KeyNone, "ip": KeyIP, "header": KeyHeader, "query": KeyQuery, "cookie": KeyCookie}

// Key is one way to tell clients apart, such as header:X-Api-Key. The zero Key
// is one budget for everybody.
type Key struct {
	Kind KeyKind
	Name string // of the header, parameter or cookie; empty for none and ip
	// Trusted is how many proxies write into the header, each behind what was there:
	// the client is the address that the first of them wrote, and what is in front of
	// that anybody may have written. 0: it is the header's value as it is.
	Trusted int
	// IPv6 is how many bits of an IPv6 address tell clients apart; 0: that is not said.
	IPv6 int
}

// ParseKey reads ip, xff or forwarded, with or without settings in braces, none,
// header:NAME, query:NAME or cookie:NAME.
func ParseKey(s string) (Key, error) {
	if word, _, _ := strings.Cut(s, "{"); addressed[word] != "" || word == "ip" && word != s {
		return parseAddressed(s)
	}
	kind, name, named := strings.Cut(s, ":")
	k, ok := keyNames[kind]
	if !ok {
		return Key{}, fmt.Errorf("key %q is of no known kind: write header:NAME, ip, xff, forwarded, query:NAME, cookie:NAME or none", s)
	}
	if k < KeyHeader && named {
		return Key{}, fmt.Errorf("key %q: %s takes no name", s, kind)
	}
	if k >= KeyHeader && name == "" {
		return Key{}, fmt.Errorf("key %q lacks a name: write %s:NAME", s, kind)
	}
	if k >= KeyHeader && !isToken(name) {
		return Key{}, fmt.Errorf("key %q: %q cannot be the name of a %s", s, name, kind)
	}
	return Key{Kind: k, Name: name}, nil
}

// addressed are the headers in which proxies write whom they speak for, by the
// words that stand for them in a key.
var addressed = map[string]string{"xff": "X-Forwarded-For", "forwarded": "Forwarded"}

// parseAddressed reads a key that is an address, such as xff{trusted=1,ipv6=64}.
func parseAddressed(s string) (Key, error) {
	word, rest, braces := strings.Cut(s, "{")
	k := Key{Kind: KeyIP}
	if name := addressed[word]; name != "" {
		k = Key{Kind: KeyHeader, Name: name, Trusted: 1}
	}
	if !braces {
		return k, nil
	}
	rest, closed := strings.CutSuffix(rest, "}")
	if !closed {
		return Key{}, fmt.Errorf("key %q: its brace is not closed", s)
	}
	for _, setting := range strings.Split(rest, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(setting), "=")
		n, err := strconv.Atoi(text)
		switch {
		case name == "trusted" && k.Kind == KeyHeader && err == nil && n >= 1 && n <= 32:
			k.Trusted = n
		case name == "trusted" && k.Kind == KeyHeader:
			return Key{}, fmt.Errorf("key %q: trusted is how many proxies write into the header: give 1 to 32", s)
		case name == "ipv6" && err == nil && n >= leastPrefix && n <= 128:
			k.IPv6 = n
		case name == "ipv6":
			return Key{}, fmt.Errorf("key %q: ipv6 is how many bits of an address tell clients apart: give %d to 128", s, leastPrefix)
		case word == "ip":
			return Key{}, fmt.Errorf("key %q: write ip{ipv6=64}", s)
		default:
			return Key{}, fmt.Errorf("key %q: write %s{trusted=1,ipv6=64}", s, word)
		}
	}
	return k, nil
}

// leastPrefix leaves room for clients within the addresses that are set apart for
// documentation, which have 32 bits in common.
const leastPrefix = 40

// settings are those of an address, as parseAddressed reads them.
func (k Key) settings() string {
	var all []string
	if k.Trusted > 1 {
		all = append(all, fmt.Sprintf("trusted=%d", k.Trusted))
	}
	if k.IPv6 > 0 {
		all = append(all, fmt.Sprintf("ipv6=%d", k.IPv6))
	}
	if len(all) == 0 {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2, as header
// and cookie names are.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// String gives the form that ParseKey reads.
func (k Key) String() string {
	for word, header := range addressed {
		if k.Trusted > 0 && k.Name == header {
			return word + k.settings()
		}
	}
	for name, kind := range keyNames {
		if kind == k.Kind {
			if k.Kind < KeyHeader {
				return name + k.settings()
			}
			return name + ":" + k.Name
		}
	}
	return fmt.Sprintf("key kind %d", k.Kind)
}

// IsAddress reports whether the clients are told apart by their addresses, of
// their connections or as proxies write them into a header. A server takes
// nothing but an address from such a header.
func (k Key) IsAddress() bool {
	switch strings.ToLower(k.Name) {
	case "x-forwarded-for", "forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip",
		"true-client-ip", "cf-connecting-ip", "fastly-client-ip":
		return k.Kind == KeyHeader
	}
	return k.Kind == KeyIP
}
