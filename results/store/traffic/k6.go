package traffic

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// point is a line of k6's JSON output.
type point struct {
	Type   string `json:"type"`
	Metric string `json:"metric"`
	Data   struct {
		Time  time.Time         `json:"time"`
		Value float64           `json:"value"`
		Tags  map[string]string `json:"tags"`
	} `json:"data"`
}

// A point of http_req_duration is stamped when the answer was complete, and its
// value is how long sending, waiting and receiving took together: the request
// was sent that long before. The value is a float of milliseconds, hence the
// microsecond on each side.
func (b *builder) k6(r io.Reader) error {
	dropped := 0.0
	err := b.eachLine(r, func(line int64, text []byte) error {
		var p point
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("it is no line of k6: %w", err)
		}
		switch {
		case p.Type != "Point":
			return nil
		case p.Metric == "dropped_iterations":
			dropped += p.Data.Value
			return nil
		case p.Metric != "http_req_duration":
			return nil
		}
		x, err := p.exchange(line)
		if err != nil {
			return err
		}
		return b.add(x)
	})
	b.note("k6 stamps the moment when an answer was complete: each request was sent its duration before that; both are of its wall clock")
	if dropped > 0 {
		b.note("k6 dropped %v planned iterations: they were never sent", dropped)
	}
	return err
}

func (p *point) exchange(line int64) (x exchange, err error) {
	ns := p.Data.Value * 1e6
	if math.IsNaN(ns) || ns < 0 || ns > float64(365*24*time.Hour) {
		return x, fmt.Errorf("a duration of %v ms cannot be", p.Data.Value)
	}
	if p.Data.Time.IsZero() {
		return x, fmt.Errorf("it has no time")
	}
	done, err := unixNano(p.Data.Time)
	if err != nil {
		return x, err
	}
	end := done + int64(time.Microsecond)
	x = exchange{place: line, sent: done - int64(math.Ceil(ns)) - int64(time.Microsecond), first: end, done: end, req: Request{URL: p.Data.Tags["url"]}}
	status := p.Data.Tags["status"]
	if x.status, err = strconv.Atoi(status); err != nil {
		return x, fmt.Errorf("its status is %q", status)
	}
	if x.status == 0 {
		x.first, x.err = results.Never, "error "+p.Data.Tags["error_code"]
	}
	return x, nil
}
