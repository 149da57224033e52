package probes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Preflight is what the first requests found.
type Preflight struct {
	First  results.Outcome // of the first one; admitted or limited
	Status int             // of the first one, like Header and Proto
	Header http.Header
	Proto  string        // such as HTTP/1.1
	Peer   string        // address that answered last
	RTT    time.Duration // the shortest from request to answer, without connecting
	Sent   int
}

// Preflight sends up to n requests on a key, before the run, to see that the
// target answers and that its answers are understood. Its errors say what to
// declare or mend.
func (g *Gun) Preflight(ctx context.Context, label string, n int) (Preflight, error) {
	var p Preflight
	source, err := g.source(label)
	if err != nil {
		return p, err
	}
	c := g.chuteFor(source)
	for range n {
		h := results.Hit{Key: label, Cost: 1}
		res, body, err := g.asked(ctx, c, &h, p.Sent == 0)
		switch {
		case err != nil && res != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			return p, hinted(fmt.Errorf("%s answers %d, but its answer does not end within %v", g.target.URL, res.StatusCode, g.target.Timeout),
				"a stream cannot be checked: give a path whose answers end, or raise --timeout")
		case err != nil:
			return p, g.explain(err)
		}
		if p.Sent++; p.Sent == 1 {
			p.First, p.Status, p.Header, p.Proto = h.Outcome, res.StatusCode, res.Header, res.Proto
		}
		p.Peer = h.Peer
		if rtt := time.Duration(h.First - h.Sent); p.RTT == 0 || rtt < p.RTT {
			p.RTT = rtt
		}
		if err := g.understood(res, h.Outcome, body); err != nil {
			return p, err
		}
	}
	return p, nil
}

// How often the very first request is sent, and the time before it is sent again:
// a service that has just been started may drop what comes first.
const (
	firstTries = 5
	firstPause = 500 * time.Millisecond
)

// asked is ask, which for the first request is tried again where the service
// dropped it, or does not listen yet.
func (g *Gun) asked(ctx context.Context, c *chute, h *results.Hit, first bool) (res *http.Response, body string, err error) {
	for try := 1; ; try++ {
		res, body, err = g.ask(ctx, c, h)
		if err == nil || !first || !dropped(err) || ctx.Err() != nil {
			return res, body, err
		}
		if try == firstTries {
			return res, body, &tried{err, try}
		}
		select {
		case <-ctx.Done():
			return res, body, err
		case <-time.After(firstPause):
		}
	}
}

// dropped reports whether an error is one of a service that is just starting: the
// connection was refused, or ended before an answer came.
func dropped(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "server closed idle connection") // net/http's word for one that ended before the request was written
}

// tried is the error of a request that was sent so many times.
type tried struct {
	error
	times int
}

func (e *tried) Unwrap() error { return e.error }

// ask sends one request and keeps the beginning of the answer's body.
func (g *Gun) ask(ctx context.Context, c *chute, h *results.Hit) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(ctx, g.target.Timeout)
	defer cancel()
	clk := clock{time.Now()}
	a, err := c.aim(ctx, clk, scenarios.Ask{Key: h.Key, Cost: h.Cost})
	if err != nil {
		return nil, "", err
	}
	defer a.cancel()
	left := clk.now()
	res, err := c.transport.RoundTrip(a.request)
	if err != nil {
		return nil, "", err
	}
	headed := clk.now()
	c.streams.Store(res.ProtoMajor == 2)
	head, err := io.ReadAll(io.LimitReader(res.Body, 512))
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	res.Body.Close()
	a.stamps.fill(h, left)
	h.First = a.stamps.answered(headed)
	g.Read(h, res)
	return res, string(head), err
}

// explain turns an error of the transport into one that says what to do.
func (g *Gun) explain(err error) error {
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var timeout net.Error
	var again *tried
	times := ""
	if errors.As(err, &again) {
		times = fmt.Sprintf(", %d times within %v", again.times, time.Duration(again.times-1)*firstPause)
	}
	other := strings.Replace(g.target.URL, "https://", "http://", 1)
	switch {
	case Hint(err) != "":
		return err
	case errors.Is(err, syscall.EMFILE):
		return hinted(err, "this process may open too few files and connections: raise the limit, such as with ulimit -n 4096")
	case errors.Is(err, syscall.ECONNREFUSED):
		return hinted(fmt.Errorf("nothing listens at %s: connection refused%s", g.url.Host, times), "start the service, or correct the host and port in the URL")
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return hinted(fmt.Errorf("%s does not speak TLS", g.url.Host), "use "+other)
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		return hinted(fmt.Errorf("the certificate of %s is not accepted: %w", g.url.Host, unwrapped(err)),
			"use the name that is on the certificate, point SSL_CERT_FILE at its authority, or add --insecure for a test server")
	case strings.Contains(err.Error(), "malformed HTTP"):
		return hinted(fmt.Errorf("%s does not answer in HTTP: %s", g.url.Host, plainError(err)), "if it speaks TLS, use "+strings.Replace(g.target.URL, "http://", "https://", 1))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return hinted(fmt.Errorf("%s does not answer", g.url.Host), "check the host and port, a firewall in between, or raise --timeout")
	}
	return hinted(fmt.Errorf("the first request to %s failed%s: %s", g.url.Host, times, plainError(err)), "check the URL, and try it with curl -i "+g.target.URL)
}

func unwrapped(err error) error {
	var v *tls.CertificateVerificationError
	if errors.As(err, &v) {
		return v.Err
	}
	return err
}

// understood errs unless an answer is an admission or a refusal by what was declared.
func (g *Gun) understood(res *http.Response, o results.Outcome, body string) error {
	status := res.StatusCode
	got := fmt.Errorf("%s answers %d %s, which is neither an admission nor a refusal", g.target.URL, status, http.StatusText(status))
	declared := "or, if that is how it admits or refuses, declare it with --admitted or --limited"
	location := res.Header.Get("Location")
	undeclared := g.target.Answers.Admitted.String() == scenarios.DefaultAnswers().Admitted.String()
	switch {
	case status >= 300 && status < 400 && location != "" && undeclared && o == results.Admitted:
		return hinted(fmt.Errorf("%s redirects (%d) to %s", g.target.URL, status, location),
			fmt.Sprintf("redirects are not followed: test the place itself, or, if the redirect is the answer to test, add --admitted %d", status))
	case o == results.Admitted || o == results.Limited:
		return nil
	case status == http.StatusBadRequest && strings.Contains(body, "HTTPS"):
		return hinted(fmt.Errorf("%s speaks TLS", g.url.Host), "use "+strings.Replace(g.target.URL, "http://", "https://", 1))
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return hinted(got, "give credentials with --header 'Authorization: ...', or keys that the server knows with --keys FILE; "+declared)
	case status == http.StatusNotFound:
		return hinted(got, "correct the path in the URL; "+declared)
	case status == http.StatusMethodNotAllowed:
		return hinted(got, "give the method with --method; "+declared)
	case status == http.StatusServiceUnavailable:
		return hinted(got, "if the limiter itself refuses with 503, as nginx does by default, add --limited 503")
	case status >= 500:
		return hinted(got, "the service fails: mend that first; "+declared)
	}
	return hinted(got, "see what it wants with curl -i "+g.target.URL+"; "+declared)
}
