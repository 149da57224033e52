package dialect

import (
	"fmt"
	"math/bits"
	"net/http"
	"strconv"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func draftKind() familyKind {
	return familyKind{
		Doc: mode.Doc{
			Name:    "draft",
			Example: "draft",
			Text:    `RateLimit-Policy: "default";q=10;w=2 and RateLimit: "default";r=0;t=1, of draft-ietf-httpapi-ratelimit-headers from -08 on; an item for each limit.`,
		},
		uses:  "RateLimit",
		build: newDraft,
	}
}

// draft are the fields of draft-ietf-httpapi-ratelimit-headers-11, which are
// lists of structured fields after RFC 9651.
type draft struct {
	policyText []string
	left       []string // by policy: its item up to the number that is left
}

// newDraft prepares the policies: q is what can be had at once, and w the
// seconds in which as much comes again, so that q/w is the rate. If these are
// not whole seconds no w would give the rate, and w is left out.
func newDraft(policies []Policy) (family, error) {
	var d draft
	var list httpsfv.List
	for _, p := range policies {
		item := httpsfv.NewItem(p.Name)
		item.Params.Add("q", p.Quota)
		if p.Promise.Contract == scenarios.Concurrency {
			item.Params.Add("qu", "concurrent-requests")
		}
		if w, whole := p.window(); whole {
			item.Params.Add("w", w)
		}
		list = append(list, item)
		name, err := httpsfv.Marshal(httpsfv.NewItem(p.Name))
		if err != nil {
			return nil, fmt.Errorf("writing the name of limit %q: %w", p.Name, err)
		}
		d.left = append(d.left, name+";r=")
	}
	text, err := httpsfv.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("writing RateLimit-Policy: %w", err)
	}
	d.policyText = []string{text}
	return d, nil
}

// window is the time in which the whole quota comes again, if there is one and
// it is an exact number of seconds.
func (p Policy) window() (w int64, whole bool) {
	num, den := p.Promise.Rate.Units()
	if num == 0 {
		return 0, false
	}
	hi, units := bits.Mul64(uint64(p.Quota), uint64(den))
	second := uint64(time.Second)
	if hi > 0 || units%uint64(num) != 0 || units/uint64(num)%second != 0 {
		return 0, false
	}
	return int64(units / uint64(num) / second), true
}

func (d draft) policy(h http.Header) {
	if d.policyText[0] != "" { // a list without members is no field at all
		h["Ratelimit-Policy"] = d.policyText
	}
}

// standing tells r, and of a limit that has refused also t: within it no more
// than r can be had. Up to -10 it was the time until more can be had, which is
// the same then. While tokens are left no t is told: a bucket refills all the
// time, and what is left now is not all that can be had within any t.
func (d draft) standing(h http.Header, s Standing) {
	var text []byte
	for i, decision := range s.Decisions {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(text, d.left[i]...)
		text = strconv.AppendInt(text, decision.Remaining, 10)
		if decision.Wait > 0 {
			text = append(text, ";t="...)
			text = strconv.AppendInt(text, seconds(decision.Wait), 10)
		}
	}
	if len(text) > 0 {
		h["Ratelimit"] = []string{string(text)}
	}
}
