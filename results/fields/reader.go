package fields

import (
	"fmt"
	"strings"
	"time"
)

// reader gathers the lines of one answer.
type reader struct {
	date   string // of the answer
	answer Answer
	groups map[group]*Told
	order  []group
	joined map[string]string // values of fields that may come in several lines
	retry  []Moment          // waits that other fields than Retry-After tell
}

// group is one limit as one dialect names it.
type group struct {
	dialect Dialect
	prefix  string
	name    string
}

func (r *reader) told(g group) *Told {
	t := r.groups[g]
	if t == nil {
		t = &Told{Dialect: g.dialect, Name: g.name}
		r.groups[g] = t
		r.order = append(r.order, g)
	}
	return t
}

func (r *reader) fault(format string, args ...any) {
	r.answer.Faults = append(r.answer.Faults, fmt.Sprintf(format, args...))
}

func (r *reader) note(format string, args ...any) {
	r.answer.Notes = append(r.answer.Notes, fmt.Sprintf(format, args...))
}

// words are the parts of a field's name that say what its value is, the longer
// before the shorter; the last ones tell of a limit in words.
var words = []string{"replenish-rate", "burst-capacity", "requested-tokens", "reset-after", "resettime", "remaining", "observed", "limit", "used", "reset",
	"resource", "bucket", "scope", "global", "name", "reason"}

// line reads one line of a header. Structured fields are put together first.
func (r *reader) line(name, value string) {
	plain := strings.ReplaceAll(name, "rate-limit", "ratelimit")
	prefix, rest, found := strings.Cut(plain, "ratelimit")
	switch {
	case plain == "ratelimit" || plain == "ratelimit-policy":
		if r.joined[plain] != "" {
			value = r.joined[plain] + ", " + value
		}
		r.joined[plain] = value
	case strings.HasSuffix(name, "call-limit"):
		r.calls(name, value)
	case strings.Contains(name, "retry") && strings.HasSuffix(name, "-ms"):
		r.millis(name, value)
	case found && strings.HasSuffix(rest, "-reason"), plain == "x-envoy-ratelimited":
		r.note("%s: %s", name, value)
	case found && strings.HasPrefix(rest, "-"):
		r.field(name, prefix, rest[1:], value)
	}
}

// field reads one that is one of several about a limit. What the limit counts
// stands before or behind what the field tells: -remaining-tokens, -tokens-remaining.
func (r *reader) field(name, prefix, rest, value string) {
	g := group{Vendor, prefix, ""}
	switch prefix {
	case "":
		g.dialect = Draft03
	case "x-":
		g.dialect = XFields
	}
	for _, w := range words {
		behind, beginsSo := strings.CutPrefix(rest, w)
		before, endsSo := strings.CutSuffix(rest, w)
		switch {
		case rest == w:
		case beginsSo && behind[0] == '-':
			g.name = behind[1:]
		case endsSo && before[len(before)-1] == '-':
			g.name = before[:len(before)-1]
		default:
			continue
		}
		r.value(r.told(g), name, w, value)
		return
	}
}

// value puts a field's value into its place.
func (r *reader) value(t *Told, field, word, text string) {
	switch word {
	case "reset", "reset-after", "resettime":
		r.reset(t, field, word, text)
	case "limit":
		r.limit(t, field, text)
	case "remaining":
		r.number(&t.Remaining, field, text)
	case "used", "observed":
		r.number(&t.Used, field, text)
	case "burst-capacity":
		r.number(&t.Limit, field, text)
	case "replenish-rate":
		r.number(&t.PerSecond, field, text)
	case "requested-tokens":
		r.number(&t.Cost, field, text)
	default:
		r.note("%s: %s", field, text)
	}
}

func (r *reader) number(to *Number, field, text string) {
	n, ok := number(text)
	if !ok {
		r.fault("%s: %q is no number", field, text)
		return
	}
	if n.N < 0 {
		r.fault("%s: %s is negative", field, text)
	}
	*to = n
}

// reset reads a moment. Of several, -after counts from the answer on and is what
// needs no clock.
func (r *reader) reset(t *Told, field, word, text string) {
	m := moment(field, text, r.date, t.Dialect.Standard() || word == "reset-after")
	switch {
	case m.Unit == Unreadable:
		r.fault("%s: %q is no moment", field, text)
	case m.Known && m.Wait < 0 && !m.Unit.Clocked(), m.Wait < -24*time.Hour: // an answer may have been held back
		r.fault("%s: %s lies in the past", field, text)
	case t.Dialect.Standard() && word == "reset" && m.Unit != Seconds:
		m.Guess += ", although the drafts count seconds from now"
	}
	switch {
	case word == "reset-after":
		r.retry = append(r.retry, m)
		t.Reset = m
	case word == "resettime" && t.Reset.Known, t.Reset.Field != "" && strings.HasSuffix(t.Reset.Field, "-after"):
	default:
		t.Reset = m
	}
}

// limit reads a number, behind which the policies may be listed: 100, 100;w=60
// (draft -03), and with window= instead (Envoy).
func (r *reader) limit(t *Told, field, text string) {
	first, rest, several := strings.Cut(text, ",")
	r.number(&t.Limit, field, first)
	if several {
		r.policies(t.Dialect, field, rest)
	}
}

// calls reads used/size, as Shopify tells it.
func (r *reader) calls(field, text string) {
	used, size, _ := strings.Cut(text, "/")
	t := r.told(group{Calls, field, ""})
	r.number(&t.Used, field, used)
	r.number(&t.Limit, field, size)
	if t.Used.Told && t.Limit.Told {
		t.Remaining = Number{max(0, t.Limit.N-t.Used.N), true}
	}
}

// millis reads a wait in milliseconds. A negative one forbids to come back (gRPC).
func (r *reader) millis(field, text string) {
	n, ok := number(text)
	if !ok || n.N < 0 {
		r.fault("%s: %q is no number of milliseconds", field, text)
		return
	}
	m := Moment{Field: field, Text: text, Unit: Millis, Known: true, Wait: clampMillis(n.N), Grain: clampMillis(1)}
	r.retry = append(r.retry, m)
}
