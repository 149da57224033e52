package traffic

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

func byStatus(status int, header http.Header) results.Outcome {
	return results.OutcomeOf(status, status == 429 || status == 503, status >= 200 && status < 400)
}

// read finds out the format and reads.
func read(t *testing.T, text string, o Options) *Record {
	t.Helper()
	f, r, err := Open(strings.NewReader(text))
	if o.Format == "" {
		if err != nil {
			t.Fatal(err)
		}
		o.Format = f
	}
	o.Outcome = byStatus
	rec, err := Read(r, "x", o)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// span is where a request lies, in milliseconds since the record's first moment.
type span struct {
	seq         int64
	sent, first float64 // first -1: never answered
	outcome     results.Outcome
}

func spans(r *Record) (all []span) {
	for _, h := range r.Hits {
		s := span{h.Seq, float64(h.Sent) / 1e6, -1, h.Outcome}
		if h.Answered() {
			s.first = float64(h.First) / 1e6
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b span) int { return int(a.seq - b.seq) })
	return all
}

// TestReadings: what each source's times mean, with the arithmetic.
func TestReadings(t *testing.T) {
	tests := []struct {
		name, text string
		opts       Options
		format     Format
		start      string // of moment zero, UTC
		want       []span
	}{
		{
			name:   "vegeta: the timestamp is the start; no answer is unknown; lines are in no order",
			format: Vegeta, start: "08:00:00.0005",
			text: `{"attack":"","seq":0,"code":200,"timestamp":"2026-03-01T09:00:00.000500+01:00","latency":2000000,"headers":{"X-Ratelimit-Remaining":["3"]}}
{"attack":"","seq":2,"code":429,"timestamp":"2026-03-01T09:00:00.0505+01:00","latency":500000,"headers":{"Retry-After":["2"]}}
{"attack":"","seq":1,"code":0,"timestamp":"2026-03-01T09:00:00.0255+01:00","latency":10000000000,"error":"timeout","headers":null}
`,
			want: []span{{1, 0, 2, results.Admitted}, {2, 50, 50.5, results.Limited}, {3, 25, -1, results.Unknown}},
		},
		{
			// Sent at 08:00:00.000 both, a microsecond allowed on each side.
			name: "k6: the time is the end", format: K6, start: "07:59:59.999999",
			text: `{"type":"Metric","data":{"name":"http_req_duration","type":"trend"},"metric":"http_req_duration"}
{"type":"Point","data":{"time":"2026-03-01T08:00:03Z","value":3000.0,"tags":{"status":"200","url":"http://a.example/"}},"metric":"http_req_duration"}
{"type":"Point","data":{"time":"2026-03-01T08:00:00.02Z","value":20,"tags":{"status":"429"}},"metric":"http_req_duration"}
{"type":"Point","data":{"time":"2026-03-01T08:00:00.5Z","value":400,"tags":{"status":"0","error_code":"1050"}},"metric":"http_req_duration"}
{"type":"Point","data":{"time":"2026-03-01T08:00:01Z","value":7,"tags":{}},"metric":"dropped_iterations"}
`,
			want: []span{{2, 0, 3000.002, results.Admitted}, {3, 0, 20.002, results.Limited}, {4, 100, -1, results.Unknown}},
		},
		{
			// Entry 1 left at .100 + 2 + 3 = .105 and was answered 0.5 + 10 later; a
			// millisecond allowed on each side. Entry 2 has no answer: it may have left
			// when it was taken up, or never.
			name: "HAR: it leaves behind the queue", format: HAR, start: "08:00:00.104",
			text: `{"log":{"version":"1.2","entries":[
{"startedDateTime":"2026-03-01T08:00:00.100Z","time":16,"request":{"url":"https://a.example/","headers":[]},"response":{"status":204,"headers":[{"name":"ratelimit-remaining","value":"1"}]},"timings":{"blocked":2,"dns":-1,"connect":3,"ssl":1,"send":0.5,"wait":10,"receive":0.5}},
{"startedDateTime":"2026-03-01T08:00:00.200Z","time":12,"request":{"url":"https://a.example/","headers":[]},"response":{"status":0,"headers":[]},"timings":{"blocked":12,"send":0,"wait":0,"receive":0}}]}}`,
			want: []span{{1, 0, 12.5, results.Admitted}, {2, 95, -1, results.Unknown}},
		},
		{
			// The offset is rounded to 0.1 ms, and so are the two others.
			name: "hey", format: Hey,
			text: "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n" +
				"0.0040,0.0010,0.0000,0.0001,0.0020,0.0010,200,0.0100\n0.0010,0,0,0,0.001,0.0000,429,0.0200\n",
			want: []span{{2, 0, 3.2, results.Admitted}, {3, 10, 11.2, results.Limited}},
		},
		{
			name: "oha", format: Oha,
			text: "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.5,0,0,0.002,0.003,3,200\n0.6,0,0,0,0.004,3,503\n",
			want: []span{{2, 0, 2.000003, results.Admitted}, {3, 100, 104.000003, results.Limited}},
		},
		{
			// %msec is the end: .030 - 20 ms = .010, less a millisecond for the step of
			// the duration, and the end a millisecond wide. Delayed is admitted. Line 3
			// is a refusal although 200 would be an admission.
			name: "nginx with limit_req_status", format: NginxLimit, start: "08:00:00.009",
			text: "1772352000.030 192.0.2.1 PASSED 200 0.020 \"GET / HTTP/1.1\" c=1 r=1\n" +
				"1772352000.040 192.0.2.1 DELAYED 200 0.005 \"GET / HTTP/1.1\" c=1 r=2\n" +
				"1772352000.050 192.0.2.1 REJECTED 200 0.000 \"GET / HTTP/1.1\" c=1 r=3\n",
			want: []span{{1, 0, 22, results.Admitted}, {2, 25, 32, results.Admitted}, {3, 40, 42, results.Limited}},
		},
		{
			// As the docs have the line, without a request behind it, and without a decision.
			name: "nginx with nothing behind the duration", format: NginxLimit, start: "08:00:00.009",
			text: "1772352000.030 192.0.2.1 REJECTED 200 0.020\n" +
				"1772352000.040 192.0.2.1 200 0.005\n" +
				"1772352000.050 192.0.2.1 REJECTED 200 0.000 c=1 r=3\n" +
				"1772352000.060 192.0.2.1 429 0.000 c=1 r=4\n" +
				"1772352000.070 192.0.2.1 200 1.", // of 1.234: cut
			want: []span{{1, 0, 22, results.Limited}, {2, 25, 32, results.Admitted}, {3, 40, 42, results.Limited}, {4, 50, 52, results.Limited}},
		},
		{
			// Ends of whole seconds, and up to 500 ms before: 01:59:59 summer time is a
			// second before 01:00:00 winter time.
			name: "nginx combined: the second of the end; the hour is changed", format: Nginx, opts: Options{Format: Nginx, Longest: 500 * time.Millisecond}, start: "00:59:58.5",
			text: "192.0.2.1 - - [25/Oct/2026:02:59:59 +0200] \"GET / HTTP/1.1\" 200 5 \"-\" \"a \\\"b\\\" c\"\n" +
				"192.0.2.1 - - [25/Oct/2026:02:00:00 +0100] \"GET / HTTP/1.1\" 429 5 \"-\" \"-\"\n",
			want: []span{{1, 0, 1500, results.Admitted}, {2, 1000, 2500, results.Limited}},
		},
		{
			name: "Apache: the second of the start", format: Apache, opts: Options{Format: Apache, Longest: time.Second}, start: "23:59:59",
			text: "192.0.2.1 - u [28/Feb/2026:23:59:59 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\"\n" +
				"192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] \"-\" 408 - \"-\" \"-\"\n",
			want: []span{{1, 0, 2000, results.Admitted}, {2, 1000, 3000, results.Other}},
		},
		{
			name: "either server's: both readings", format: WebLog, opts: Options{Longest: time.Second}, start: "23:59:58",
			text: "192.0.2.1 - - [28/Feb/2026:23:59:59 +0000] \"GET / HTTP/1.1\" 200 5\n",
			want: []span{{1, 0, 3000, results.Admitted}},
		},
		{
			// %{usec}t is the start to the microsecond, %D how long in microseconds.
			name: "Apache with its own layout", format: Apache, start: "08:00:00.000001",
			opts: Options{Format: Apache, Layout: `%a %{usec}t %D %>s \"%r\" %{X-Key}i %{Retry-After}o`},
			text: "192.0.2.1 1772352000000001 1500 200 \"GET / HTTP/1.1\" k1 -\n192.0.2.1 1772352000003001 500 429 \"GET / HTTP/1.1\" k1 7\n",
			want: []span{{1, 0, 1.502, results.Admitted}, {2, 3, 3.502, results.Limited}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := read(t, tt.text, tt.opts)
			if rec.Format != tt.format {
				t.Errorf("got format %s, want %s", rec.Format, tt.format)
			}
			if got := rec.Start.UTC().Format("15:04:05.999999999"); tt.start != "" && got != tt.start {
				t.Errorf("got the start %s, want %s", got, tt.start)
			}
			if got := spans(rec); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestAnswers: header fields that were recorded are there, and what has none says so.
func TestAnswers(t *testing.T) {
	rec := read(t, "192.0.2.1 [2026-03-01T08:00:00+00:00] 429 7 \"GET /?k=a HTTP/1.1\"\n", Options{Format: Nginx,
		Layout: `$remote_addr [$time_iso8601] $status $sent_http_retry_after "$request"`})
	if h := rec.Hits[0]; !rec.Answers || h.RetryAfter != "7" {
		t.Errorf("got %v and %q, want the 7", rec.Answers, h.RetryAfter)
	}
	rec = read(t, "192.0.2.1 - - [28/Feb/2026:23:59:59 +0000] \"GET / HTTP/1.1\" 200 5\n", Options{})
	if rec.Answers || !strings.Contains(strings.Join(rec.Notes, "\n"), "Retry-After and what else is told of limits cannot be judged") {
		t.Errorf("got %v %q, want that nothing is known of the answers", rec.Answers, rec.Notes)
	}
}

// TestMade: files that vegeta 12.13.0 and hey 0.1.4 made, of one limiter that
// admits 12 at once and then 5/s.
func TestMade(t *testing.T) {
	for name, want := range map[string][2]int{"vegeta.gob": {14, 10}, "vegeta.jsonl": {14, 10}, "vegeta.csv": {14, 10}, "hey.csv": {15, 15}} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		rec := read(t, string(text), Options{})
		got := [2]int{}
		for _, h := range rec.Hits {
			got[h.Outcome-1]++
		}
		if got != want {
			t.Errorf("%s: got %v admitted and limited, want %v", name, got, want)
		}
		if name != "hey.csv" && rec.Hits[0].Date == "" {
			t.Errorf("%s: the answers have no Date", name)
		}
	}
}

// TestSetBack: where the clock of a log goes back nothing reaches across.
func TestSetBack(t *testing.T) {
	line := func(second string) string {
		return "192.0.2.1 - - [01/Mar/2026:08:00:" + second + " +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\"\n"
	}
	rec := read(t, line("30")+line("31")+line("10")+line("12"), Options{Format: Nginx, Longest: time.Second})
	var wall, lost int
	for _, m := range rec.Marks {
		switch {
		case m.Kind == results.MarkWall && m.Tears() && m.At >= rec.Hits[1].Done && m.To <= rec.Hits[2].Sent:
			wall++
		case m.Kind == results.MarkLost:
			lost++
		}
	}
	if wall != 1 || lost != 1 {
		t.Errorf("got %+v, want one tear between the second and the third request, and that requests may be missing", rec.Marks)
	}
	if d := rec.Hits[3].Sent - rec.Hits[2].Sent; d != 2e9 {
		t.Errorf("the last two are %v ns apart, want 2 s", d)
	}
}

// TestCSV: what is written is read back as it was, with how many phases ask; a file
// from before that was written is read as well.
func TestCSV(t *testing.T) {
	hits := []results.Hit{
		{Seq: 1, Cost: 1, Planned: -5, Sent: 5, First: 9, Done: 9, Outcome: results.Admitted, Status: 200, Key: "a,\"b\"", Headers: "x: 1\ny: 2"},
		{Seq: 7, Phase: 2, Conn: 3, Peer: "p", Cost: 4, Planned: 5, Sent: 6, First: results.Never, Done: 9, Fresh: true, Obeyed: 1, Err: "timeout", RetryAfter: "1", Date: "d"},
	}
	for _, tt := range []struct{ asked, want int }{{3, 0}, {1, 1}, {0, 0}} { // of 3 none is behind; of 0 none asks, which no run is
		var b bytes.Buffer
		if err := WriteCSV(&b, tt.asked, 50, slices.Values(hits)); err != nil {
			t.Fatal(err)
		}
		if rec := read(t, b.String(), Options{}); !slices.Equal(rec.Hits, hits) || rec.Format != CSV || rec.Asked != tt.want || rec.Tick != 50 {
			t.Errorf("asked %d: got %d and %+v, want %d and %+v", tt.asked, rec.Asked, rec.Hits, tt.want, hits)
		}
		old := strings.NewReplacer(",follow_up,tick_ns\n", "\n", ",true,50\n", "\n", ",false,50\n", "\n").Replace(b.String())
		if rec := read(t, old, Options{}); !slices.Equal(rec.Hits, hits) || rec.Asked != 0 || rec.Tick != 0 {
			t.Errorf("an old file: got %d and %+v, want %+v", rec.Asked, rec.Hits, hits)
		}
	}
}

// TestJTL: milliseconds, and a refusal is no failure.
func TestJTL(t *testing.T) {
	var b bytes.Buffer
	start := time.UnixMilli(1772352000000)
	hits := []results.Hit{{Seq: 1, Sent: 5e6, First: 7e6, Done: 9e6, Outcome: results.Limited, Status: 429, Key: "k"}}
	if err := WriteJTL(&b, start, "http://a.example/", []string{"volley"}, slices.Values(hits)); err != nil {
		t.Fatal(err)
	}
	want := strings.Join(jtlColumns, ",") + "\n1772352000005,4,volley,429,limited,k,text,true,,0,0,1,1,http://a.example/,2,0,0\n"
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}

// TestErrors: each has its place.
func TestErrors(t *testing.T) {
	tests := []struct {
		name, text, want string
		opts             Options
	}{
		{"a log of errors", "2026/03/01 08:00:00 [error] 1#1: *1 limiting requests, excess: 5.3 by zone \"z\"\n", "x: it is an error log of nginx", Options{}},
		{"a line that is cut", "192.0.2.1 - - [01/Mar/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n192.0.2.1 - - [01/Mar/20\n", "x:2: the line is not laid out as it should be", Options{}},
		{"no such day", "192.0.2.1 - - [31/Feb/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n", "x:1: \"31/Feb/2026:08:00:00 +0000\" is not a time", Options{}},
		{"a layout without a time", "a 200\n", "x:1: it has no time", Options{Format: Nginx, Layout: "$remote_addr $status"}},
		{"an open brace", "a\n", "the brace of", Options{Format: Apache, Layout: "%{Referer"}},
		{"a layout for nobody's log", "192.0.2.1 - - [01/Mar/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n", "say --format nginx or --format apache", Options{Layout: "$status"}},
		{"no result of vegeta", `{"timestamp":"2026-03-01T08:00:00Z","latency":"1s"}` + "\n", "x:1: it is no result of vegeta", Options{}},
		{"a negative latency", `{"timestamp":"2026-03-01T08:00:00Z","latency":-1,"code":200}` + "\n", "x:1: its latency is", Options{}},
		{"no column", "request-start,DNS,status\n", "x:1: there is no column request-duration", Options{}},
		{"no number", "request-start,DNS,request-duration,Response-delay,status\n1,,x,1,200\n", `x:2: request-duration is "x"`, Options{}},
		{"nothing", "request-start,DNS,request-duration,Response-delay,status\n", "x: there is no request in it", Options{}},
		{"a cut archive", `{"log":{"entries":[{}`, "x: it is no HTTP Archive", Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, r, err := Open(strings.NewReader(tt.text))
			if tt.opts.Format == "" {
				tt.opts.Format = f
			} else {
				err = nil
			}
			if err == nil {
				tt.opts.Outcome = byStatus
				_, err = Read(r, "x", tt.opts)
			}
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(tt.want)) {
				t.Errorf("got %v, want it to say %s", err, tt.want)
			}
		})
	}
	for _, text := range []string{"", "\n \n", "hello\n"} {
		if _, _, err := Open(strings.NewReader(text)); err == nil {
			t.Errorf("%q: got a format", text)
		}
	}
}

// FuzzRead: nothing makes a reader panic, and every hit that is read is one that a
// judge can take.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"vegeta.gob", "vegeta.jsonl", "vegeta.csv", "hey.csv"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "")
	}
	f.Add([]byte("192.0.2.1 - - [01/Mar/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n"), "")
	f.Add([]byte("1772352000.030 192.0.2.1 PASSED 200 0.020 \"GET / HTTP/1.1\" c=1 r=1\n"), `$msec $remote_addr $limit_req_status $status $request_time "$request" c=${connection} r=$x`)
	f.Add([]byte(`{"log":{"entries":[{"startedDateTime":"2026-03-01T08:00:00.1Z","time":1e300,"response":{"status":200},"timings":{"wait":1e300}}]}}`), "")
	f.Fuzz(func(t *testing.T, text []byte, layout string) {
		format, r, err := Open(bytes.NewReader(text))
		if err != nil {
			return
		}
		if layout != "" {
			format = Nginx
		}
		rec, err := Read(r, "x", Options{Format: format, Layout: layout, Outcome: byStatus})
		if err != nil {
			return
		}
		for _, h := range rec.Hits {
			if h.Done < h.Sent || h.Answered() && h.First < h.Sent || h.Cost < 1 {
				t.Fatalf("%+v cannot be judged", h)
			}
		}
	})
}

// TestCutLine: a last line without a newline that cannot be read is left out, and a
// mark stands for what it told of; the rest is read as if it had not been there.
func TestCutLine(t *testing.T) {
	point := `{"type":"Point","data":{"time":"2026-03-01T08:00:03Z","value":1,"tags":{"status":"200"}},"metric":"http_req_duration"}` + "\n"
	logged := "192.0.2.1 - - [01/Mar/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n"
	row := "0.5,0,0.002,0.003,200\n"
	tests := []struct{ name, head, line, cut string }{
		{"k6", "", point, point[:40]},
		{"a log", "", logged, logged[:30]},
		{"fields are missing", "request-start,DNS,Response-delay,request-duration,status\n", row, row[:12]},
		{"a number is cut", "request-start,DNS,Response-delay,request-duration,status\n", row, "0.5,0,0.002,0.003,"},
		{"hammer's", strings.Join(csvColumns, ",") + "\n", "1,0,0,k,,1,0,0,5,6,true,admitted,200,0,,,,,false,1\n", "2,0,0,k,,1,0,0,5,6,true,adm"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := read(t, tt.head+tt.line+tt.cut, Options{Longest: time.Second})
			if len(rec.Hits) != 1 || len(rec.Marks) == 0 || rec.Marks[0].Kind != results.MarkLost || rec.Marks[0].To != results.Never {
				t.Errorf("got %d hits and the marks %v, want one hit and what is lost", len(rec.Hits), rec.Marks)
			}
			if !strings.Contains(strings.Join(rec.Notes, "\n"), "the last, is left out") {
				t.Errorf("got the notes %q, which do not say it", rec.Notes)
			}
			for name, text := range map[string]string{"in the middle": tt.head + tt.line + tt.cut + "\n" + tt.line, "with its newline": tt.head + tt.line + tt.cut + "\n", "alone": tt.head + tt.cut} {
				f, r, err := Open(strings.NewReader(text))
				if err == nil {
					_, err = Read(r, "x", Options{Format: f, Outcome: byStatus})
				}
				if err == nil {
					t.Errorf("%s: the cut line was read", name)
				}
			}
		})
	}
	quote := strings.Join(csvColumns, ",") + "\n1,0,0,k,,1,0,0,5,6,true,admitted,200,0,,,,,false,1\n1,0,0,\"k,,1,0\n2,0,0,k,,1,0,0,5,6,true,adm"
	if _, err := Read(strings.NewReader(quote), "x", Options{Format: CSV}); err == nil {
		t.Error("a quote that is not closed swallowed the rows behind it")
	}
}

// TestCutPack: a gzip that is cut is an error with every format, wherever it is cut.
func TestCutPack(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("192.0.2.1 - - [01/Mar/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n"))
	z.Close()
	for _, n := range []int{5, packed.Len() / 2, packed.Len() - 1} {
		_, r, err := Open(bytes.NewReader(packed.Bytes()[:n]))
		if r != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut behind %d bytes: got the reader %v and %v, want none and an unexpected end", n, r, err)
		}
	}
}
