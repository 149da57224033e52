package traffic

import (
	"bufio"
	"encoding/base64"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// shot is a result of vegeta, by the names of its fields in gob and in JSON.
type shot struct {
	Code      uint16        `json:"code"`
	Timestamp time.Time     `json:"timestamp"`
	Latency   time.Duration `json:"latency"`
	Error     string        `json:"error"`
	URL       string        `json:"url"`
	Headers   http.Header   `json:"headers"`
}

// vegeta's timestamp is taken before the request is handed to the transport, and
// its latency ends behind the body: both lie outside of the decision.
func (b *builder) vegeta(place int64, s shot) error {
	sent, err := unixNano(s.Timestamp)
	if err != nil {
		return err
	}
	if s.Latency < 0 || int64(s.Latency) > latest/4 {
		return fmt.Errorf("its latency is %v", s.Latency)
	}
	x := exchange{place: place, sent: sent, first: sent + int64(s.Latency), done: sent + int64(s.Latency),
		status: int(s.Code), req: Request{URL: s.URL}, header: s.Headers}
	if s.Code == 0 { // no answer: it may have been admitted all the same
		x.first, x.err, x.header = results.Never, s.Error, nil
	}
	return b.add(x)
}

func (b *builder) vegetaNotes() {
	b.note("vegeta's timestamp is when it sent, its latency ends with the body; both are of its wall clock, so a step of that clock is a step of this record")
}

func (b *builder) vegetaJSON(r io.Reader) error {
	b.vegetaNotes()
	return b.eachLine(r, func(line int64, text []byte) error {
		var s shot
		if err := json.Unmarshal(text, &s); err != nil {
			return fmt.Errorf("it is no result of vegeta: %w", err)
		}
		if s.Timestamp.IsZero() {
			return errors.New("it has no timestamp, which every result of vegeta has")
		}
		return b.vegeta(line, s)
	})
}

func (b *builder) vegetaGob(r io.Reader) error {
	b.vegetaNotes()
	dec := gob.NewDecoder(r)
	for n := int64(1); ; n++ {
		var s shot
		switch err := dec.Decode(&s); {
		case err == io.EOF:
			return nil
		case err != nil:
			return at(0, fmt.Errorf("result %d is no gob of vegeta: %w", n, err))
		}
		if err := b.vegeta(n, s); err != nil {
			return at(0, fmt.Errorf("result %d: %w", n, err))
		}
	}
}

// The columns of vegeta's CSV: timestamp in nanoseconds, status, latency in
// nanoseconds, bytes out and in, error, body, attack, seq, method, URL, and the
// header of the answer in base64.
func (b *builder) vegetaCSV(r io.Reader) error {
	b.vegetaNotes()
	e := &ending{from: r}
	dec := csv.NewReader(e)
	dec.FieldsPerRecord, dec.ReuseRecord = 12, true
	for {
		rec, err := dec.Read()
		if err == io.EOF {
			return nil
		}
		line := 0
		var s shot
		if err == nil {
			line, _ = dec.FieldPos(0)
			s, err = csvShot(rec)
		}
		if err == nil {
			err = b.vegeta(int64(line), s)
		}
		if err != nil {
			return b.badRow(e, dec, int64(line), err)
		}
	}
}

func csvShot(rec []string) (s shot, err error) {
	ts, err1 := strconv.ParseInt(rec[0], 10, 64)
	code, err2 := strconv.ParseUint(rec[1], 10, 16)
	latency, err3 := strconv.ParseInt(rec[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return s, fmt.Errorf("it is no result of vegeta: %w", err)
	}
	s = shot{Code: uint16(code), Timestamp: time.Unix(0, ts), Latency: time.Duration(latency), Error: rec[5], URL: rec[10]}
	if rec[11] != "" {
		lines := textproto.NewReader(bufio.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(rec[11]))))
		h, err := lines.ReadMIMEHeader()
		if err != nil && err != io.EOF {
			return s, fmt.Errorf("the header of its answer cannot be read: %w", err)
		}
		s.Headers = http.Header(h)
	}
	return s, nil
}
