package scenarios

import (
	"fmt"
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
}

// ParseKey reads ip, none, header:NAME, query:NAME or cookie:NAME.
func ParseKey(s string) (Key, error) {
	kind, name, named := strings.Cut(s, ":")
	k, ok := keyNames[kind]
	if !ok {
		return Key{}, fmt.Errorf("key %q is of no known kind: write header:NAME, ip, query:NAME, cookie:NAME or none", s)
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
	for name, kind := range keyNames {
		if kind == k.Kind {
			if k.Kind < KeyHeader {
				return name
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
