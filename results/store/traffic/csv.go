package traffic

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// csvColumns are those of the timeline, in the same order and with the same
// meaning; first_ns is empty where a request was never answered. Behind them stand
// whether a request was sent after a breach, to find what it comes from, and the step of
// the client's clock, by which an end may be too early: it is the same in all rows.
// Files of before have neither.
var csvColumns = []string{"seq", "phase", "conn", "key", "peer", "cost", "planned_ns", "sent_ns", "first_ns", "done_ns",
	"fresh", "outcome", "status", "obeyed", "retry_after", "date", "headers", "err", "follow_up", "tick_ns"}

// Places of columns.
const (
	followUp = 18 // and how many columns files of before have
	tick     = 19
)

// WriteCSV writes hits as they come, under the names of their columns. Of their phases
// so many, from the first on, ask whether the promise is kept; step is that of the
// client's clock.
func WriteCSV(w io.Writer, asked int, step time.Duration, hits iter.Seq[results.Hit]) error {
	enc := csv.NewWriter(w)
	if err := enc.Write(csvColumns); err != nil {
		return err
	}
	d := func(n int64) string { return strconv.FormatInt(n, 10) }
	for h := range hits {
		first := ""
		if h.Answered() {
			first = d(h.First)
		}
		err := enc.Write([]string{d(h.Seq), d(int64(h.Phase)), d(int64(h.Conn)), h.Key, h.Peer, d(h.Cost), d(h.Planned), d(h.Sent), first, d(h.Done),
			strconv.FormatBool(h.Fresh), h.Outcome.String(), d(int64(h.Status)), d(h.Obeyed), h.RetryAfter, h.Date, h.Headers, h.Err, strconv.FormatBool(int(h.Phase) >= asked), d(int64(step))})
		if err != nil {
			return err
		}
	}
	enc.Flush()
	return enc.Error()
}

// csv reads what WriteCSV wrote. Its moments are exact, and stay as they are.
func (b *builder) csv(r io.Reader) error {
	e := &ending{from: r}
	dec := csv.NewReader(e)
	dec.ReuseRecord = true // the head says how many fields there are
	head, err := dec.Read()
	if err != nil {
		return at(0, err)
	}
	if len(head) != len(csvColumns) && len(head) != followUp {
		return at(1, fmt.Errorf("%d columns, and %d are expected", len(head), len(csvColumns)))
	}
	for i, name := range csvColumns[:len(head)] {
		if head[i] != name {
			return at(1, fmt.Errorf("column %d is %q, and %s is expected", i+1, head[i], name))
		}
	}
	b.base, b.rec.Answers = 0, true
	later, last := false, int32(-1)
	for {
		rec, err := dec.Read()
		if err == io.EOF {
			break
		}
		line := int64(0)
		if err == nil {
			n, _ := dec.FieldPos(0)
			line = int64(n)
			var h results.Hit
			var step time.Duration
			if h, step, err = csvRow(rec); err == nil {
				follows := len(rec) > followUp && rec[followUp] == "true"
				if later = later || follows; !follows {
					last = max(last, h.Phase)
				}
				b.rec.Tick = max(b.rec.Tick, step)
				b.rec.Hits = append(b.rec.Hits, h)
			}
		}
		if err == nil {
			continue
		}
		if err := b.badRow(e, dec, line, err); err != nil {
			return err
		}
		break
	}
	if later {
		b.rec.Asked = int(last) + 1
	}
	return nil
}

// csvRow is a row's hit and the step of the client's clock; 0: the row has none.
func csvRow(rec []string) (h results.Hit, step time.Duration, err error) {
	if h, err = csvHit(rec); err != nil || len(rec) <= followUp {
		return h, 0, err
	}
	step, err = time.ParseDuration(rec[tick] + "ns")
	if err != nil || step < 0 {
		return h, 0, fmt.Errorf("tick_ns is %q, where a whole number of 0 or more is needed", rec[tick])
	}
	return h, step, nil
}

func csvHit(rec []string) (results.Hit, error) {
	var errs []error
	number := func(i, bits int) int64 {
		n, err := strconv.ParseInt(rec[i], 10, bits)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s is %q, where a whole number is needed", csvColumns[i], rec[i]))
		}
		return n
	}
	h := results.Hit{Seq: number(0, 64), Phase: int32(number(1, 32)), Conn: int32(number(2, 32)), Key: rec[3], Peer: rec[4], Cost: number(5, 64),
		Planned: number(6, 64), Sent: number(7, 64), First: results.Never, Done: number(9, 64), Fresh: rec[10] == "true",
		Status: int32(number(12, 32)), Obeyed: number(13, 64), RetryAfter: rec[14], Date: rec[15], Headers: rec[16], Err: rec[17]}
	if rec[8] != "" {
		h.First = number(8, 64)
	}
	var err error
	if h.Outcome, err = results.ParseOutcome(rec[11]); err != nil {
		errs = append(errs, err)
	}
	switch {
	case len(errs) > 0:
	case h.Cost < 1:
		errs = append(errs, fmt.Errorf("cost is %d: give 1 or more", h.Cost))
	case h.Done < h.Sent || h.Answered() && (h.First < h.Sent || h.Done < h.First):
		errs = append(errs, fmt.Errorf("it was sent at %d ns, answered at %s and done at %d ns, which is not their order", h.Sent, rec[8], h.Done))
	case !h.Answered() && (h.Outcome == results.Admitted || h.Outcome == results.Limited):
		errs = append(errs, fmt.Errorf("its outcome is %v and it was never answered", h.Outcome))
	}
	return h, errors.Join(errs...)
}
