package traffic

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// hey writes seconds with four digits: each may be off by half of the last one.
const heyRounding = 50 * time.Microsecond

// hey's offset is when a worker began the request, before it had a connection;
// the answer began Response-read before the end.
func (b *builder) hey(r io.Reader) error {
	b.rec.Partial = true
	b.note("hey writes times in tenths of a millisecond; each request is taken to have been under way half of one longer on both sides")
	b.note("hey leaves out the requests that failed, which may have been admitted: too much admitted is a proof, too little is not, and is not asked for")
	return b.table(r, []string{"response-time", "Response-read", "status-code", "offset"}, func(line int64, v []float64) error {
		sent := nanos(v[3])
		end := sent + nanos(v[0])
		// Each of the three figures is rounded.
		return b.add(exchange{place: line, sent: sent - int64(heyRounding), first: max(sent, end-nanos(v[1])) + 3*int64(heyRounding),
			done: end + 3*int64(heyRounding), status: int(v[2])})
	})
}

// oha's times are exact; a Response-delay of zero is one that was not measured.
func (b *builder) oha(r io.Reader) error {
	b.rec.Partial = true
	b.note("oha leaves out the requests that failed, which may have been admitted: too much admitted is a proof, too little is not, and is not asked for")
	return b.table(r, []string{"request-start", "request-duration", "Response-delay", "status"}, func(line int64, v []float64) error {
		sent := nanos(v[0])
		end := sent + nanos(v[1]) + 2
		first := end
		if v[2] > 0 {
			first = min(end, sent+nanos(v[2])+2)
		}
		return b.add(exchange{place: line, sent: sent - 1, first: first, done: end, status: int(v[3])})
	})
}

func nanos(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

// table reads the named columns of a CSV file as numbers.
func (b *builder) table(r io.Reader, names []string, f func(line int64, v []float64) error) error {
	e := &ending{from: r}
	dec := csv.NewReader(e)
	dec.ReuseRecord = true
	head, err := dec.Read()
	if err != nil {
		return at(1, fmt.Errorf("the names of the columns cannot be read: %w", err))
	}
	places, err := columns(head, names)
	if err != nil {
		return at(1, err)
	}
	v := make([]float64, len(names))
	for {
		rec, err := dec.Read()
		if err == io.EOF {
			return nil
		}
		line := 0
		if err == nil {
			line, _ = dec.FieldPos(0)
			err = numbers(v, rec, places, names)
		}
		if err == nil {
			err = f(int64(line), v)
		}
		if err != nil {
			return b.badRow(e, dec, int64(line), err)
		}
	}
}

// numbers reads the columns at the places into v.
func numbers(v []float64, rec []string, places []int, names []string) (err error) {
	for i, p := range places {
		if v[i], err = strconv.ParseFloat(rec[p], 64); err != nil || !(math.Abs(v[i]) < 1e9) {
			return fmt.Errorf("%s is %q, where a number is needed", names[i], rec[p])
		}
	}
	return nil
}

// columns are the places of names among the names of all columns.
func columns(head, names []string) (places []int, err error) {
	for _, name := range names {
		found := -1
		for i, h := range head {
			if h == name {
				found = i
			}
		}
		if found < 0 {
			return nil, fmt.Errorf("there is no column %s", name)
		}
		places = append(places, found)
	}
	return places, nil
}
