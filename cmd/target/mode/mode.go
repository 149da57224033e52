// Package mode is the grammar that the parts of a server are named in:
// `name{key=value,...}`, as in token-bucket{burst=10,rate=5/1s}. It stands at
// the start of cmd/target: limits, defects and modes are all read from it.
package mode

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// anyExample is shown where the text is not even of the grammar, so that its
// own name cannot say what was meant.
const anyExample = "token-bucket{burst=10,rate=5/1s}"

// Mode is one named part with its settings. The zero Mode names nothing.
type Mode struct {
	Name     string    // lower-case letters, digits and dashes; empty only in the zero Mode
	Settings []Setting // in the order they were written; no key twice; nil: none
}

// Setting is one key of a Mode with the text of its value.
type Setting struct {
	Key   string // lower-case letters, digits and dashes
	Value string // never empty, without white space, commas and braces
}

// Parse reads `name`, `name{key=value,...}` or `name{flag}`, where a flag means
// flag=true. White space around the parts is dropped. The error says what is
// wrong and shows a correct form.
func Parse(s string) (Mode, error) {
	name, rest, braced := strings.Cut(s, "{")
	m := Mode{Name: strings.TrimSpace(name)}
	if !isName(m.Name) {
		return Mode{}, fmt.Errorf("mode %q: %q is not a name of lower-case letters, digits and dashes; write for example %s", s, m.Name, anyExample)
	}
	if !braced {
		return m, nil
	}
	inner, closed := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !closed {
		return Mode{}, fmt.Errorf("mode %q: the brace is not closed at the end; write for example %s", s, anyExample)
	}
	if strings.TrimSpace(inner) == "" {
		return m, nil
	}
	for part := range strings.SplitSeq(inner, ",") {
		if err := m.add(part); err != nil {
			return Mode{}, fmt.Errorf("mode %q: %w; write for example %s", s, err, anyExample)
		}
	}
	return m, nil
}

func (m *Mode) add(part string) error {
	key, value, valued := strings.Cut(part, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !valued {
		value = "true"
	}
	switch _, twice := m.lookup(key); {
	case !isName(key):
		return fmt.Errorf("%q is not a key of lower-case letters, digits and dashes", key)
	case !isValue(value):
		return fmt.Errorf("%s has the value %q: it must not be empty or hold white space, commas or braces", key, value)
	case twice:
		return fmt.Errorf("%s is given twice", key)
	}
	m.Settings = append(m.Settings, Setting{Key: key, Value: value})
	return nil
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func isValue(s string) bool {
	for _, c := range s {
		if c == utf8.RuneError || unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(",{}", c) {
			return false
		}
	}
	return s != ""
}

func (m Mode) lookup(key string) (value string, ok bool) {
	i := slices.IndexFunc(m.Settings, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return "", false
	}
	return m.Settings[i].Value, true
}

// IsZero reports whether m names nothing.
func (m Mode) IsZero() bool { return m.Name == "" && m.Settings == nil }

// String gives the shortest form that Parse reads back to the same Mode.
func (m Mode) String() string {
	if len(m.Settings) == 0 {
		return m.Name
	}
	var parts []string
	for _, s := range m.Settings {
		if s.Value == "true" {
			parts = append(parts, s.Key)
		} else {
			parts = append(parts, s.Key+"="+s.Value)
		}
	}
	return m.Name + "{" + strings.Join(parts, ",") + "}"
}
