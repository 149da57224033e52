package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// read is what was read of an answer.
type read struct {
	status int
	close  bool
	fields []string // sorted
	over   int      // bytes behind it
}

// ours reads an answer in pieces, each of at most so many bytes; ok is whether it is one
// that is complete.
func ours(p []byte, asked bool, piece int) (r read, ok bool, err error) {
	var a answer
	var m memo
	a.begin(asked)
	headed := func(h *Head) {
		r.status, r.close, r.fields = h.Status, h.Close, nil
		for name, value, rest, more := Next(h.Fields); more; name, value, rest, more = Next(rest) {
			r.fields = append(r.fields, http.CanonicalHeaderKey(string(name))+": "+string(value))
		}
		slices.Sort(r.fields)
	}
	for len(p) > 0 {
		n := min(piece, len(p))
		done, over, err := a.feed(p[:n], &m, headed)
		p = p[n:]
		if err != nil {
			return r, false, err
		}
		if done {
			r.over = len(p) + len(over)
			return r, true, nil
		}
	}
	return r, a.ended(), nil
}

// theirs reads one as net/http does.
func theirs(p []byte, asked bool) (r read, ok bool) {
	method := "GET"
	if asked {
		method = "HEAD"
	}
	in := bufio.NewReader(bytes.NewReader(p))
	for {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return r, false
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return r, false
		}
		if res.StatusCode < 200 && res.StatusCode != 101 {
			continue
		}
		r.status, r.close = res.StatusCode, res.Close
		for name, values := range res.Header {
			for _, v := range values {
				r.fields = append(r.fields, name+": "+v)
			}
		}
		slices.Sort(r.fields)
		rest, _ := io.ReadAll(in)
		r.over = len(rest)
		return r, true
	}
}

// framing are the fields that net/http takes out of a header where it has understood them.
func framing(field string) bool {
	return strings.HasPrefix(field, "Transfer-Encoding:") || strings.HasPrefix(field, "Content-Length:") || strings.HasPrefix(field, "Connection:") ||
		strings.HasPrefix(field, "Trailer:") || strings.HasPrefix(field, "Pragma:") || strings.HasPrefix(field, "Cache-Control:") // which it adds for HTTP/1.0
}

// same fails unless what we read is what net/http reads.
func same(t *testing.T, p []byte, asked bool, got read) {
	t.Helper()
	if slices.ContainsFunc(got.fields, func(f string) bool { return strings.HasPrefix(f, "Trailer:") }) {
		return // net/http has an opinion on what may be announced there
	}
	want, ok := theirs(p, asked)
	if !ok {
		t.Errorf("%q: we read %+v, net/http reads no answer", p, got)
		return
	}
	got.fields, want.fields = slices.DeleteFunc(got.fields, framing), slices.DeleteFunc(want.fields, framing)
	if got.status == 101 {
		want.over, got.over, want.close, got.close = 0, 0, true, true // what follows is not HTTP
	}
	if got.status != want.status || got.close != want.close || got.over != want.over || !slices.Equal(got.fields, want.fields) {
		t.Errorf("%q: got %+v, net/http %+v", p, got, want)
	}
}

// answers are such that both must read; what they end with is not theirs.
var answers = []string{
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 408 ",
	"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
	"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nretry-after: 9\r\nX-RateLimit-Remaining:0\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 204 No Content\r\nContent-Length: 12\r\n\r\n",
	"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n00a;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nrest",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall until the end",
	"HTTP/1.1 200 OK\r\n\r\n",
	"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nConnection: Close\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nServer: caf\xe9\tx\r\nEmpty:\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n\x00\x01",
	"HTTP/1.1 503 Service Unavailable\r\nDate: Tue, 01 Dec 2026 14:00:00 GMT\r\nContent-Length: 1\r\n\r\nx",
}

func TestAnswers(t *testing.T) {
	for _, text := range answers {
		for _, asked := range []bool{false, true} {
			for piece := range 40 {
				got, ok, err := ours([]byte(text), asked, piece+1)
				if !ok || err != nil {
					t.Errorf("%q in pieces of %d, HEAD %v: got %v, %v", text, piece+1, asked, ok, err)
					continue
				}
				same(t, []byte(text), asked, got)
			}
		}
	}
}

// What servers really sent, one answer a file.
func TestRecordedAnswers(t *testing.T) {
	names, err := filepath.Glob("testdata/answers/*.http")
	if err != nil || len(names) < 5 {
		t.Fatalf("got %d recorded answers, %v", len(names), err)
	}
	for _, name := range names {
		p, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []int{1, 7, 1 << 20} {
			got, ok, err := ours(p, false, piece)
			if !ok || err != nil {
				t.Errorf("%s in pieces of %d: got %v, %v", name, piece, ok, err)
				continue
			}
			same(t, p, false, got)
		}
	}
}

// An answer of which it cannot be told where it ends, or that is none, is refused.
func TestRefusedAnswers(t *testing.T) {
	for _, text := range []string{
		"HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "\x15\x03\x01\x00\x02\x02\x16",
		"\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\n: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\x00\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
	} {
		for _, piece := range []int{1, 1 << 20} {
			if _, ok, err := ours([]byte(text), false, piece); err == nil {
				t.Errorf("%.80q in pieces of %d was not refused (complete: %v)", text, piece, ok)
			}
		}
	}
}

// A body that is cut off is not complete.
func TestCutOff(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		if r, ok, err := ours([]byte(text), false, 3); ok || err != nil {
			t.Errorf("%q: got %+v, %v, want an answer that goes on", text, r, err)
		}
	}
}

// What is generated both read alike.
func TestGeneratedAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		p, asked := generated(rng), rng.IntN(8) == 0
		got, ok, err := ours(p, asked, 1+rng.IntN(len(p)))
		if !ok || err != nil {
			t.Fatalf("%q (HEAD %v): got %v, %v", p, asked, ok, err)
		}
		same(t, p, asked, got)
	}
}

func generated(rng *rand.Rand) []byte {
	var b bytes.Buffer
	for range rng.IntN(3) * rng.IntN(2) {
		fmt.Fprintf(&b, "HTTP/1.1 10%d Wait\r\nLink: x\r\n\r\n", []int{0, 2, 3}[rng.IntN(3)])
	}
	end := []string{"\r\n", "\r\n", "\r\n", "\n"}[rng.IntN(4)]
	body := strings.Repeat("b", rng.IntN(300))
	fmt.Fprintf(&b, "HTTP/1.%d %d Some Words%s", rng.IntN(2), []int{200, 201, 204, 302, 304, 403, 404, 429, 500, 503}[rng.IntN(10)], end)
	minor := b.Bytes()[bytes.LastIndex(b.Bytes(), []byte("HTTP/1."))+7]
	for n := range rng.IntN(6) {
		fmt.Fprintf(&b, "%s:%s%s%s", []string{"X-RateLimit-Limit", "date", "RETRY-AFTER", "Vary", "x"}[rng.IntN(5)], strings.Repeat(" ", rng.IntN(3)), strings.Repeat("v", n), end)
	}
	if rng.IntN(3) == 0 {
		fmt.Fprintf(&b, "Connection: %s%s", []string{"close", "keep-alive", "Keep-Alive, x", "x,CLOSE"}[rng.IntN(4)], end)
	}
	switch rng.IntN(3) {
	case 0:
		fmt.Fprintf(&b, "Content-Length: %d%s%s%s", len(body), end, end, body)
	case 1:
		b.WriteString(end + body) // until the end, or none
	default:
		if minor == '0' {
			return generated(rng)
		}
		b.WriteString("Transfer-Encoding: chunked" + end + end)
		for len(body) > 0 {
			n := 1 + rng.IntN(len(body))
			fmt.Fprintf(&b, "%x%s\r\n%s\r\n", n, []string{"", ";ext", ";a=b"}[rng.IntN(3)], body[:n])
			body = body[n:]
		}
		b.WriteString("0\r\n" + []string{"", "A: b\r\n"}[rng.IntN(2)] + "\r\n")
	}
	return b.Bytes()
}

// Whatever comes: what we take for a complete answer net/http reads as the same, and
// the pieces in which it comes make no difference.
func FuzzAnswer(f *testing.F) {
	for _, text := range answers {
		f.Add([]byte(text), false, 3)
		f.Add([]byte(text), true, 1000)
	}
	f.Fuzz(func(t *testing.T, p []byte, asked bool, piece int) {
		got, ok, err := ours(p, asked, 1<<30)
		again, ok2, err2 := ours(p, asked, 1+(piece&0xff))
		if ok != ok2 || (err == nil) != (err2 == nil) {
			t.Fatalf("%q: whole %v, %v, in pieces %v, %v", p, ok, err, ok2, err2)
		}
		if ok {
			if fmt.Sprint(got) != fmt.Sprint(again) {
				t.Errorf("%q: whole %+v, in pieces %+v", p, got, again)
			}
			same(t, p, asked, got)
		}
	})
}

// An answer costs no memory, whether its head is the one before or another.
func BenchmarkAnswer(b *testing.B) {
	const head = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Tue, 01 Dec 2026 14:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: keep-alive\r\nX-RateLimit-Remaining: 1%d\r\n\r\nok\n"
	texts := [2][]byte{fmt.Appendf(nil, head, 2), fmt.Appendf(nil, head, 3)}
	for name, step := range map[string]int{"same": 0, "other": 1} {
		b.Run(name, func(b *testing.B) {
			var a answer
			var m memo
			headed := func(*Head) {}
			b.ReportAllocs()
			for n := 0; b.Loop(); n += step {
				a.begin(false)
				if done, _, err := a.feed(texts[n&1], &m, headed); !done || err != nil {
					b.Fatal(done, err)
				}
			}
		})
	}
}
