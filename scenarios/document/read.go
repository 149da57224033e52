package document

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// mostBytes is how long a file may be: what people write by hand is shorter.
const mostBytes = 4 << 20

// ReadFile reads a file that is meant for Parse. It returns an error where there
// is none, or one that nobody can have written: it does not read on for ever.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(src) > mostBytes {
		return nil, fmt.Errorf("%s is longer than 4 MiB: is it the right file?", name)
	}
	return src, nil
}

// printable is a line that does to a terminal nothing but show itself; it stays
// as long as it was.
func printable(line string) string {
	return strings.Map(func(c rune) rune {
		if c != '\t' && !unicode.IsPrint(c) {
			return '\uFFFD'
		}
		return c
	}, line)
}
