package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// The problem types of draft-ietf-httpapi-ratelimit-headers that tell a client
// which has used up its own limit from one that is turned away because the
// server has too much to do. All other problems are about:blank, which is to
// say their status.
const (
	quotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	reducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
	noSpecialType   = "about:blank"
)

// answer is everything of a response that does not depend on the request. It is
// made once, so that a refusal costs no more than an admission.
type answer struct {
	status      int
	contentType string
	body        []byte
	retryAfter  string // empty: not given here
}

func (a *answer) write(w http.ResponseWriter, wall int64) {
	h := w.Header()
	h.Set("Date", time.Unix(0, wall).UTC().Format(http.TimeFormat))
	h.Set("Content-Type", a.contentType)
	if a.status >= 400 {
		h.Set("Cache-Control", "no-store")
	}
	if a.retryAfter != "" {
		h.Set("Retry-After", a.retryAfter)
	}
	w.WriteHeader(a.status)
	// A client that has gone away is nobody to tell of the error.
	_, _ = w.Write(a.body)
}

// ok is the answer to what was let through.
func ok() *answer {
	return &answer{status: http.StatusOK, contentType: "text/plain; charset=utf-8", body: []byte("ok\n")}
}

// problem is a refusal or error after RFC 9457. The detail is for people and
// must not hold what a client sent, which may be secret.
func problem(status int, kind, title, detail string) *answer {
	if kind == noSpecialType {
		title = http.StatusText(status) // RFC 9457 section 4.2.1
	}
	// Strings and a number always marshal.
	body, _ := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{kind, title, status, detail})
	return &answer{status: status, contentType: "application/problem+json", body: append(body, '\n')}
}

// answers are those of every mode.
type answers struct {
	admitted *answer
	limited  *answer
	noKey    *answer
	badCost  *answer
}

func newAnswers(p scenarios.Limit, costHeader string) answers {
	return answers{
		admitted: ok(),
		limited: problem(http.StatusTooManyRequests, quotaExceeded, "Limit used up",
			fmt.Sprintf("the limit of this client is %d at once and %v; wait as many seconds as Retry-After says", p.Burst, p.Rate)),
		noKey: problem(http.StatusBadRequest, noSpecialType, "",
			fmt.Sprintf("the request has no %s, by which clients are told apart; nothing was spent", keyInWords(p.Key))),
		badCost: problem(http.StatusBadRequest, noSpecialType, "",
			fmt.Sprintf("the cost in header %s must be a whole number from 1 to %d; nothing was spent", costHeader, p.Burst)),
	}
}
