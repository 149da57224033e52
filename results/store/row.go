package store

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/ratehammer/ratehammer/results"
)

// row is a Hit as the columns of a part. Names and types are part of the
// format: other tools read them.
type row struct {
	Seq        int64  `parquet:"seq,delta"`
	Phase      int32  `parquet:"phase,delta"`
	Conn       int32  `parquet:"conn,delta"`
	Key        string `parquet:"key,dict"`
	Peer       string `parquet:"peer,dict"`
	Cost       int64  `parquet:"cost,delta"`
	Planned    int64  `parquet:"planned_ns,delta"`
	Sent       int64  `parquet:"sent_ns,delta"`
	First      *int64 `parquet:"first_ns,optional"` // null: never answered; delta encoded by a default of the writer, as the tag allows it on no pointer
	Done       int64  `parquet:"done_ns,delta"`
	Fresh      bool   `parquet:"fresh"`
	Outcome    string `parquet:"outcome,dict"`
	Status     int32  `parquet:"status,delta"`
	Obeyed     int64  `parquet:"obeyed,delta"`
	RetryAfter string `parquet:"retry_after,optional,dict"` // this and the next three: empty is null
	Date       string `parquet:"date,optional,dict"`
	Headers    string `parquet:"headers,optional,dict"`
	Err        string `parquet:"err,optional,dict"`
}

// set fills the row from a hit, which it points into.
func (r *row) set(h *results.Hit) {
	*r = row{
		Seq: h.Seq, Phase: h.Phase, Conn: h.Conn, Key: text(h.Key), Peer: text(h.Peer), Cost: h.Cost,
		Planned: h.Planned, Sent: h.Sent, Done: h.Done, Fresh: h.Fresh,
		Outcome: h.Outcome.String(), Status: h.Status, Obeyed: h.Obeyed,
		RetryAfter: text(h.RetryAfter), Date: text(h.Date), Headers: text(h.Headers), Err: text(h.Err),
	}
	if h.Answered() {
		r.First = &h.First
	}
}

// text is s with each byte that is not UTF-8 written as \xNN. A server may put
// any byte into a header, and one such value in a column of strings makes
// DuckDB refuse the whole file.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// cell puts a value of one column into a hit.
type cell func(h *results.Hit, v parquet.Value, in interner) error

// cells has the columns in the order of row.
var cells = [...]cell{
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Seq = v.Int64(); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Phase = v.Int32(); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Conn = v.Int32(); return nil },
	func(h *results.Hit, v parquet.Value, in interner) error { h.Key = in.text(v); return nil },
	func(h *results.Hit, v parquet.Value, in interner) error { h.Peer = in.text(v); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Cost = v.Int64(); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Planned = v.Int64(); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Sent = v.Int64(); return nil },
	setFirst,
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Done = v.Int64(); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Fresh = v.Boolean(); return nil },
	setOutcome,
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Status = v.Int32(); return nil },
	func(h *results.Hit, v parquet.Value, _ interner) error { h.Obeyed = v.Int64(); return nil },
	func(h *results.Hit, v parquet.Value, in interner) error { h.RetryAfter = in.text(v); return nil },
	func(h *results.Hit, v parquet.Value, in interner) error { h.Date = in.text(v); return nil },
	func(h *results.Hit, v parquet.Value, in interner) error { h.Headers = in.text(v); return nil },
	func(h *results.Hit, v parquet.Value, in interner) error { h.Err = in.text(v); return nil },
}

func setFirst(h *results.Hit, v parquet.Value, _ interner) error {
	h.First = results.Never
	if !v.IsNull() {
		h.First = v.Int64()
	}
	return nil
}

func setOutcome(h *results.Hit, v parquet.Value, in interner) (err error) {
	h.Outcome, err = results.ParseOutcome(in.text(v))
	return err
}

// interner keeps one copy of each text: the values of a column repeat, and a
// million hits would else carry a million copies of the same Date.
type interner map[string]string

// internerMax bounds an interner where every text is another one.
const internerMax = 1 << 16

func (in interner) text(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	b := v.ByteArray()
	if s, ok := in[string(b)]; ok {
		return s
	}
	if len(in) >= internerMax {
		clear(in)
	}
	s := string(b)
	in[s] = s
	return s
}
