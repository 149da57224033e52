package results

import (
	"net/http"
	"slices"
	"strings"
)

// LimitFields are what a record keeps of an answer's header: the raw text of
// Retry-After and of Date, and the lines that may speak of limits, as in Hit.
func LimitFields(header http.Header) (retryAfter, date, lines string) {
	var all []string
	for name, values := range header {
		if name == "Retry-After" || !SpeaksOfLimits(name) {
			continue
		}
		for _, v := range values {
			all = append(all, strings.ToLower(name)+": "+v)
		}
	}
	slices.Sort(all)
	return strings.Join(header["Retry-After"], ", "), header.Get("Date"), strings.Join(all, "\n")
}

// SpeaksOfLimits reports whether a header field of this name may speak of limits.
func SpeaksOfLimits(name string) bool {
	n := strings.ToLower(name)
	for _, part := range []string{"ratelimit", "rate-limit", "retry", "quota", "throttl", "call-limit", "cache-control"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	return n == "age"
}
