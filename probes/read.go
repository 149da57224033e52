package probes

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// Read records an answer: what it means by the declared answers, and the raw
// text of the headers that speak of limits.
func (g *Gun) Read(h *results.Hit, res *http.Response) {
	h.Status = int32(res.StatusCode)
	h.Outcome = g.outcome(res.StatusCode, res.Header)
	h.RetryAfter = strings.Join(res.Header["Retry-After"], ", ")
	h.Date = res.Header.Get("Date")
	h.Headers = limitHeaders(res.Header)
}

func (g *Gun) outcome(status int, header http.Header) results.Outcome {
	switch a := g.target.Answers; {
	case a.Limited.Covers(status, header):
		return results.Limited
	case a.Admitted.Covers(status, header):
		return results.Admitted
	case status >= 500:
		return results.Unknown // the limiter may have let it through to what failed
	}
	return results.Other
}

// limitHeaders are the lines of a header that may speak of a limit.
func limitHeaders(header http.Header) string {
	var lines []string
	for name, values := range header {
		if name == "Retry-After" || !speaksOfLimits(name) {
			continue
		}
		for _, v := range values {
			lines = append(lines, strings.ToLower(name)+": "+v)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func speaksOfLimits(name string) bool {
	n := strings.ToLower(name)
	for _, part := range []string{"ratelimit", "rate-limit", "retry", "quota", "throttl", "call-limit", "cache-control"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	return n == "age"
}
