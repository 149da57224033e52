package key

import (
	"net/netip"
	"strings"
)

// forwardedFor is the client's address of the n-th element from the end of a
// Forwarded field (RFC 7239). An element that has none, calls it unknown or
// gives a made-up name, is not ok, and neither is a line that is not of the
// grammar: a client may have left a quotation mark open, so that nobody can say
// where the proxies' own words begin. Only lines that hold one of the last n
// elements are looked at.
func forwardedFor(lines []string, n int) (a netip.Addr, ok bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		last, ok := parseForwarded(lines[i], n)
		if !ok {
			return netip.Addr{}, false
		}
		if n -= len(last); n == 0 {
			return parseNode(last[0])
		}
	}
	return netip.Addr{}, false
}

// parseNode reads the node of a for parameter, whose port may be a made-up name.
func parseNode(node string) (a netip.Addr, ok bool) {
	if strings.HasPrefix(node, "[") {
		end := strings.IndexByte(node, ']')
		if end < 0 || !isPort(node[end+1:]) {
			return netip.Addr{}, false
		}
		a, err := netip.ParseAddr(node[1:end])
		return a, err == nil && a.Is6() && a.Zone() == ""
	}
	host, port := node, ""
	if colon := strings.IndexByte(node, ':'); colon >= 0 {
		host, port = node[:colon], node[colon:]
	}
	a, err := netip.ParseAddr(host)
	return a, err == nil && a.Is4() && isPort(port)
}

// isPort reports whether s is empty, or a colon with a number or a made-up name.
func isPort(s string) bool {
	if s == "" {
		return true
	}
	s, colon := strings.CutPrefix(s, ":")
	if name, madeUp := strings.CutPrefix(s, "_"); madeUp {
		return colon && name != "" && strings.Trim(name, alphanumeric+"._-") == ""
	}
	return colon && s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// parseForwarded gives the for parameters of the last n elements of a line, or
// of all if there are fewer, empty for an element without one.
//
//	line    = element *( "," element )
//	element = [ pair ] *( ";" [ pair ] )       a name comes once in an element
//	pair    = token "=" ( token / quoted-string )
//
// White space is allowed around commas and semicolons.
func parseForwarded(line string, n int) (last []string, ok bool) {
	for {
		node, rest, ok := parseElement(line)
		if !ok {
			return nil, false
		}
		if len(last) == n {
			last = append(last[:0], last[1:]...)
		}
		last = append(last, node)
		if rest == "" {
			return last, true
		}
		line = rest[1:] // a comma
	}
}

// parseElement reads up to the end or a comma, with which rest begins then.
func parseElement(s string) (node, rest string, ok bool) {
	seen := map[string]bool{}
	for {
		s = strings.TrimLeft(s, " \t")
		if s != "" && s[0] != ',' && s[0] != ';' {
			var name, value string
			if name, value, s, ok = parsePair(s); !ok || seen[name] {
				return "", "", false
			}
			seen[name] = true
			if name == "for" {
				node = value
			}
			s = strings.TrimLeft(s, " \t")
		}
		switch {
		case s == "" || s[0] == ',':
			return node, s, true
		case s[0] != ';':
			return "", "", false
		}
		s = s[1:]
	}
}

func parsePair(s string) (name, value, rest string, ok bool) {
	name, s = cutToken(s)
	s, ok = strings.CutPrefix(s, "=")
	if name == "" || !ok {
		return "", "", "", false
	}
	name = strings.ToLower(name)
	if quoted, is := strings.CutPrefix(s, `"`); is {
		value, rest, ok = cutQuoted(quoted)
		return name, value, rest, ok
	}
	value, rest = cutToken(s)
	return name, value, rest, value != ""
}

// cutToken cuts a token of RFC 9110 off the front, which may be none.
func cutToken(s string) (token, rest string) {
	i := 0
	for i < len(s) && (strings.IndexByte(alphanumeric, s[i]) >= 0 || strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) >= 0) {
		i++
	}
	return s[:i], s[i:]
}

// cutQuoted reads up to the closing quotation mark.
func cutQuoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}
