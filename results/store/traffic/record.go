package traffic

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Options say how a file is to be read.
type Options struct {
	// Format is who wrote it; empty: that is found out.
	Format Format
	// Layout is how the lines of a web server's log are laid out, as its
	// configuration has it, where that is not the combined format.
	Layout string
	// Longest is how long a request may have taken at most, where the source does
	// not say how long each took; 0: a minute, which is what servers and clients
	// mostly wait at most.
	Longest time.Duration
	// Outcome is what an answer means. The header is nil where the source has none.
	Outcome func(status int, header http.Header) results.Outcome
	// Key is the client that sent a request, or why that cannot be told; nil: all
	// requests are one client's.
	Key func(Request) (string, error)
}

// Request is what a source tells of a request, so that its client can be told.
type Request struct {
	Client string      // address it came from; empty: not recorded
	URL    string      // with its query, perhaps without scheme and host; empty: not recorded
	Header http.Header // of the request, as far as it was recorded; nil: it was not
}

// Record is a file that was read.
type Record struct {
	Format  Format
	Start   time.Time // wall clock of the record's moment zero; zero: the source has none
	Hits    []results.Hit
	Marks   []results.Mark
	Answers bool          // header fields of the answers are on record, so that Retry-After can be asked for
	Partial bool          // requests may be missing from it, so that a refusal may have had a reason that it does not show
	Asked   int           // so many phases, from the first on, ask whether the promise is kept; what is behind them was sent after a breach; 0: all ask
	Tick    time.Duration // step of the recorder's clock, by which an end may be too early; 0: the ends are late enough
	Notes   []string      // what the source's times mean, what was assumed, and what cannot be asked, for people
}

// exchange is one request as a source tells of it: moments in nanoseconds on
// its own clock.
type exchange struct {
	place  int64 // line, or place in the list, from 1
	sent   int64 // no later than the request can have reached the limiter
	first  int64 // no earlier than the answer came; results.Never: none came
	done   int64
	status int
	req    Request
	header http.Header     // of the answer; nil: not recorded
	told   results.Outcome // what the source itself says of the limiter's decision; Unknown: nothing
	err    string          // what went wrong; empty: nothing
}

// latest is the latest moment that can be reckoned with, in nanoseconds since
// 1970: in the year 2116, so that sums of two stay within an int64.
const latest int64 = 1 << 62

// unixNano is a wall clock's moment as a number.
func unixNano(t time.Time) (int64, error) {
	if t.Unix() < 0 || t.Unix() > latest/int64(time.Second) {
		return 0, fmt.Errorf("the time %v is out of range: it is to lie between 1970 and 2116", t)
	}
	return t.UnixNano(), nil
}

// builder makes a record from exchanges.
type builder struct {
	opts Options
	rec  Record
	base int64 // the smallest moment
}

func newBuilder(f Format, o Options) *builder {
	if o.Longest == 0 {
		o.Longest = time.Minute
	}
	return &builder{opts: o, rec: Record{Format: f}, base: math.MaxInt64}
}

func (b *builder) note(format string, args ...any) {
	b.rec.Notes = append(b.rec.Notes, fmt.Sprintf(format, args...))
}

// add takes an exchange, or says what is wrong with it.
func (b *builder) add(x exchange) error {
	key := ""
	if b.opts.Key != nil {
		var err error
		if key, err = b.opts.Key(x.req); err != nil {
			return err
		}
	}
	if x.done < x.sent || x.first != results.Never && x.first < x.sent {
		return fmt.Errorf("it ended %v before it began", time.Duration(x.sent-x.done))
	}
	h := results.Hit{
		Seq: x.place, Key: key, Cost: 1, Planned: x.sent, Sent: x.sent, First: x.first, Done: x.done, Status: int32(x.status), Err: x.err,
	}
	h.Outcome = b.outcome(x)
	if x.header != nil {
		b.rec.Answers = true
		h.RetryAfter, h.Date, h.Headers = results.LimitFields(x.header)
	}
	b.base = min(b.base, x.sent)
	b.rec.Hits = append(b.rec.Hits, h)
	return nil
}

func (b *builder) outcome(x exchange) results.Outcome {
	switch {
	case x.first == results.Never || x.status == 0:
		return results.Unknown
	case x.told != results.Unknown:
		return x.told
	}
	return b.opts.Outcome(x.status, x.header)
}

// record puts the hits on a clock that begins with the first of them.
func (b *builder) record(wall bool) (*Record, error) {
	r := &b.rec
	if len(r.Hits) == 0 {
		return nil, fmt.Errorf("there is no request in it")
	}
	for i := range r.Hits {
		h := &r.Hits[i]
		h.Planned -= b.base
		h.Sent -= b.base
		h.Done -= b.base
		if h.Answered() {
			h.First -= b.base
		}
	}
	for i := range r.Marks {
		r.Marks[i].At -= b.base
		if r.Marks[i].To != results.Never {
			r.Marks[i].To -= b.base
		}
	}
	if wall {
		r.Start = time.Unix(0, b.base)
	}
	if r.Partial {
		r.Marks = append(r.Marks, results.Mark{To: results.Never, Kind: results.MarkLost, Text: "the source leaves requests out"})
	}
	slices.SortStableFunc(r.Hits, func(x, y results.Hit) int {
		return cmp.Or(cmp.Compare(x.Done, y.Done), cmp.Compare(x.Seq, y.Seq))
	})
	if !r.Answers {
		b.note("it holds no header fields of the answers: Retry-After and what else is told of limits cannot be judged from it")
	}
	return r, nil
}
