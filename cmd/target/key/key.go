// Package key tells the clients of a server apart: it reads from a request the
// value that a limit counts by. It stands beside limiter, which knows nothing of
// requests, and below server, which brings the two together.
package key

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// Longest is how many bytes a value has at most, whatever a client sends: what
// is remembered of a key is bounded by it.
const Longest = 128

// hashed marks a value that stands for a longer one.
const hashed = "sha256:"

// Key is one way to tell clients apart, of one part or of several that must all
// agree. The zero Key is one budget for everybody. It may be used by several
// goroutines.
type Key struct{ parts []part }

// part is one thing that a request shows of its client.
type part struct {
	text  string                     // what Parse reads
	words string                     // for people
	of    func(*http.Request) string // empty: the request does not show it
}

// kind is one sort of part that can be named.
type kind struct {
	mode.Doc
	named bool // whether NAME follows after a colon; else settings may follow in braces
	build func(name string, r *mode.Reader) (part, error)
}

func kinds() []kind {
	return []kind{peerKind(), xffKind(), forwardedKind(), headerKind(), queryKind(), cookieKind(), pathKind()}
}

// List describes the parts that Parse reads. They can be joined by +, as in
// ip+header:X-Api-Key; none stands for no part.
func List() []mode.Doc {
	var docs []mode.Doc
	for _, k := range kinds() {
		docs = append(docs, k.Doc)
	}
	return append(docs, mode.Doc{Name: "none", Example: "none", Text: "One budget for everybody."})
}

// Parse reads none, or parts joined by +: ip, xff, forwarded and path with or
// without settings in braces, header:NAME, query:NAME and cookie:NAME. The error
// says what is wrong and what can be written.
func Parse(s string) (Key, error) {
	if s == "none" {
		return Key{}, nil
	}
	var k Key
	for _, text := range split(s) {
		p, err := parsePart(text)
		if err != nil {
			return Key{}, fmt.Errorf("key %q: %w", s, err)
		}
		if slices.ContainsFunc(k.parts, func(q part) bool { return q.text == p.text }) {
			return Key{}, fmt.Errorf("key %q: %s is given twice", s, p.text)
		}
		k.parts = append(k.parts, p)
	}
	return k, nil
}

// split cuts at each + that is not inside braces.
func split(s string) (texts []string) {
	depth, from := 0, 0
	for i, c := range []byte(s) {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '+' && depth == 0:
			texts = append(texts, s[from:i])
			from = i + 1
		}
	}
	return append(texts, s[from:])
}

func parsePart(text string) (part, error) {
	text = strings.TrimSpace(text)
	word, name, named := strings.Cut(text, ":")
	if named && !strings.Contains(word, "{") {
		return parseNamed(word, name)
	}
	word, _, _ = strings.Cut(text, "{")
	word = strings.TrimSpace(word)
	k, err := find(word)
	if err != nil {
		return part{}, err
	}
	if k.named {
		return part{}, fmt.Errorf("%s lacks a name: write %s:NAME", word, word)
	}
	m, err := mode.Parse(text)
	if err != nil {
		return part{}, err
	}
	return k.build("", m.Read(k.Example))
}

func parseNamed(word, name string) (part, error) {
	k, err := find(word)
	switch {
	case err != nil:
		return part{}, err
	case !k.named:
		return part{}, fmt.Errorf("%s takes no name; write for example %s", word, k.Example)
	case name == "":
		return part{}, fmt.Errorf("%s lacks a name: write %s:NAME", word, word)
	case !isToken(name):
		return part{}, fmt.Errorf("%q cannot be the name of a %s", name, word)
	}
	return k.build(name, nil)
}

func find(word string) (kind, error) {
	var docs []mode.Doc
	for _, k := range kinds() {
		plain, _, _ := strings.Cut(k.Name, ":")
		if plain == word {
			return k, nil
		}
		docs = append(docs, mode.Doc{Name: plain})
	}
	return kind{}, mode.Unknown("part", word, docs)
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2 without a +,
// which joins parts.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`+"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// String gives the form that Parse reads.
func (k Key) String() string {
	if len(k.parts) == 0 {
		return "none"
	}
	var texts []string
	for _, p := range k.parts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "+")
}

// Words say what a request must show, for people.
func (k Key) Words() string {
	var words []string
	for _, p := range k.parts {
		words = append(words, p.words)
	}
	return strings.Join(words, " and ")
}

// Of is the value of a request: two requests have the same one if and only if
// they are of one client. It is not ok if a part is absent or empty, which is
// the client's mistake: a budget that all such clients shared would be spent by
// strangers.
func (k Key) Of(r *http.Request) (value string, ok bool) {
	switch len(k.parts) {
	case 0:
		return "", true
	case 1:
		value = k.parts[0].of(r)
		return bounded(value), value != ""
	}
	var b strings.Builder
	for i, p := range k.parts {
		v := p.of(r)
		if v == "" {
			return "", false
		}
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(escape.Replace(v))
	}
	return bounded(b.String()), true
}

// escape keeps a|b with c apart from a with b|c.
var escape = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// bounded is the value itself, or for a long one a digest that nobody can give
// to another value: what already looks like a digest becomes one as well.
func bounded(v string) string {
	if len(v) <= Longest && !strings.HasPrefix(v, hashed) {
		return v
	}
	sum := sha256.Sum256([]byte(v))
	return hashed + hex.EncodeToString(sum[:])
}
