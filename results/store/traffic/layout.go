package traffic

import (
	"errors"
	"fmt"
	"strings"
)

// layout is how a line of a web server's log is laid out: texts, and values
// between them.
type layout []piece

// piece is a text, and the value behind it.
type piece struct {
	text  string
	value string // name of the value; empty: there is none, at the end
}

// nginxLayout reads a log_format of nginx, such as $remote_addr [$time_local] "$request".
func nginxLayout(s string) (l layout, err error) {
	for s != "" {
		text, rest, ok := strings.Cut(s, "$")
		if !ok {
			return append(l, piece{text: text}), nil
		}
		name, after := rest, ""
		if strings.HasPrefix(rest, "{") {
			if name, after, ok = strings.Cut(rest[1:], "}"); !ok {
				return nil, fmt.Errorf("the brace of ${%s is not closed", rest[1:])
			}
		} else {
			n := 0
			for n < len(rest) && (rest[n] == '_' || rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= '0' && rest[n] <= '9') {
				n++
			}
			name, after = rest[:n], rest[n:]
		}
		if name == "" {
			return nil, errors.New("a $ is followed by no name")
		}
		l = append(l, piece{text, name})
		s = after
	}
	return l, nil
}

// apacheLayout reads a LogFormat of Apache, such as %h %t "%r" %>s. The values
// are named as they are written, without the percent sign and a > or < before
// the letter: {Referer}i, s, t.
func apacheLayout(s string) (l layout, err error) {
	s = strings.ReplaceAll(s, `\"`, `"`)
	text := ""
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			text += s[i : i+1]
			continue
		}
		if i+1 < len(s) && s[i+1] == '%' {
			text += "%"
			i++
			continue
		}
		name, n, err := directive(s[i+1:])
		if err != nil {
			return nil, err
		}
		if name == "t" { // it writes its own brackets
			l = append(l, piece{text + "[", "t"})
			text = "]"
		} else {
			l = append(l, piece{text, name})
			text = ""
		}
		i += n
	}
	if text != "" {
		l = append(l, piece{text: text})
	}
	return l, nil
}

// directive reads one behind its percent sign, and gives its length.
func directive(s string) (name string, n int, err error) {
	for n < len(s) && strings.IndexByte("<>!,0123456789", s[n]) >= 0 {
		n++ // which of two requests is meant, and for which statuses
	}
	start := n
	if n < len(s) && s[n] == '{' {
		end := strings.IndexByte(s[n:], '}')
		if end < 0 {
			return "", 0, fmt.Errorf("the brace of %%%s is not closed", s)
		}
		n += end + 1
	}
	if n < len(s) && s[n] == '^' { // ^ti and ^to have three letters
		n += 2
	}
	if n >= len(s) {
		return "", 0, fmt.Errorf("%%%s is no directive", s)
	}
	return s[start : n+1], n + 1, nil
}

// match takes the values out of a line. A value ends where the text behind it
// begins; one in quotes ends at a quote that is not escaped.
func (l layout) match(line string, value func(name, text string)) error {
	rest := line
	for i, p := range l {
		after, ok := strings.CutPrefix(rest, p.text)
		if !ok {
			return fmt.Errorf("%q is expected where the line has %q", p.text, shortened(rest))
		}
		rest = after
		if p.value == "" {
			continue
		}
		next := ""
		if i+1 < len(l) {
			next = l[i+1].text
		}
		n := length(rest, next)
		if n < 0 {
			return fmt.Errorf("%q is expected behind %s, in %q", next, p.value, shortened(rest))
		}
		value(p.value, rest[:n])
		rest = rest[n:]
	}
	if rest != "" {
		return fmt.Errorf("%q follows the end of the layout", shortened(rest))
	}
	return nil
}

// length is how long a value is that next follows; -1: it does not.
func length(s, next string) int {
	if next == "" {
		return len(s)
	}
	for i := 0; i+len(next) <= len(s); i++ {
		if s[i] == '\\' && next[0] == '"' {
			i++ // what is escaped ends nothing
			continue
		}
		if strings.HasPrefix(s[i:], next) {
			return i
		}
	}
	return -1
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
