package dialect

import (
	"fmt"
	"net/http"

	"github.com/dunglas/httpsfv"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func draft07Kind() familyKind {
	return familyKind{
		Doc: mode.Doc{
			Name:    "draft-07",
			Example: "draft-07",
			Text:    "RateLimit: limit=10, remaining=0, reset=2 and RateLimit-Policy: 10;w=2, of draft -07; reset counts seconds until the limit is as if it had never been used.",
		},
		uses:  "RateLimit",
		build: newDraft07,
	}
}

// draft07 are the fields of draft-ietf-httpapi-ratelimit-headers-07. Of several
// limits RateLimit tells the one that binds.
type draft07 struct{ policyText []string }

// newDraft07 leaves out a policy whose window is no whole number of seconds:
// here it must have one.
func newDraft07(policies []Policy) (family, error) {
	var list httpsfv.List
	for _, p := range policies {
		if w, whole := p.window(); whole {
			item := httpsfv.NewItem(p.Quota)
			item.Params.Add("w", w)
			list = append(list, item)
		}
	}
	text, err := httpsfv.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("writing RateLimit-Policy: %w", err)
	}
	return draft07{[]string{text}}, nil
}

func (d draft07) policy(h http.Header) {
	if d.policyText[0] != "" {
		h["Ratelimit-Policy"] = d.policyText
	}
}

func (d draft07) standing(h http.Header, s Standing) {
	if len(s.Decisions) == 0 {
		return
	}
	b := binding(s)
	text := fmt.Sprintf("limit=%d, remaining=%d", b.Limit, b.Remaining)
	if b.Reset >= 0 {
		text += fmt.Sprintf(", reset=%d", seconds(b.Reset))
	}
	h["Ratelimit"] = []string{text}
}
