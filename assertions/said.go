package assertions

import (
	"strconv"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/fields"
	"github.com/ratehammer/ratehammer/scenarios"
)

// says is what the fields of an answer tell, read once.
func (f *flight) says() *fields.Answer {
	if f.said == nil {
		a := fields.Read(f.hit)
		f.said = &a
	}
	return f.said
}

// announces reports whether the answer tells of limits at all, beside Retry-After.
func (f *flight) announces() bool {
	return f.hit.Headers != "" && len(f.says().Told)+len(f.says().Policies) > 0
}

// speaks reports whether an answer may be held against the truth: it is the
// limiter's own, of now, and not one that a cache has kept.
func (f *flight) speaks() bool {
	return !f.torn && (f.outcome == results.Admitted || f.outcome == results.Limited) && age(f.hit) == 0
}

// about are the lines of an answer that are about a limit, one a dialect at most.
// A server may have more limits than were declared, and need not tell of each; it
// is the number that is told with a line which says whose it is, and where
// limits have names, these. Where two lines of one dialect have the number,
// nobody knows.
func (f *flight) about(limits []scenarios.Limit, i int) (all []*fields.Told) {
	if len(f.hit.Headers) == 0 {
		return nil
	}
	told := f.says().Told
	for n := range told {
		t := &told[n]
		if t.Limit.Told && fits(limits[i], t.Limit.N) && !twice(told, n) && !another(limits, i, t) {
			all = append(all, t)
		}
	}
	return all
}

// fits reports whether a number is the one that a limit would be told with. Of a
// queue it is the places to wait in, with or without the one that is released.
func fits(l scenarios.Limit, n int64) bool {
	return n == l.Size() || l.Contract == scenarios.Queue && n == l.Size()+1
}

// owned reports whether nobody but the client of a key can take its tokens, as far
// as the promise says. A quota does not say whom it counts together.
func owned(limits []scenarios.Limit) bool {
	l := limits[0]
	return len(limits) == 1 && l.Key.Kind != scenarios.KeyNone && l.Contract != scenarios.Quota
}

// twice reports whether another line of the same dialect has the same number.
func twice(told []fields.Told, n int) bool {
	for i := range told {
		if i != n && told[i].Dialect == told[n].Dialect && told[i].Limit == told[n].Limit {
			return true
		}
	}
	return false
}

// another reports whether the line may be about another of the declared limits.
func another(limits []scenarios.Limit, i int, t *fields.Told) bool {
	for k, l := range limits {
		if k != i && fits(l, t.Limit.N) && (t.Name == "" || t.Name != limits[i].Name) {
			return true
		}
	}
	return false
}

// age is how long an answer has been in caches, in seconds; 0: it comes out of none.
func age(h *results.Hit) int64 {
	text := header(h, "age")
	if text == "" { // as nearly always, and an error would be made for it
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// header is the value of a field of the record; empty: it is not there.
func header(h *results.Hit, name string) string {
	for line := range strings.Lines(h.Headers) {
		if n, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(n) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
