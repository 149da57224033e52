package mode

import (
	"fmt"
	"strings"
)

// Doc is what a list for people says about one mode.
type Doc struct {
	Name     string // what a Mode must be called to be this one
	Settings string // grammar of the settings inside the braces; empty: it takes none
	Example  string // a mode that Parse reads and that is valid as it stands
	Text     string // one sentence
}

// Grammar is the name with its settings, as in ra{form=floor|zero|window}.
func (d Doc) Grammar() string {
	if d.Settings == "" {
		return d.Name
	}
	return d.Name + "{" + d.Settings + "}"
}

// Unknown is the error about a name that is none of the known ones, where what
// says which kind of thing was named. It suggests the nearest name.
func Unknown(what, name string, known []Doc) error {
	var names []string
	for _, d := range known {
		names = append(names, d.Name)
	}
	if near := nearest(name, names); near != "" {
		return fmt.Errorf("%s %q is not known, did you mean %s?", what, name, near)
	}
	return fmt.Errorf("%s %q is not known: there are %s", what, name, strings.Join(names, ", "))
}

// nearest is the word that the fewest edits turn into the wrong one, or empty
// if none is near enough to have been meant. Two edits are a pair of swapped
// letters; in a short word even these must leave half of it as it was.
func nearest(wrong string, words []string) string {
	best, least := "", 1+max(2, len(wrong)/3)
	for _, w := range words {
		if d := edits(wrong, w); d < least && 2*d <= len(w) {
			best, least = w, d
		}
	}
	return best
}

// edits is the Levenshtein distance of a and b, in bytes. row[j] holds the
// distance of the part of a seen so far from b[:j].
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
