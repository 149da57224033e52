package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// victim is the program in a process of its own, so that its memory is its own.
type victim struct {
	t        *testing.T
	url      string
	cmd      *exec.Cmd
	resident int64 // bytes, before anything was done to it
}

// startVictim starts the program with little truth, whose memory is another
// matter.
func startVictim(t *testing.T, limit string, args ...string) *victim {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--listen", "127.0.0.1:0", "--truth-keep", "1024", "--limit", limit}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	v := &victim{t: t, cmd: cmd, url: readURL(t, out)}
	v.mustAnswer()
	v.resident = v.memory("VmRSS")
	return v
}

const plenty = "token-bucket{burst=1000000,rate=1/1h}"

func (v *victim) address() string { return strings.TrimPrefix(v.url, "http://") }

// memory is a figure of /proc/PID/status, in bytes.
func (v *victim) memory(field string) int64 {
	v.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid))
	if err != nil {
		v.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kB, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				v.t.Fatal(err)
			}
			return kB << 10
		}
	}
	v.t.Fatalf("there is no %s in %s", field, status)
	return 0
}

// mustAnswer fails the test unless somebody else is answered.
func (v *victim) mustAnswer() {
	v.t.Helper()
	client := &http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	req, err := http.NewRequest("GET", v.url+"/", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "somebody else")
	res, err := client.Do(req)
	if err != nil {
		v.t.Fatalf("somebody else: %v", err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		v.t.Fatalf("somebody else: got %d, want 200", res.StatusCode)
	}
}

// mustStayBelow fails the test if the program has grown by more than so many
// bytes at its worst.
func (v *victim) mustStayBelow(bound int64) {
	v.t.Helper()
	grown := v.memory("VmHWM") - v.resident
	v.t.Logf("grown by %.1f MB at its worst, %.1f MB now; the bound is %.1f MB", mega(grown), mega(v.memory("VmRSS")-v.resident), mega(bound))
	if grown > bound && !raceDetector {
		v.t.Errorf("the program has grown by %d bytes, want at most %d", grown, bound)
	}
}

func mega(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func (v *victim) dial() (net.Conn, error) {
	conn, err := net.Dial("tcp", v.address())
	if err == nil {
		v.t.Cleanup(func() { conn.Close() })
	}
	return conn, err
}

const kB = 1 << 10

// Thousands of connections that send a header without an end, a byte now and
// then: each costs no more than 48 kB, and others are answered.
func TestSlowloris(t *testing.T) {
	const conns = 3000
	v := startVictim(t, plenty)
	var open []net.Conn
	for range conns {
		conn, err := v.dial()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Filler: %s", strings.Repeat("x", 12*kB))
		open = append(open, conn)
	}
	for range 3 {
		for _, conn := range open {
			fmt.Fprint(conn, "x")
		}
		v.mustAnswer()
	}
	v.mustStayBelow(conns*48*kB + 16<<20)
}

// The same over HTTP/2, where one connection has up to 250 requests at once: with
// long headers and bodies that never end.
func TestSlowStreams(t *testing.T) {
	const conns, streams = 8, 200
	v := startVictim(t, plenty)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	for range conns {
		tr := &http.Transport{Protocols: &protocols}
		defer tr.CloseIdleConnections()
		for range streams {
			body, w := io.Pipe()
			defer w.Close()
			req, err := http.NewRequestWithContext(ctx, "POST", v.url+"/", body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Filler", strings.Repeat("x", 12*kB))
			wg.Go(func() {
				if res, err := tr.RoundTrip(req); err == nil {
					res.Body.Close()
				}
			})
			fmt.Fprint(w, "x") // it is on its way
		}
	}
	v.mustAnswer()
	v.mustStayBelow(conns*streams*48*kB + 16<<20)
}

// Headers of a megabyte are cut off at 16 kB.
func TestHugeHeaders(t *testing.T) {
	v := startVictim(t, plenty)
	huge := strings.Repeat("x", 1<<20)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := v.status("GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + huge + "\r\n\r\n"); got != 431 && got != 0 {
					t.Errorf("got %d, want a 431 or a connection that is cut off", got)
				}
			}
		})
	}
	wg.Wait()
	v.mustAnswer()
	v.mustStayBelow(32 << 20)
}

// status sends a text and gives the status of the answer, or 0 if there is none.
func (v *victim) status(text string) int {
	conn, err := net.Dial("tcp", v.address())
	if err != nil {
		return 0
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	go io.WriteString(conn, text) // it may be cut off in the middle
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	return res.StatusCode
}

// Bodies without an end are cut off, whether their length was told or not.
func TestHugeBodies(t *testing.T) {
	for _, m := range []string{"plain", "order"} {
		v := startVictim(t, plenty, "--mode", m)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 5 {
					req, err := http.NewRequest("POST", v.url+"/", io.LimitReader(endless{}, 64<<20))
					if err != nil {
						t.Error(err)
						return
					}
					if i%2 == 0 {
						req.ContentLength = 64 << 20
					}
					req.Header.Set("X-Api-Key", "a")
					res, err := http.DefaultClient.Do(req)
					if err != nil {
						continue // cut off while it was still sending
					}
					res.Body.Close()
					if res.StatusCode != 413 {
						t.Errorf("%s: got %d, want 413", m, res.StatusCode)
					}
				}
			})
		}
		wg.Wait()
		v.mustAnswer()
		v.mustStayBelow(32 << 20)
	}
}

// endless is a body of spaces.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Clients of whom each asks once, with keys that are longer than is remembered: a
// key costs no more than 768 bytes, with all that the collector has not yet
// collected.
func TestManyKeys(t *testing.T) {
	const keys, conns = 100_000, 4
	v := startVictim(t, plenty)
	filler := strings.Repeat("k", 300)
	var wg sync.WaitGroup
	for c := range conns {
		wg.Go(func() {
			if err := v.pipeline(keys/conns, func(i int) string { return fmt.Sprintf("%s-%d-%d", filler, c, i) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v.mustAnswer()
	v.mustStayBelow(keys*768 + 16<<20)
}

// pipeline asks n times on one connection without waiting for answers, all of
// which must be 200.
func (v *victim) pipeline(n int, key func(int) string) error {
	conn, err := net.Dial("tcp", v.address())
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		w := bufio.NewWriterSize(conn, 64*kB)
		for i := range n {
			fmt.Fprintf(w, "GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n\r\n", key(i))
		}
		w.Flush()
	}()
	answers := bufio.NewReaderSize(conn, 64*kB)
	for i := range n {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return fmt.Errorf("answer %d: %w", i, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		if res.StatusCode != 200 {
			return fmt.Errorf("answer %d: got %d, want 200", i, res.StatusCode)
		}
	}
	return nil
}

// Bytes that are no HTTP, on a plain port and on one with TLS.
func TestRandomBytes(t *testing.T) {
	v := startVictim(t, plenty, "--listen-tls", "127.0.0.1:0")
	odd := rand.New(rand.NewPCG(1, 1))
	starts := []string{"", "GET / HTTP/1.1\r\n", "GET ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "\r\n\r\n"}
	for i := range 1000 {
		b := bytes.NewBufferString(starts[i%len(starts)])
		for range odd.IntN(2000) {
			b.WriteByte(byte(odd.Uint32()))
		}
		conn, err := v.dial()
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(b.Bytes())
		if i%3 == 0 {
			conn.Close()
		}
		if i%100 == 0 {
			v.mustAnswer()
		}
	}
	v.mustAnswer()
	v.mustStayBelow(1000*48*kB + 16<<20)
}

// Headers that say where a request comes from, in every state of disrepair: all
// are answered, and nobody gets more than its peer address allows.
func TestMalformedForwarded(t *testing.T) {
	v := startVictim(t, "token-bucket{burst=101,rate=1/1h}", "--key", "forwarded{trusted=2}+xff{trusted=2}") // one is spent
	odd := rand.New(rand.NewPCG(2, 2))
	pieces := []string{`for=`, `"`, `[2001:db8::1]`, `192.0.2.1`, `,`, `;`, ` `, `=`, `\`, `unknown`, `_x`, `by=`, `:80`, "\t", `%`, strings.Repeat("x", 200)}
	got := map[int]int{}
	for range 1000 {
		var b strings.Builder
		for range 1 + odd.IntN(12) {
			b.WriteString(pieces[odd.IntN(len(pieces))])
		}
		// No second element is an address, since nothing that is one follows a comma.
		text := strings.NewReplacer("192.0.2.1", "192.0.2.256", "[2001:db8::1]", "[2001:db8::g]").Replace(b.String())
		got[v.status("GET / HTTP/1.1\r\nHost: x\r\nForwarded: "+text+"\r\nX-Forwarded-For: "+text+"\r\nConnection: close\r\n\r\n")]++
	}
	if got[200] != 100 || got[429] != 900 {
		t.Errorf("got %v, want 100 admitted and 900 refused", got)
	}
}

// A client that asks and never reads its answers is cut off by nobody for a
// while, and keeps nobody from being answered.
func TestClientsThatDoNotRead(t *testing.T) {
	v := startVictim(t, plenty)
	for range 20 {
		conn, err := v.dial()
		if err != nil {
			t.Fatal(err)
		}
		conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		for {
			_, err := io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: a\r\n\r\n", 100))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break // its buffers are full, and the server waits
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	v.mustAnswer()
	v.mustStayBelow(32 << 20)
}
