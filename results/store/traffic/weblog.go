package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// The layouts that need not be given.
const (
	nginxCombined  = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
	nginxLimitLine = `$msec $remote_addr $limit_req_status $status $request_time`
	apacheCommon   = `%h %l %u %t "%r" %>s %b`
	apacheCombined = apacheCommon + ` "%{Referer}i" "%{User-agent}i"`
)

// webLogs reads the lines of a web server's log.
type webLog struct {
	builder *builder
	layouts []layout // tried in turn
	loose   bool     // what follows a layout is passed over
	ends    bool     // a time is when the request ended, as nginx has it
	starts  bool     // a time is when it began, as Apache has it; both: it is not known which

	latest int64 // of the ends so far
	shift  int64 // added to each moment, so that none lies before a cut
	spans  bool  // the log says how long each request took
}

func (b *builder) webLog(r io.Reader) error {
	w := &webLog{builder: b}
	if err := w.choose(); err != nil {
		return at(0, err)
	}
	if err := b.eachLine(r, w.line); err != nil {
		return err
	}
	w.notes()
	return nil
}

// choose takes the layouts of the format.
func (w *webLog) choose() error {
	given := w.builder.opts.Layout
	var texts []string
	read := nginxLayout
	switch w.builder.rec.Format {
	case NginxLimit:
		w.ends, w.loose = true, given == ""
		// With the request behind it, with something else, and with nothing; and each
		// of them without a decision.
		for _, behind := range []string{` "$request"`, " ", ""} {
			texts = append(texts, nginxLimitLine+behind, strings.Replace(nginxLimitLine, "$limit_req_status ", "", 1)+behind)
		}
	case Nginx:
		w.ends = true
		texts = []string{nginxCombined}
	case Apache:
		w.starts, read = true, apacheLayout
		texts = []string{apacheCombined, apacheCommon}
	case WebLog:
		w.ends, w.starts, read = true, true, apacheLayout
		texts = []string{apacheCombined, apacheCommon}
		if given != "" {
			return errors.New("a layout of whose log? Say --format nginx or --format apache with it")
		}
	}
	if given != "" {
		texts = []string{given}
	}
	for _, text := range texts {
		l, err := read(text)
		if err != nil {
			return fmt.Errorf("the layout %q: %w", text, err)
		}
		w.layouts = append(w.layouts, l)
	}
	return nil
}

func (w *webLog) notes() {
	b := w.builder
	switch {
	case w.ends && w.starts:
		b.note("nginx and Apache write the same format, and nginx the second in which a request ended, Apache the one in which it began: both are allowed for; --format nginx or --format apache is sharper")
	case w.starts:
		b.note("Apache writes the moment in which a request began")
	default:
		b.note("nginx writes the moment in which a request ended")
	}
	if !w.spans {
		b.note("the log does not say how long requests took, so that each may have begun %v before: say --longest 2s if none took longer, or log it ($request_time, %%D)", b.opts.Longest)
	}
	b.note("the log is taken to hold every request of a client: what another server admitted is not in it")
}

// moment is a time as a log tells it: it lies in [at, at+step).
type moment struct {
	at, step int64
	ok       bool
}

// line reads one line.
func (w *webLog) line(n int64, text []byte) error {
	x, err := w.parse(string(text))
	if err != nil {
		return err
	}
	x.place = n
	w.order(&x)
	return w.builder.add(x)
}

// parse takes the first layout that the line has and that makes sense of it. What is
// wrong is said by one that it has, where there is such a one.
func (w *webLog) parse(text string) (x exchange, err error) {
	e := logEntry{fields: map[string]string{}}
	var senseless error
	for _, l := range w.layouts {
		clear(e.fields)
		err = l.match(text, e.set)
		if err != nil && !(w.loose && strings.Contains(err.Error(), "follows the end")) {
			continue
		}
		if x, err = w.exchange(e); err == nil {
			return x, nil
		}
		senseless = cmp.Or(senseless, err)
	}
	if senseless != nil {
		return x, senseless
	}
	return x, fmt.Errorf("the line is not laid out as it should be: %w", err)
}

// exchange places the request: it lies between when it began, as early as the
// line allows, and when it ended, as late as it allows.
func (w *webLog) exchange(e logEntry) (x exchange, err error) {
	status, err := strconv.Atoi(e.first("status", "s"))
	if err != nil {
		return x, fmt.Errorf("its status is %q", e.first("status", "s"))
	}
	x = exchange{status: status, req: e.request(), header: e.answer(), told: e.decision()}
	began, ended, err := e.moments(w.ends, w.starts)
	if err != nil {
		return x, err
	}
	took, err := e.took()
	if err != nil {
		return x, err
	}
	if w.loose && took.ok && took.step != int64(time.Millisecond) {
		return x, fmt.Errorf("its duration is %q, and nginx writes three decimals: it is cut", e.fields["request_time"])
	}
	longest := int64(w.builder.opts.Longest)
	if took.ok {
		w.spans, longest = true, took.at+took.step
	}
	switch {
	case began.ok && ended.ok:
		x.sent, x.done = min(began.at, ended.at-longest), max(began.at+began.step+longest, ended.at+ended.step)
	case began.ok:
		x.sent, x.done = began.at, began.at+began.step+longest
	default:
		x.sent, x.done = ended.at-longest, ended.at+ended.step
	}
	x.first = x.done
	return x, nil
}

// order keeps the record in one piece where the clock of a log of ends went
// back: what follows is put behind what came before, and nothing is counted
// across. It may also be that lines were not written in their order; so
// requests may be missing from either side.
func (w *webLog) order(x *exchange) {
	if !w.ends || w.starts {
		return
	}
	if x.done+w.shift < w.latest-int64(disorder) {
		cut := w.latest
		w.shift = cut - x.sent + int64(time.Second)
		w.builder.cut(cut, x.sent+w.shift, x.place)
	}
	x.sent += w.shift
	x.first += w.shift
	x.done += w.shift
	w.latest = max(w.latest, x.done)
}

// disorder is how far the ends of lines that follow each other may go back:
// workers write at their own pace.
const disorder = 2 * time.Second

// cut marks that the clock went back between two moments.
func (b *builder) cut(from, to, line int64) {
	b.note("line %d is earlier than those before it: the clock was set back there, or the lines are not in their order; nothing is counted across it, and too little is not asked for", line)
	b.rec.Marks = append(b.rec.Marks,
		results.Mark{At: from, To: to, Kind: results.MarkWall, Size: to - from, Text: fmt.Sprintf("the clock of the log goes back at line %d", line)})
	b.rec.Partial = true
}

// logEntry is a line's values by name.
type logEntry struct{ fields map[string]string }

func (e logEntry) set(name, text string) {
	if text != "-" {
		e.fields[name] = text
	}
}

// first is the first of the values that is there.
func (e logEntry) first(names ...string) string {
	for _, n := range names {
		if v := e.fields[n]; v != "" {
			return v
		}
	}
	return ""
}

// moments are when the request began and when it ended, as far as the line says.
func (e logEntry) moments(ends, starts bool) (began, ended moment, err error) {
	for _, m := range []struct {
		name string
		to   *moment
		unit int64 // of a number; 0: it is a date
	}{
		{"msec", &ended, int64(time.Second)}, {"time_iso8601", &ended, 0}, {"time_local", &ended, 0},
		{"{begin:usec}t", &began, 1e3}, {"{usec}t", &began, 1e3}, {"{begin:msec}t", &began, 1e6}, {"{msec}t", &began, 1e6},
		{"{begin:sec}t", &began, 1e9}, {"{sec}t", &began, 1e9},
		{"{end:usec}t", &ended, 1e3}, {"{end:msec}t", &ended, 1e6}, {"{end:sec}t", &ended, 1e9}, {"t", &began, 0},
	} {
		text := e.fields[m.name]
		if text == "" || m.to.ok {
			continue
		}
		if m.unit > 0 {
			*m.to, err = number(text, m.unit)
		} else {
			*m.to, err = date(text)
		}
		if err != nil {
			return began, ended, err
		}
	}
	if ends && starts { // the same time may be either
		ended = began
	}
	if !began.ok && !ended.ok {
		return began, ended, errors.New("it has no time")
	}
	return began, ended, nil
}

// took is how long the request took.
func (e logEntry) took() (m moment, err error) {
	for _, d := range []struct {
		name string
		unit int64
	}{{"request_time", 1e9}, {"D", 1e3}, {"{us}T", 1e3}, {"{ms}T", 1e6}, {"{s}T", 1e9}, {"T", 1e9}} {
		if text := e.fields[d.name]; text != "" {
			return number(text, d.unit)
		}
	}
	return moment{}, nil
}

// number reads a decimal of a unit in nanoseconds; its last digit is the step.
func number(s string, unit int64) (moment, error) {
	r, ok := new(big.Rat), len(s) <= 32 && !strings.ContainsAny(s, "/eEpPxX_")
	if ok {
		_, ok = r.SetString(s)
	}
	if !ok {
		return moment{}, fmt.Errorf("%q is not a number of seconds", s)
	}
	step := unit
	if _, digits, ok := strings.Cut(s, "."); ok {
		for range digits {
			step = max(1, step/10)
		}
	}
	r.Mul(r, new(big.Rat).SetInt64(unit))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if n.CmpAbs(big.NewInt(latest)) > 0 {
		return moment{}, fmt.Errorf("%q is out of range", s)
	}
	return moment{n.Int64(), step, true}, nil
}

// date reads the forms in which logs write one, to the second.
func date(s string) (moment, error) {
	for _, layout := range []string{"02/Jan/2006:15:04:05 -0700", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			ns, err := unixNano(t)
			return moment{ns, int64(time.Second), true}, err
		}
	}
	return moment{}, fmt.Errorf("%q is not a time such as 02/Jan/2026:15:04:05 +0100", s)
}

// request is what the line says of who sent what.
func (e logEntry) request() Request {
	r := Request{Client: e.first("remote_addr", "realip_remote_addr", "a", "h"), URL: e.first("request_uri", "uri", "U"), Header: http.Header{}}
	if line := strings.Fields(e.first("request", "r")); r.URL == "" && len(line) > 1 {
		r.URL = line[1]
	}
	for name, v := range e.fields {
		if h, ok := strings.CutPrefix(name, "http_"); ok {
			r.Header.Set(strings.ReplaceAll(h, "_", "-"), v)
		}
		if h, ok := strings.CutSuffix(name, "}i"); ok {
			r.Header.Set(h[1:], v)
		}
		if c, ok := strings.CutPrefix(name, "cookie_"); ok {
			r.Header.Add("Cookie", c+"="+v)
		}
		if a, ok := strings.CutPrefix(name, "arg_"); ok && r.URL == "" {
			r.URL = "/?" + a + "=" + v
		}
	}
	return r
}

// answer is the header of the answer, as far as the line has it; nil: not at all.
func (e logEntry) answer() (h http.Header) {
	for name, v := range e.fields {
		field, ok := strings.CutPrefix(name, "sent_http_")
		if !ok {
			if field, ok = strings.CutSuffix(name, "}o"); !ok {
				continue
			}
			field = field[1:]
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set(strings.ReplaceAll(field, "_", "-"), v)
	}
	return h
}

// decision is what nginx says of limit_req: a request that was delayed was
// admitted, and served late; in a dry run nothing is refused.
func (e logEntry) decision() results.Outcome {
	switch e.fields["limit_req_status"] {
	case "PASSED", "DELAYED":
		return results.Admitted
	case "REJECTED":
		return results.Limited
	}
	return results.Unknown
}
