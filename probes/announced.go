package probes

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/fields"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Announced reads the promise that a server makes in RateLimit-Policy: q
// requests in every w seconds, as "name";q=10;w=2
// (draft-ietf-httpapi-ratelimit-headers from -08 on, section 3.1) or as 10;w=2
// (-07 and before). It says neither by which algorithm nor for whom. Burst is q for
// those who know that it is a bucket. Where there is a header that promises nothing
// usable, why says so.
func Announced(header http.Header) (limits []scenarios.Limit, why string) {
	text := strings.Join(header.Values("RateLimit-Policy"), ", ")
	if text == "" {
		return nil, ""
	}
	told := fields.Read(&results.Hit{Headers: "ratelimit-policy: " + text})
	if len(told.Faults) > 0 {
		return nil, strings.Join(told.Faults, "; ")
	}
	for _, p := range told.Policies {
		l, err := policy(p)
		if err != nil {
			return nil, fmt.Sprintf("RateLimit-Policy %q: %v", text, err)
		}
		limits = append(limits, l)
	}
	return limits, ""
}

func policy(p fields.Policy) (scenarios.Limit, error) {
	l := scenarios.Limit{Name: p.Name, Slack: scenarios.DefaultSlack()}
	called := fmt.Sprintf("policy %q", p.Name)
	if p.Name == "" {
		called = fmt.Sprintf("the policy of %d", p.Quota)
	}
	switch {
	case !p.Requests():
		return l, fmt.Errorf("%s counts %s, and requests are what is judged", called, p.Unit)
	case p.Quota < 1 || p.Quota >= 1<<31:
		return l, fmt.Errorf("%s admits %d, which is no number of requests that can be asked for", called, p.Quota)
	case p.Window < time.Second:
		return l, fmt.Errorf("%s has no w, its seconds", called)
	}
	l.Burst, l.Rate = p.Quota, scenarios.Rate{Count: p.Quota, Per: p.Window}
	return l, nil
}
