package traffic

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/ratehammer/ratehammer/results"
)

// csvColumns are those of the timeline, in the same order and with the same
// meaning; first_ns is empty where a request was never answered.
var csvColumns = []string{"seq", "phase", "conn", "key", "peer", "cost", "planned_ns", "sent_ns", "first_ns", "done_ns",
	"fresh", "outcome", "status", "obeyed", "retry_after", "date", "headers", "err"}

// WriteCSV writes hits as they come, under the names of their columns.
func WriteCSV(w io.Writer, hits iter.Seq[results.Hit]) error {
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
			strconv.FormatBool(h.Fresh), h.Outcome.String(), d(int64(h.Status)), d(h.Obeyed), h.RetryAfter, h.Date, h.Headers, h.Err})
		if err != nil {
			return err
		}
	}
	enc.Flush()
	return enc.Error()
}

// csv reads what WriteCSV wrote. Its moments are exact, and stay as they are.
func (b *builder) csv(r io.Reader) error {
	dec := csv.NewReader(r)
	dec.FieldsPerRecord, dec.ReuseRecord = len(csvColumns), true
	head, err := dec.Read()
	if err != nil {
		return at(0, err)
	}
	for i, name := range csvColumns {
		if head[i] != name {
			return at(1, fmt.Errorf("column %d is %q, and %s is expected", i+1, head[i], name))
		}
	}
	b.base, b.rec.Answers = 0, true
	for {
		rec, err := dec.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return at(0, err) // it names the line
		}
		line, _ := dec.FieldPos(0)
		h, err := csvHit(rec)
		if err != nil {
			return at(int64(line), err)
		}
		b.rec.Hits = append(b.rec.Hits, h)
	}
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
