package document

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Value is a value in a document. Its readers add a problem and return the zero
// value where it is not of the kind that is asked for, so that reading goes on.
type Value struct {
	doc  *Document
	node ast.Node
}

// Problems is how many problems the document has so far.
func (v Value) Problems() int { return v.doc.Problems() }

// Fail adds a problem at the value.
func (v Value) Fail(hint, format string, args ...any) {
	at := &token.Position{Line: 1, Column: 1}
	if t := v.token(); t != nil {
		at = t.Position
	}
	v.doc.add(at.Line, at.Column, fmt.Sprintf(format, args...), hint)
}

// token is where the value starts; that of a mapping is its first key, not its first colon.
func (v Value) token() *token.Token {
	switch n := v.node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	case *ast.SequenceNode:
		return n.Start
	}
	if v.node == nil {
		return nil
	}
	return v.node.GetToken()
}

// Fields reads a mapping: each known key's value is handed to its reader, in
// the order of the document. Unknown and repeated keys are problems.
func (v Value) Fields(known map[string]func(Value)) {
	var entries []*ast.MappingValueNode
	switch n := v.node.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		v.Fail("write one of: "+strings.Join(slices.Sorted(maps.Keys(known)), ", "), "%s where fields are expected", v.kind())
		return
	}
	seen := map[string]bool{}
	for _, e := range entries {
		key := Value{v.doc, e.Key}
		name := e.Key.String()
		read, ok := known[name]
		switch {
		case !ok:
			key.Fail(suggest(name, slices.Sorted(maps.Keys(known))), "unknown field %q", name)
		case seen[name]:
			key.Fail("remove one of the two", "field %q is given twice", name)
		default:
			seen[name] = true
			read(Value{v.doc, e.Value})
		}
	}
}

// suggest names the nearest known word, or all of them.
func suggest(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		if d := edits(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known are " + strings.Join(known, ", ")
}

// Nearest is the hint for a name that is none of the known ones.
func Nearest(name string, known []string) string { return suggest(name, known) }

// edits is the Levenshtein distance: insertions, deletions and replacements.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := last
			if a[i] != b[j] {
				d = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// List is the items of a sequence.
func (v Value) List() []Value {
	n, ok := v.node.(*ast.SequenceNode)
	if !ok {
		v.Fail("write one item a line, each after a dash", "%s where a list is expected", v.kind())
		return nil
	}
	var items []Value
	for _, x := range n.Values {
		items = append(items, Value{v.doc, x})
	}
	return items
}

// IsText reports whether the value is a single one that Text reads.
func (v Value) IsText() bool {
	_, ok := v.scalar()
	return ok
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool {
	_, ok := v.node.(*ast.SequenceNode)
	return ok
}

// Text is a scalar as it was written.
func (v Value) Text() string {
	switch n := v.node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	v.Fail("", "%s where a text is expected", v.kind())
	return ""
}

// Int is a whole number from least to most.
func (v Value) Int(least, most int64) int64 {
	if n, ok := v.node.(*ast.IntegerNode); ok {
		i, err := strconv.ParseInt(strings.ReplaceAll(n.GetToken().Value, "_", ""), 10, 64)
		if err == nil && i >= least && i <= most {
			return i
		}
	}
	hint := fmt.Sprintf("give a whole number from %d to %d", least, most)
	if most == 1<<63-1 {
		hint = fmt.Sprintf("give a whole number, %d or more", least)
	}
	v.Fail(hint, "%s where a whole number is expected", v.shown())
	return 0
}

// Bool is true or false.
func (v Value) Bool() bool {
	if n, ok := v.node.(*ast.BoolNode); ok {
		return n.Value
	}
	v.Fail("write true or false", "%s where true or false is expected", v.shown())
	return false
}

// Duration is a time such as 5s, 250ms or 1m30s, not negative.
func (v Value) Duration() time.Duration {
	text, ok := v.scalar()
	if !ok {
		v.Fail("write a time such as 5s or 250ms", "%s where a time is expected", v.kind())
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && strings.Trim(text, "0123456789.") == "":
		v.Fail(fmt.Sprintf("write %ss or %sms", text, text), "%q has no unit", text)
	case err != nil:
		v.Fail("write a time such as 5s, 250ms or 1m30s", "%q is not a time", text)
	case d < 0:
		v.Fail("", "%q is negative", text)
	default:
		return d
	}
	return 0
}

func (v Value) scalar() (string, bool) {
	switch v.node.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return v.Text(), true
	}
	return "", false
}

// shown is the value as it was written, or its kind.
func (v Value) shown() string {
	if s, ok := v.scalar(); ok {
		return strconv.Quote(s)
	}
	return v.kind()
}

func (v Value) kind() string {
	switch v.node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "fields"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias, which is not read here,"
	case *ast.TagNode:
		return "a tag, which is not read here,"
	}
	return "a single value"
}
