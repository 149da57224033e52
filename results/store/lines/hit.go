package lines

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ratehammer/ratehammer/results"
)

// line is a hit as it is written. What is absent has a default, so that a hit
// written by hand is short: see hit.
type line struct {
	Seq        *int64  `json:"seq,omitempty"`
	Phase      int32   `json:"phase,omitempty"`
	Conn       int32   `json:"conn,omitempty"`
	Key        string  `json:"key,omitempty"`
	Peer       string  `json:"peer,omitempty"`
	Cost       *int64  `json:"cost,omitempty"`
	Planned    *int64  `json:"planned_ns,omitempty"`
	Sent       *int64  `json:"sent_ns,omitempty"`
	At         *string `json:"at,omitempty"` // sent_ns as a duration
	First      *int64  `json:"first_ns,omitempty"`
	RTT        *string `json:"rtt,omitempty"` // first_ns - sent_ns as a duration
	Done       *int64  `json:"done_ns,omitempty"`
	Fresh      bool    `json:"fresh,omitempty"`
	Outcome    string  `json:"outcome,omitempty"`
	Status     int32   `json:"status,omitempty"`
	Obeyed     int64   `json:"obeyed,omitempty"`
	RetryAfter string  `json:"retry_after,omitempty"`
	Date       string  `json:"date,omitempty"`
	Headers    string  `json:"headers,omitempty"`
	Err        string  `json:"err,omitempty"`
}

const hitExample = `{"sent_ns":0,"first_ns":2000000,"status":200} or {"at":"1.5s","rtt":"2ms","outcome":"limited"}`

// hit fills in what the line leaves out: seq is its place among the hits, cost
// 1, planned_ns the same as sent_ns, done_ns the same as first_ns. Without
// first_ns and rtt the request was never answered.
func (l line) hit(place int64) (results.Hit, error) {
	h := results.Hit{
		Seq: or(l.Seq, place), Phase: l.Phase, Conn: l.Conn, Key: l.Key, Peer: l.Peer, Cost: or(l.Cost, 1),
		Fresh: l.Fresh, Status: l.Status, Obeyed: l.Obeyed,
		RetryAfter: l.RetryAfter, Date: l.Date, Headers: l.Headers, Err: l.Err,
	}
	if err := l.times(&h); err != nil {
		return h, err
	}
	if err := l.outcome(&h); err != nil {
		return h, err
	}
	return h, check(h)
}

func (l line) times(h *results.Hit) error {
	sent, err := moment("sent_ns", l.Sent, "at", l.At, 0)
	if err != nil {
		return err
	}
	if sent == nil {
		return errors.New("it does not say when it was sent: give sent_ns or at")
	}
	first, err := moment("first_ns", l.First, "rtt", l.RTT, *sent)
	if err != nil {
		return err
	}
	h.Sent, h.First = *sent, or(first, results.Never)
	h.Planned, h.Done = or(l.Planned, h.Sent), or(l.Done, h.First)
	return nil
}

// moment is the one given of two forms: nanoseconds, or a duration after base.
func moment(name string, ns *int64, other string, text *string, base int64) (*int64, error) {
	if text == nil {
		return ns, nil
	}
	if ns != nil {
		return nil, fmt.Errorf("it has %s and %s, which say the same: give one", name, other)
	}
	d, err := time.ParseDuration(*text)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("%s is %q: give a duration such as 1.5s or 2ms", other, *text)
	}
	at := base + int64(d)
	return &at, nil
}

// outcome takes it from the status where it is not given: 429 is limited,
// 200-399 admitted. Any other status needs a word: whether a 503 came from the
// limiter is what no number tells.
func (l line) outcome(h *results.Hit) error {
	var err error
	switch {
	case l.Outcome != "":
		h.Outcome, err = results.ParseOutcome(l.Outcome)
	case h.Status == 429:
		h.Outcome = results.Limited
	case h.Status >= 200 && h.Status <= 399:
		h.Outcome = results.Admitted
	case h.Answered():
		err = fmt.Errorf("status %d leaves its outcome open: give outcome as unknown, admitted, limited or other", h.Status)
	}
	return err
}

// check refuses a hit that cannot have been.
func check(h results.Hit) error {
	switch {
	case h.Seq < 1:
		return fmt.Errorf("seq is %d: the first one is 1", h.Seq)
	case h.Cost < 1:
		return fmt.Errorf("cost is %d: a request asks for at least 1 token", h.Cost)
	case h.Sent < 0:
		return fmt.Errorf("it was sent at %d ns: moments count from the run's start, give 0 or more", h.Sent)
	case h.First < h.Sent:
		return fmt.Errorf("it was answered at %d ns, before it was sent at %d ns", h.First, h.Sent)
	case h.Answered() && h.Done < h.First || h.Done < h.Sent:
		return fmt.Errorf("it was done at %d ns, before its answer began or it was sent", h.Done)
	case !h.Answered() && (h.Outcome == results.Admitted || h.Outcome == results.Limited):
		return fmt.Errorf("its outcome is %v and it was never answered: give first_ns or rtt", h.Outcome)
	}
	for _, s := range []string{h.Key, h.Peer, h.RetryAfter, h.Date, h.Headers, h.Err} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%q is not UTF-8, which JSON is written in", s)
		}
	}
	_, err := results.ParseOutcome(h.Outcome.String())
	return err
}

func or(p *int64, otherwise int64) int64 {
	if p == nil {
		return otherwise
	}
	return *p
}

// lineOf is the shortest line that gives h at that place.
func lineOf(h results.Hit, place int64) line {
	unless := func(v, otherwise int64) *int64 {
		if v == otherwise {
			return nil
		}
		return &v
	}
	return line{
		Seq: unless(h.Seq, place), Phase: h.Phase, Conn: h.Conn, Key: h.Key, Peer: h.Peer, Cost: unless(h.Cost, 1),
		Planned: unless(h.Planned, h.Sent), Sent: &h.Sent, First: unless(h.First, results.Never), Done: unless(h.Done, h.First),
		Fresh: h.Fresh, Outcome: h.Outcome.String(), Status: h.Status, Obeyed: h.Obeyed,
		RetryAfter: h.RetryAfter, Date: h.Date, Headers: h.Headers, Err: h.Err,
	}
}
