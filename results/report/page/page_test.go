package page

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// evil is what a server, a key or a URL may hold: it ends attributes, elements,
// comments and scripts where it can.
const evil = `</script><script>window.hurt=1</script><img src=x onerror="window.hurt=1">'"` + "`${window.hurt=1}`" + `<!--]]>&lt; javascript:window.hurt=1 ` + "\u2028\x00\xff"

// burst is a run in which one key got eleven of ten at once, and n requests more on
// many keys.
func burst(n int64) Source {
	each := func(f func(results.Block)) {
		b := results.Block{Marks: []results.Mark{{At: 1e6, To: 1e6, Kind: results.MarkPhase, Text: "volley"}, {At: 900e6, To: 950e6, Kind: results.MarkStall, Size: 50e6},
			{At: 700e6, To: 701e6, Kind: results.MarkClock, Size: -10e9}, {At: 800e6, To: 801e6, Kind: results.MarkUndo, Text: "the clock is right again"}}}
		for i := range int64(22) {
			h := results.Hit{Seq: i + 1, Key: "volley/1", Sent: 500e6 + i*100e3, First: 501e6 + i*150e3, Done: 502e6 + i*150e3, Planned: 500e6, Status: 200, Outcome: results.Admitted}
			if i >= 11 {
				h.Status, h.Outcome, h.RetryAfter, h.Headers = 429, results.Limited, "1", "x-note: "+evil
			}
			b.Hits = append(b.Hits, h)
		}
		f(b)
		b = results.Block{}
		for i := range n {
			at := 600e6 + i*1e6
			h := results.Hit{Seq: 23 + i, Key: fmt.Sprintf("pace/%d", i%97), Sent: at, Planned: at, First: at + 2e6, Done: at + 2e6, Status: 200, Outcome: results.Outcome(i % 4)}
			if h.Outcome == results.Limited {
				h.RetryAfter = "1"
			}
			if b.Hits = append(b.Hits, h); len(b.Hits) == 4096 {
				f(b)
				b.Hits = b.Hits[:0]
			}
		}
		f(b)
	}
	r := &report.Report{Status: results.Broken, ExitCode: 1, Headline: "11 requests admitted within 3 ms, where burst 10 and 5/s allow 10.01", Target: "http://127.0.0.1:8080/",
		Started: time.Unix(1_800_000_000, 0), Promise: []string{"token-bucket burst 10, rate 5/s"}, Folder: "run", Recheck: "hammer judge run", Phases: map[string]string{"volley": "all at once"},
		Run: results.Run{Planned: n + 22, Sent: n + 22, LastedNS: 600e6 + n*1e6}}
	r.Findings = []results.Finding{
		{Check: "bound.upper", Status: results.Broken, Limit: "limit", Key: "volley/1", FromNS: 500e6, ToNS: 503e6, Got: 11, Allowed: 10.01, Text: r.Headline, Proof: "11 > 10.01", Seqs: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{Check: "bound.lower", Status: results.Kept, Limit: "limit", Text: "nothing was refused too much"},
	}
	r.Evidence = [][]results.Hit{{{Seq: 1, Key: "volley/1", Sent: 500e6, First: 501e6, Status: 200, Outcome: results.Admitted}}, nil}
	return Source{Report: r, Record: each, Hits: n + 22, Phases: []string{"volley", "pace"}, Shares: []float64{0, 50, 90, 99, 99.9, 100},
		Allowed: func(_ string, w int64) (float64, bool) { return 10 + 5*float64(w)/1e9, true },
		Latency: []Latency{{"admitted", false, 11, []int64{1e6, 1e6, 2e6, 2e6, 2e6, 3e6}}, {"admitted", true, 11, []int64{1e6, 2e6, 3e6, 3e6, 3e6, 4e6}}}}
}

// escape paints over a terminal that the page is printed on.
const escape = "\x1b[31m"

// hostile is a run whose every text is evil.
func hostile() Source {
	s := burst(30)
	r := s.Report
	r.Headline, r.Target, r.Server, r.Promise, r.Notes, r.Folder, r.Recheck, r.Keys = evil, evil, evil, []string{evil}, []string{evil}, evil, evil, evil
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Check, f.Text, f.Proof, f.Limit, f.Key = "bound."+evil, evil, evil, evil, evil+escape
	}
	r.Causes = []results.Cause{{Text: evil, Reasons: []string{evil}, AtNS: []int64{700e6}}}
	r.Evidence[0][0].RetryAfter, r.Evidence[0][0].Err, r.Evidence[0][0].Key = evil, evil, evil+escape
	r.Headline += escape
	s.Phases, s.Glossary = []string{evil}, []Term{{evil, evil}}
	plain := s.Record
	s.Record = func(f func(results.Block)) {
		plain(func(b results.Block) {
			for i := range b.Hits {
				h := &b.Hits[i]
				h.Key, h.RetryAfter, h.Err, h.Headers = evil+escape, evil, evil, evil
			}
			for i := range b.Marks {
				b.Marks[i].Text = evil
			}
			f(b)
		})
	}
	return s
}

func written(t testing.TB, s Source) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// No text from outside becomes markup: two scripts are ours, and nothing refers to
// what is not in the file.
func TestPageIsOneFile(t *testing.T) {
	for name, s := range map[string]Source{"plain": burst(30), "hostile": hostile()} {
		text := written(t, s)
		for _, tt := range []struct {
			what string
			want int
		}{{"<script", 2}, {"</script", 2}, {"<img", 0}, {"<link", 1}, {"src=\"", 0}, {"@import", 0}, {"url(", 0}, {"\x00", 0}, {"\x1b", 0}} {
			if got := strings.Count(text, tt.what); got != tt.want {
				t.Errorf("%s: got %d of %q, want %d", name, got, tt.what, tt.want)
			}
		}
	}
}

// Sums lose no request, however many keys there are.
func TestGatherCountsAll(t *testing.T) {
	for _, n := range []int64{0, 100, 20_000} {
		d := gather(burst(n))
		var sums, counts int64
		for _, l := range d.Lanes {
			for o := range l.N {
				counts += l.N[o]
				for i := 1; i < len(l.Sums[o]); i += 2 {
					sums += l.Sums[o][i]
				}
			}
		}
		if want := n + 22; sums != want || counts != want {
			t.Errorf("%d requests: got %d in sums and %d in counts", want, sums, counts)
		}
		if d.Lanes[0].Key != "volley/1" {
			t.Errorf("got %q first, want the key that is broken", d.Lanes[0].Key)
		}
		if n > 97 && len(d.Lanes) != mostLanes+1 {
			t.Errorf("got %d lanes, want %d and one for the rest", len(d.Lanes), mostLanes)
		}
	}
}

// The requests that prove a finding are there one by one, however long the record is.
func TestProofIsKept(t *testing.T) {
	d := gather(burst(100_000))
	if d.Exact || len(d.Requests) > mostExact {
		t.Fatalf("got %d requests, exact %v; want at most %d of them", len(d.Requests), d.Exact, mostExact)
	}
	found := map[int64]bool{}
	for _, r := range d.Requests {
		found[r[1]] = true
	}
	for _, seq := range d.Findings[0].Seqs {
		if !found[seq] {
			t.Errorf("request %d proves the finding and is not there", seq)
		}
	}
}

// A page grows with what it shows, not with the record.
func TestPageStaysSmall(t *testing.T) {
	const most = 2 << 20
	n := int64(1_000_000)
	if testing.Short() {
		n = 100_000
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	text := written(t, burst(n))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(text) > most {
		t.Errorf("%d requests: the page has %d bytes, want at most %d", n, len(text), most)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 100<<20 {
		t.Errorf("%d requests: the heap grew by %d bytes, want at most 100 MB", n, grown)
	}
	t.Logf("%d requests: %d bytes", n, len(text))
}

// What is drawn against the promise counts as the finding does, in a window of
// however many requests.
func TestCurveCounts(t *testing.T) {
	s := burst(50_000)
	s.Report.Findings = append(s.Report.Findings, results.Finding{Check: "bound.upper", Status: results.Broken, Limit: "limit", FromNS: 500e6, ToNS: 40_000e6})
	d := gather(s)
	if len(d.Curves) != 2 {
		t.Fatalf("got %d curves, want one for each finding about a window", len(d.Curves))
	}
	// On all keys: the eleven, and every fourth of those that were answered by 40 s:
	// i with 600 + i + 2 <= 40000 is 0 to 39398, and i%4 = 1 is 9850 of them.
	for i, want := range []int64{11, 11 + 9850} {
		if got := d.Curves[i].Got; got != want {
			t.Errorf("curve %d: got %d, want %d", i, got, want)
		}
		if n := len(d.Curves[i].Admitted); n == 0 || n > curveSteps+1 {
			t.Errorf("curve %d: got %d steps", i, n)
		}
	}
}

// What Retry-After said stands beside what was seen.
func TestWaits(t *testing.T) {
	w := newWaits(nil)
	hit := func(seq, sent, first int64, o results.Outcome, retry string) {
		w.hit(&results.Hit{Seq: seq, Key: "a", Sent: sent, First: first, Outcome: o, RetryAfter: retry})
	}
	hit(1, 0, 10, results.Limited, "1")
	hit(2, 500, 510, results.Limited, "")
	hit(3, 800, 805, results.Admitted, "")
	hit(4, 900, 910, results.Limited, "2")
	got := fmt.Sprint(w.points())
	// Request 1: refused again 490 after it came, admitted by 805 after it was sent.
	if want := "[[1 1000000000 490 805]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
