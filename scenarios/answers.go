package scenarios

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Answers says what an answer of the server means. Limited is asked first, so
// a status may be in both: 200-499 admitted and 429 limited do not clash. What
// neither covers is something else: an error of the server, or an answer given
// in front of the limiter.
type Answers struct {
	Admitted Rule // zero: status 200-399
	Limited  Rule // zero: status 429
}

// Rule covers an answer when one of its matches does. The zero Rule covers none.
type Rule struct{ Any []Match }

// Match covers an answer when all that it asks for holds.
type Match struct {
	From, To int    // status range, both ends included; 0, 0: any status
	Header   string // canonical name of a header that must be there; empty: none is asked for
	Value    string // the header's value, when HasValue; compared without surrounding space
	HasValue bool   // whether Value counts
}

// DefaultAnswers is what an undeclared answer means: 200-399 admitted, 429 limited.
func DefaultAnswers() Answers {
	return Answers{
		Admitted: Rule{Any: []Match{{From: 200, To: 399}}},
		Limited:  Rule{Any: []Match{{From: 429, To: 429}}},
	}
}

// ParseRule reads alternatives separated by commas. Each is a status (429), a
// range (200-399), a header (header:X-Blocked, header:X-Remaining=0) or several
// of these that must hold together, joined by + (403+header:X-Remaining=0).
func ParseRule(s string) (Rule, error) {
	var r Rule
	for alt := range strings.SplitSeq(s, ",") {
		m, err := parseMatch(strings.TrimSpace(alt))
		if err != nil {
			return Rule{}, err
		}
		r.Any = append(r.Any, m)
	}
	return r, nil
}

func parseMatch(s string) (Match, error) {
	var m Match
	for part := range strings.SplitSeq(s, "+") {
		var err error
		if h, ok := strings.CutPrefix(part, "header:"); ok {
			err = m.addHeader(h)
		} else {
			err = m.addStatus(part)
		}
		if err != nil {
			return Match{}, err
		}
	}
	return m, nil
}

func (m *Match) addHeader(h string) error {
	name, value, has := strings.Cut(h, "=")
	if !isToken(name) {
		return fmt.Errorf("%q is not the name of a header: write header:NAME or header:NAME=VALUE", name)
	}
	if m.Header != "" {
		return fmt.Errorf("header %s and header %s are asked for together: a rule takes one header", m.Header, name)
	}
	m.Header, m.Value, m.HasValue = http.CanonicalHeaderKey(name), value, has
	return nil
}

func (m *Match) addStatus(s string) error {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || lo < 100 || hi > 599 || lo > hi {
		return fmt.Errorf("%q is not a status: write 429, 200-399 or header:NAME=VALUE", s)
	}
	if m.From != 0 {
		return fmt.Errorf("two statuses joined by +: an answer has one, separate alternatives by commas")
	}
	m.From, m.To = lo, hi
	return nil
}

// Covers reports whether an answer of this status and header is one of the rule's.
func (r Rule) Covers(status int, header http.Header) bool {
	for _, m := range r.Any {
		if m.covers(status, header) {
			return true
		}
	}
	return false
}

func (m Match) covers(status int, header http.Header) bool {
	if m.From != 0 && (status < m.From || status > m.To) {
		return false
	}
	if m.Header == "" {
		return true
	}
	for _, v := range header[m.Header] {
		if !m.HasValue || strings.TrimSpace(v) == m.Value {
			return true
		}
	}
	return false
}

// String gives the form that ParseRule reads.
func (r Rule) String() string {
	var alts []string
	for _, m := range r.Any {
		alts = append(alts, m.String())
	}
	return strings.Join(alts, ",")
}

func (m Match) String() string {
	var parts []string
	switch {
	case m.From == 0:
	case m.From == m.To:
		parts = append(parts, strconv.Itoa(m.From))
	default:
		parts = append(parts, fmt.Sprintf("%d-%d", m.From, m.To))
	}
	switch {
	case m.Header == "":
	case m.HasValue:
		parts = append(parts, "header:"+m.Header+"="+m.Value)
	default:
		parts = append(parts, "header:"+m.Header)
	}
	return strings.Join(parts, "+")
}
