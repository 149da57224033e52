package assertions

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/fields"
)

// CheckCached and CheckStorable are the ids of the rule that a refusal is not
// stored by a cache (RFC 6585 section 4), of which the one is a proof that it was,
// and the other the advice not to invite it.
const (
	CheckCached   = "refusal.cached"
	CheckStorable = "refusal.storable"
)

// newCached asks for an Age, with which a cache says for how long it has kept an
// answer (RFC 9111 section 5.1). Some proxies write Age: 0 on what they pass on.
func newCached() *refusals {
	return &refusals{id: CheckCached,
		good: "no refusal came out of a cache", none: "not asked: nothing was refused with a 429",
		fault: func(f *flight) (string, bool) {
			if f.hit.Status != http.StatusTooManyRequests {
				return "", false
			}
			if n := age(f.hit); n > 0 {
				return fmt.Sprintf("a refusal came out of a cache (Age: %d), to whomever it was told first,", n), true
			}
			return "", true
		}}
}

// newStorable asks whether a cache is told that it may keep a refusal. A 429
// without a word is kept by none: it is not among the answers that are cacheable
// by themselves (RFC 9110 section 15.1).
func newStorable() *refusals {
	return &refusals{id: CheckStorable, level: results.Should,
		good: "no cache is told to keep a refusal", none: "not asked: nothing was refused",
		fault: func(f *flight) (string, bool) {
			if text := header(f.hit, "cache-control"); storable(text) {
				return fmt.Sprintf("Cache-Control: %s allows a refusal to be stored", text), true
			}
			return "", true
		}}
}

// storable reports whether Cache-Control makes an answer cacheable that is not by
// itself (RFC 9111 section 3).
func storable(control string) bool {
	if control == "" {
		return false
	}
	may := false
	for d := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		switch name {
		case "no-store", "private", "no-cache":
			return false
		case "public":
			may = true
		case "max-age", "s-maxage":
			may = may || strings.Trim(value, `"0`) != ""
		}
	}
	return may
}

// CheckFields is the id of the rule that what is told of limits can be read: in
// the fields of the drafts, structured ones are to be ignored where they are
// malformed.
const CheckFields = "ratelimit.syntax"

func newSyntaxOfFields() *refusals {
	return &refusals{id: CheckFields, level: results.Should, all: true,
		good: "the fields about limits can be read", none: "not asked: no answer has fields about limits",
		fault: func(f *flight) (string, bool) {
			if f.hit.Headers == "" {
				return "", false
			}
			a := f.says()
			for _, fault := range a.Faults {
				if !strings.HasPrefix(fault, "retry-after:") { // which has checks of its own
					return fault + ",", true
				}
			}
			for _, t := range a.Told {
				if m := t.Reset; t.Dialect == fields.Draft03 && m.Unit != fields.Absent && m.Unit != fields.Seconds {
					return fmt.Sprintf("%s: %s is %v, where the drafts -03 to -06 count seconds from now,", m.Field, m.Text, m.Unit), true
				}
			}
			return "", len(a.Told)+len(a.Policies) > 0
		}}
}
