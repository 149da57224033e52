package dialect

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Answer is everything of a response that does not depend on the request. It is
// made once, so that a refusal costs no more than it must.
type Answer struct {
	Status int
	Wait   time.Duration // after which it is worth while to come back, told as Retry-After; 0: nobody knows, or the limits tell it

	contentType []string
	length      []string
	body        []byte
}

// counted is the size in bytes below which net/http counts a body by itself, for
// less than a field of ours costs.
const counted = 2000

var noStore = []string{"no-store"}

// NewAnswer gives an answer with a body, which may be empty.
func NewAnswer(status int, contentType string, body []byte) *Answer {
	return &Answer{Status: status, contentType: []string{contentType}, length: []string{strconv.Itoa(len(body))}, body: body}
}

// OK is the answer to what was let through without asking a limit.
func OK() *Answer { return NewAnswer(http.StatusOK, plainText[0], []byte("ok\n")) }

var plainText = []string{"text/plain; charset=utf-8"}

// WriteAdmitted sends the answer to what the limits have let through, and shows
// what is left of each to people who try one out.
func (v *Voice) WriteAdmitted(w http.ResponseWriter, s Standing, wall int64) {
	body := append(make([]byte, 0, 256), "ok\n"...)
	for i, d := range s.Decisions {
		body = append(body, v.policies[i].Name...)
		body = append(body, ": "...)
		body = strconv.AppendInt(body, d.Remaining, 10)
		body = append(body, " of "...)
		body = strconv.AppendInt(body, d.Limit, 10)
		body = append(body, " left"...)
		if d.Reset > 0 {
			body = append(body, ", as if unused in "...)
			body = append(body, d.Reset.String()...)
		}
		body = append(body, '\n')
	}
	h := w.Header()
	h["Date"] = v.calendar.date(wall / int64(time.Second))
	h["Content-Type"] = plainText
	h["Content-Length"] = number(int64(len(body)))
	h["Cache-Control"] = noStore
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body)
}

// Write sends an answer, with the date of the server's wall clock, which is given
// in nanoseconds since 1970: the date of net/http would be the machine's. No
// answer is to be stored: what a limiter says holds for one moment, and a request
// that a cache answers is one that no limit hears of.
func (v *Voice) Write(w http.ResponseWriter, a *Answer, wall int64) {
	h := w.Header()
	h["Date"] = v.calendar.date(wall / int64(time.Second))
	h["Cache-Control"] = noStore
	if a.Wait > 0 {
		v.retry(v, h, seconds(a.Wait), wall+int64(a.Wait))
	}
	if len(a.body) > 0 {
		h["Content-Type"] = a.contentType
	}
	if len(a.body) >= counted {
		h["Content-Length"] = a.length
	}
	w.WriteHeader(a.Status)
	if len(a.body) > 0 {
		// A client that has gone away is nobody to tell of the error.
		_, _ = w.Write(a.body)
	}
}

// calendar keeps the latest date that was asked for: within a second it is asked
// for by every answer.
type calendar struct{ last atomic.Pointer[dated] }

// dated is an HTTP date with its second since 1970.
type dated struct {
	second int64
	text   []string // the value of a field
}

func (c *calendar) date(second int64) []string {
	if d := c.last.Load(); d != nil && d.second == second {
		return d.text
	}
	d := &dated{second, []string{time.Unix(second, 0).UTC().Format(http.TimeFormat)}}
	c.last.Store(d)
	return d.text
}
