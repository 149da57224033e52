package lines

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

func TestRead(t *testing.T) {
	in := `{"expect":"broken bound.upper","note":"2 in 100 ms","contract":"token-bucket","burst":1,"rate":"1/s","key":"ip","quantum":"0s","over_ppm":7,"limits":[{"name":"day","burst":100,"rate":"100/d"}]}

{"seq":1,"key":"a","sent_ns":0,"first_ns":1000,"done_ns":1500,"cost":2,"outcome":"admitted","status":200,"retry_after":"1"}
{"at":"1.5s","rtt":"2ms","status":429}
  {"at":"2s","planned_ns":1,"rtt":"0s","status":503,"outcome":"limited"}
{"sent_ns":7,"err":"reset","done_ns":9}
`
	head, hits, err := Read(strings.NewReader(in), "x.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	one := Limit{Contract: "token-bucket", Burst: 1, Rate: "1/s", Key: "ip", Quantum: "0s", Over: 7}
	day := Limit{Name: "day", Burst: 100, Rate: "100/d"}
	if want := (Header{Expect: "broken bound.upper", Note: "2 in 100 ms", Limit: one, Limits: []Limit{day}}); !reflect.DeepEqual(head, want) {
		t.Errorf("got header %+v, want %+v", head, want)
	}
	if got, want := head.All(), []Limit{one, day}; !reflect.DeepEqual(got, want) {
		t.Errorf("got limits %+v, want %+v", got, want)
	}
	want := []results.Hit{
		{Seq: 1, Key: "a", Cost: 2, First: 1000, Done: 1500, Outcome: results.Admitted, Status: 200, RetryAfter: "1"},
		{Seq: 2, Cost: 1, Planned: 1.5e9, Sent: 1.5e9, First: 1.502e9, Done: 1.502e9, Outcome: results.Limited, Status: 429},
		{Seq: 3, Cost: 1, Planned: 1, Sent: 2e9, First: 2e9, Done: 2e9, Outcome: results.Limited, Status: 503},
		{Seq: 4, Cost: 1, Planned: 7, Sent: 7, First: results.Never, Done: 9, Err: "reset"},
	}
	if !slices.Equal(hits, want) {
		t.Errorf("got %+v, want %+v", hits, want)
	}
}

// TestReadErrors: each error has the place and a way out.
func TestReadErrors(t *testing.T) {
	const head = `{"burst":1,"rate":"1/s"}` + "\n"
	tests := []struct{ name, in, want string }{
		{"nothing", "\n\n", "x.jsonl: there is nothing in it, not even the header"},
		{"no header", `{"sent_ns":0}`, `x.jsonl:1: the first line is the header, such as {"expect":"kept"`},
		{"unknown field", head + "\n" + `{"sent":0}`, `x.jsonl:3: unknown field "sent": a hit is written as {"sent_ns":0`},
		{"unknown field in a limit", `{"limits":[{"bursts":1}]}`, `x.jsonl:1: the first line is the header, such as`},
		{"wrong type", head + `{"sent_ns":"0"}`, "x.jsonl:2: sent_ns is a string where a int64 is needed"},
		{"fraction", head + `{"sent_ns":0.5}`, "x.jsonl:2: sent_ns is a number 0.5 where a int64 is needed"},
		{"not an object", head + `[1]`, "x.jsonl:2: a JSON object is needed"},
		{"null", head + `null`, "x.jsonl:2: a JSON object is needed"},
		{"null header", `null`, "x.jsonl:1: the first line is the header"},
		{"cut", head + `{"sent_ns":0`, "x.jsonl:2: the JSON object is cut"},
		{"two objects", head + `{"sent_ns":0,"outcome":"unknown"} {}`, "x.jsonl:2: something follows"},
		{"not UTF-8", head + "{\"sent_ns\":0,\"key\":\"\xff\"}", "x.jsonl:2: it is not UTF-8"},
		{"not sent", head + `{"status":200}`, "x.jsonl:2: it does not say when it was sent: give sent_ns or at"},
		{"sent twice", head + `{"sent_ns":0,"at":"0s"}`, "x.jsonl:2: it has sent_ns and at, which say the same: give one"},
		{"answered twice", head + `{"sent_ns":0,"first_ns":1,"rtt":"1ns"}`, "x.jsonl:2: it has first_ns and rtt"},
		{"no duration", head + `{"at":"1.5"}`, `x.jsonl:2: at is "1.5": give a duration such as 1.5s`},
		{"negative duration", head + `{"at":"1s","rtt":"-1s"}`, `x.jsonl:2: rtt is "-1s": give a duration`},
		{"too late", head + `{"sent_ns":9223372036854775806,"rtt":"2ns","status":200}`, "before it was sent"},
		{"open outcome", head + `{"sent_ns":0,"first_ns":1,"status":503}`, "x.jsonl:2: status 503 leaves its outcome open: give outcome"},
		{"no outcome", head + `{"sent_ns":0,"first_ns":1}`, "x.jsonl:2: status 0 leaves its outcome open"},
		{"wrong outcome", head + `{"sent_ns":0,"outcome":"refused"}`, `x.jsonl:2: "refused" is not an outcome`},
		{"never answered and admitted", head + `{"sent_ns":0,"outcome":"admitted"}`, "x.jsonl:2: its outcome is admitted and it was never answered"},
		{"answered before it was sent", head + `{"sent_ns":5,"first_ns":4,"status":200}`, "x.jsonl:2: it was answered at 4 ns, before it was sent at 5 ns"},
		{"done too early", head + `{"sent_ns":5,"first_ns":8,"done_ns":7,"status":200}`, "x.jsonl:2: it was done at 7 ns"},
		{"before the start", head + `{"sent_ns":-1,"first_ns":4,"status":200}`, "x.jsonl:2: it was sent at -1 ns"},
		{"no cost", head + `{"sent_ns":0,"first_ns":4,"status":200,"cost":0}`, "x.jsonl:2: cost is 0"},
		{"seq 0", head + `{"seq":0,"sent_ns":0,"first_ns":4,"status":200}`, "x.jsonl:2: seq is 0"},
		{"seq twice", head + "\n" + `{"seq":2,"at":"0s","status":429,"rtt":"1s"}` + "\n" + `{"at":"0s","status":429,"rtt":"1s"}`, "x.jsonl:4: seq 2 is that of line 3 already"},
		{"long line", head + strings.Repeat(" ", lineMax+1), "x.jsonl:2: the line is longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Read(strings.NewReader(tt.in), "x.jsonl")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %s", err, tt.want)
			}
		})
	}
}

// TestWrite: a line has no more than it needs, and < stays as it is.
func TestWrite(t *testing.T) {
	hits := []results.Hit{
		{Seq: 1, Cost: 1, Planned: 5, Sent: 5, First: 9, Done: 9, Outcome: results.Admitted, Status: 200},
		{Seq: 7, Phase: 2, Conn: 3, Key: "<a>", Peer: "p", Cost: 4, Planned: 5, Sent: 6, First: results.Never, Done: 9, Fresh: true, Obeyed: 1, Err: "timeout"},
	}
	var b bytes.Buffer
	if err := Write(&b, Header{Expect: "kept", Limit: Limit{Burst: 1, Rate: "1/s"}}, hits); err != nil {
		t.Fatal(err)
	}
	want := `{"expect":"kept","burst":1,"rate":"1/s"}
{"sent_ns":5,"first_ns":9,"outcome":"admitted","status":200}
{"seq":7,"phase":2,"conn":3,"key":"<a>","peer":"p","cost":4,"planned_ns":5,"sent_ns":6,"done_ns":9,"fresh":true,"outcome":"unknown","obeyed":1,"err":"timeout"}
`
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}

func TestWriteErrors(t *testing.T) {
	good := results.Hit{Seq: 1, Cost: 1, First: 1, Done: 1}
	tests := []struct {
		name, want string
		harm       func(h *results.Hit)
	}{
		{"not UTF-8", `"\xff" is not UTF-8`, func(h *results.Hit) { h.Seq, h.RetryAfter = 2, "\xff" }},
		{"twice", "two of seq 1", func(h *results.Hit) {}},
		{"no cost", "cost is 0", func(h *results.Hit) { h.Seq, h.Cost = 2, 0 }},
		{"no outcome", `"outcome 9" is not an outcome`, func(h *results.Hit) { h.Seq, h.Outcome = 2, 9 }},
	}
	for _, tt := range tests {
		h := good
		tt.harm(&h)
		err := Write(&bytes.Buffer{}, Header{}, []results.Hit{good, h})
		if err == nil || !strings.Contains(err.Error(), "writing hit 2: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want it to say %s", tt.name, err, tt.want)
		}
	}
	full, err := os.OpenFile(filepath.Join(t.TempDir(), "x"), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if err := Write(full, Header{}, nil); err == nil {
		t.Error("a file that takes nothing: got no error")
	}
}

// FuzzRead: nothing makes Read panic, and what it reads is written and read
// back as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(headerExample + "\n" + `{"sent_ns":0,"first_ns":2000000,"status":200}` + "\n" + `{"at":"1.5s","rtt":"2ms","outcome":"limited"}`))
	f.Add([]byte(`{"over_ppm":0,"limits":[{}]}` + "\n" + `{"seq":9,"cost":3,"planned_ns":-1,"sent_ns":1,"done_ns":5,"key":"\ud800é","err":"<&>"}`))
	f.Add([]byte("{}\n\n{\"at\":\"2540400h\"}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		head, hits, err := Read(bytes.NewReader(in), "in")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, head, hits); err != nil {
			t.Fatalf("Write: %v", err)
		}
		head2, hits2, err := Read(bytes.NewReader(b.Bytes()), "again")
		if err != nil {
			t.Fatalf("Read of %s: %v", b.Bytes(), err)
		}
		if !slices.Equal(hits, hits2) {
			t.Errorf("got %+v, want %+v", hits2, hits)
		}
		if !reflect.DeepEqual(head.All(), head2.All()) && len(head.All())+len(head2.All()) > 0 || head.Expect != head2.Expect || head.Note != head2.Note {
			t.Errorf("got %+v, want %+v", head2, head)
		}
	})
}
