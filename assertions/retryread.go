package assertions

import (
	"net/http"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// maxWait is the longest wait that is read as a number: a hundred years.
const maxWait = 100 * 365 * 24 * time.Hour

// form is how a Retry-After was written.
type form uint8

const (
	absent     form = iota // not there
	unreadable             // neither of the two forms
	delay                  // whole seconds
	date                   // an HTTP-date beside a Date
	undated                // an HTTP-date without one, which nothing can be compared with but the client's clock, and that is another
)

// retryAfter is what a Retry-After header asks for.
type retryAfter struct {
	form form
	wait time.Duration // after the answer was received; only for delay and date
}

// readRetryAfter reads Retry-After as RFC 9110 section 10.2.3 has it: whole
// seconds, or an HTTP-date, which is taken against the answer's own Date, since
// both are the server's clock.
func readRetryAfter(h *results.Hit) retryAfter {
	text := strings.TrimSpace(h.RetryAfter)
	if h.RetryAfter == "" {
		return retryAfter{}
	}
	if n, ok := seconds(text); ok {
		return retryAfter{delay, n}
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return retryAfter{form: unreadable}
	}
	now, err := http.ParseTime(h.Date)
	if err != nil {
		return retryAfter{form: undated}
	}
	return retryAfter{date, min(at.Sub(now), maxWait)}
}

// readable reports whether the wait is known.
func (r retryAfter) readable() bool { return r.form == delay || r.form == date }

// grain is how much rounding alone may add to the truth. An HTTP-date rounds
// twice: itself up, and Date down.
func (r retryAfter) grain() time.Duration {
	if r.form == date {
		return 2 * time.Second
	}
	return time.Second
}

// seconds is a string of digits as a duration, at most maxWait.
func seconds(text string) (time.Duration, bool) {
	var n time.Duration
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+time.Duration(c-'0')*time.Second, maxWait)
	}
	return n, text != ""
}

// Wait is how long a refused request is told to wait, from when its answer was
// received, and false where it was told nothing that can be obeyed.
func Wait(h *results.Hit) (time.Duration, bool) {
	r := readRetryAfter(h)
	return max(r.wait, 0), h.Outcome == results.Limited && r.readable()
}

// told is what a refusal said.
type told struct {
	seq  int64
	sent int64 // nanoseconds: when the refused request left
	at   int64 // nanoseconds: when the refusal was received
	cost int64
	wait time.Duration // what it asked for
	late time.Duration // what rounding alone may have added
}

// tells is what a refusal with a readable Retry-After said.
func (f *flight) tells() told {
	return told{seq: f.hit.Seq, sent: f.hit.Sent, at: f.hit.First, cost: f.hit.Cost,
		wait: max(f.asks.wait, 0), late: f.asks.grain()}
}
