// Package document reads a YAML file for a reader who wants all of its mistakes
// at once: every problem names file, line and column, shows the line, and gives
// a hint. It stands below scenarios and the reference server's configuration,
// and is the only importer of the YAML library.
package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Problem is one mistake in a document.
type Problem struct {
	File   string
	Line   int    // from 1; 0: the document as a whole
	Column int    // from 1
	Text   string // what is wrong
	Hint   string // what to do; may be empty
	Source string // the line, without its line break
}

// Error gives the problem in the form file:line:column: text, the line with a
// mark under the column, and the hint.
func (p Problem) Error() string {
	var s strings.Builder
	if p.Line == 0 {
		fmt.Fprintf(&s, "%s: %s", p.File, p.Text)
	} else {
		fmt.Fprintf(&s, "%s:%d:%d: %s\n    %s\n    %s^", p.File, p.Line, p.Column, p.Text, p.Source, indent(p.Source, p.Column))
	}
	if p.Hint != "" {
		s.WriteString("\n  hint: " + p.Hint)
	}
	return s.String()
}

// indent is the blank space in front of a column, tabs kept.
func indent(line string, column int) string {
	var s strings.Builder
	for i, c := range line {
		if i >= column-1 {
			break
		}
		if c != '\t' {
			c = ' '
		}
		s.WriteRune(c)
	}
	return s.String()
}

// Problems are all mistakes of a document, in the order of its lines.
type Problems []Problem

func (ps Problems) Error() string {
	var s []string
	for _, p := range ps {
		s = append(s, p.Error())
	}
	return strings.Join(s, "\n")
}

// Document is a parsed file, and the problems found in it so far.
type Document struct {
	file     string
	lines    []string
	root     ast.Node
	problems Problems
}

// Parse parses a YAML document. name is what problems call it.
func Parse(name string, src []byte) (*Document, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // the mark that some editors begin a file with
	d := &Document{file: name, lines: strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")}
	f, err := parser.ParseBytes(src, 0)
	var bad *yaml.SyntaxError
	switch {
	case errors.As(err, &bad):
		at := bad.GetToken()
		d.add(at.Position.Line, at.Position.Column, bad.Message, "this is not valid YAML; indent with spaces, and put a space after each colon")
		return nil, d.problems
	case err != nil:
		return nil, Problems{{File: name, Text: err.Error()}}
	case len(f.Docs) == 0 || f.Docs[0].Body == nil:
		return nil, Problems{{File: name, Text: "the file is empty"}}
	case len(f.Docs) > 1:
		return nil, Problems{{File: name, Text: fmt.Sprintf("%d documents in one file: one is read", len(f.Docs)), Hint: "remove the lines ---"}}
	}
	d.root = f.Docs[0].Body
	return d, nil
}

// Root is the document's outermost value.
func (d *Document) Root() Value { return Value{d, d.root} }

// Problems is how many were found so far. A reader that compares it before and
// after a part can leave out what is only the consequence of another mistake.
func (d *Document) Problems() int { return len(d.problems) }

// Err is all problems found, or nil.
func (d *Document) Err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return d.problems
}

func (d *Document) add(line, column int, text, hint string) {
	p := Problem{File: d.file, Line: line, Column: column, Text: text, Hint: hint}
	if line >= 1 && line <= len(d.lines) {
		p.Source = printable(d.lines[line-1])
	}
	d.problems = append(d.problems, p)
}
