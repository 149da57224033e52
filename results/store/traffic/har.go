package traffic

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// archive is an HTTP Archive, version 1.2.
type archive struct {
	Log struct {
		Entries []entry `json:"entries"`
	} `json:"log"`
}

type entry struct {
	Started string  `json:"startedDateTime"`
	Time    float64 `json:"time"`
	Request struct {
		URL     string  `json:"url"`
		Headers []field `json:"headers"`
	} `json:"request"`
	Response struct {
		Status  int     `json:"status"`
		Headers []field `json:"headers"`
	} `json:"response"`
	Timings timings `json:"timings"`
}

type field struct{ Name, Value string }

// timings are milliseconds; -1 where a step did not take place. ssl is part of connect.
type timings struct{ Blocked, DNS, Connect, Send, Wait, Receive float64 }

// A HAR's startedDateTime is when the browser took the request up; it left when
// it had waited in the queue, and had a connection.
func (b *builder) har(r io.Reader) error {
	var a archive
	if err := json.NewDecoder(r).Decode(&a); err != nil {
		return at(0, fmt.Errorf("it is no HTTP Archive: %w", err))
	}
	for i := range a.Log.Entries {
		x, err := a.Log.Entries[i].exchange(int64(i + 1))
		if err == nil {
			err = b.add(x)
		}
		if err != nil {
			return at(0, fmt.Errorf("entry %d: %w", i+1, err))
		}
	}
	b.note("a request of an HTTP Archive left when its time in the queue, of the look-up and of the connection was over; times are of the browser's wall clock")
	return nil
}

func (e *entry) exchange(place int64) (x exchange, err error) {
	started, err := time.Parse(time.RFC3339Nano, e.Started)
	if err != nil {
		return x, fmt.Errorf("its startedDateTime is %q, where a time such as 2026-01-02T15:04:05.000Z is needed", e.Started)
	}
	taken, err := unixNano(started)
	if err != nil {
		return x, err
	}
	t := e.Timings
	before := millis(t.Blocked) + millis(t.DNS) + millis(t.Connect)
	step := resolution(e.Started)
	sent := taken + before
	x = exchange{
		place: place, sent: sent - step, status: e.Response.Status,
		first: sent + millis(t.Send) + millis(t.Wait) + step,
		done:  sent + millis(t.Send) + millis(t.Wait) + millis(t.Receive) + step,
		req:   Request{URL: e.Request.URL, Header: headerOf(e.Request.Headers)},
	}
	if x.status == 0 {
		x.first, x.err = results.Never, "no answer"
		x.done = max(x.done, taken+millis(e.Time)+step)
		x.sent = taken - step // when it left, if it did, is not known
		return x, nil
	}
	x.header = headerOf(e.Response.Headers)
	return x, nil
}

func millis(ms float64) int64 {
	if !(ms > 0) || ms > 1e10 {
		return 0
	}
	return int64(math.Round(ms * 1e6))
}

// resolution is the step of a time by its written digits, in nanoseconds.
func resolution(s string) int64 {
	step := int64(time.Second)
	for i := range s {
		if s[i] != '.' {
			continue
		}
		for _, c := range s[i+1:] {
			if c < '0' || c > '9' || step == 1 {
				break
			}
			step /= 10
		}
	}
	return step
}

func headerOf(fields []field) http.Header {
	h := http.Header{}
	for _, f := range fields {
		h.Add(f.Name, f.Value)
	}
	return h
}
