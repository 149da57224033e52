package probes

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Announced reads the promise that a server makes in RateLimit-Policy: q
// requests in every w seconds (draft-ietf-httpapi-ratelimit-headers-10, section
// 3.1). It says neither by which algorithm nor for whom. Burst is q for those
// who know that it is a bucket. Where there is a header that promises nothing usable, why says so.
func Announced(header http.Header) (limits []scenarios.Limit, why string) {
	text := strings.Join(header.Values("RateLimit-Policy"), ", ")
	if text == "" {
		return nil, ""
	}
	list, err := httpsfv.UnmarshalList([]string{text})
	if err != nil {
		return nil, fmt.Sprintf("RateLimit-Policy %q cannot be read: %v", text, err)
	}
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		if !ok {
			return nil, fmt.Sprintf("RateLimit-Policy %q: a policy is not an item", text)
		}
		l, err := policy(item)
		if err != nil {
			return nil, fmt.Sprintf("RateLimit-Policy %q: %v", text, err)
		}
		limits = append(limits, l)
	}
	return limits, ""
}

func policy(item httpsfv.Item) (scenarios.Limit, error) {
	l := scenarios.Limit{Slack: scenarios.DefaultSlack()}
	name, ok := item.Value.(string)
	if !ok {
		return l, fmt.Errorf("the name of a policy is a string, not %v", item.Value)
	}
	l.Name = name
	q, okQ := param(item, "q")
	w, okW := param(item, "w")
	unit, hasUnit := item.Params.Get("qu")
	switch {
	case hasUnit && unit != "requests":
		return l, fmt.Errorf("policy %q counts %v, and requests are what is judged", name, unit)
	case !okQ || q < 1:
		return l, fmt.Errorf("policy %q has no q, its number of requests", name)
	case !okW || w < 1:
		return l, fmt.Errorf("policy %q has no w, its seconds", name)
	}
	l.Burst, l.Rate = q, scenarios.Rate{Count: q, Per: time.Duration(w) * time.Second}
	return l, nil
}

func param(item httpsfv.Item, name string) (int64, bool) {
	v, ok := item.Params.Get(name)
	if !ok {
		return 0, false
	}
	n, ok := v.(int64)
	return n, ok && n < 1<<31
}
