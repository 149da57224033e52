package results

import (
	"net/http"
	"strings"
	"time"
)

// RetryForm is how a Retry-After was written.
type RetryForm uint8

// The forms.
const (
	RetryAbsent     RetryForm = iota // it is not there
	RetryUnreadable                  // neither whole seconds nor an HTTP-date
	RetrySeconds                     // whole seconds
	RetryDate                        // an HTTP-date beside a Date
	RetryUndated                     // an HTTP-date without a Date, which only the client's clock could be compared with, and that is another
)

// RetryAfter is what a Retry-After header asks for.
type RetryAfter struct {
	Form RetryForm
	Wait time.Duration // from when the answer was received; an HTTP-date may lie in the past; 0 where it is not Readable
}

// maxWait is the longest wait that is read as a number: a hundred years.
const maxWait = 100 * 365 * 24 * time.Hour

// Asks reads the hit's Retry-After as RFC 9110 section 10.2.3 has it: whole
// seconds, or an HTTP-date, which is taken against the answer's own Date, since
// both are the server's clock.
func (h *Hit) Asks() RetryAfter {
	if h.RetryAfter == "" {
		return RetryAfter{}
	}
	text := strings.TrimSpace(h.RetryAfter)
	if n, ok := seconds(text); ok {
		return RetryAfter{RetrySeconds, n}
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return RetryAfter{Form: RetryUnreadable}
	}
	now, err := http.ParseTime(h.Date)
	if err != nil {
		return RetryAfter{Form: RetryUndated}
	}
	return RetryAfter{RetryDate, min(at.Sub(now), maxWait)}
}

// Readable reports whether the wait is known.
func (r RetryAfter) Readable() bool { return r.Form == RetrySeconds || r.Form == RetryDate }

// Grain is how much rounding alone may add to the truth. An HTTP-date rounds
// twice: itself up, and Date down.
func (r RetryAfter) Grain() time.Duration {
	if r.Form == RetryDate {
		return 2 * time.Second
	}
	return time.Second
}

// seconds is a string of digits as a duration, at most maxWait.
func seconds(text string) (time.Duration, bool) {
	var n time.Duration // seconds
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+time.Duration(c-'0'), maxWait/time.Second)
	}
	return n * time.Second, text != ""
}
