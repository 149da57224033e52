package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// A client may open its connections long before it sends on them, and may hold
// a request back to its last byte: the limits of time are for what is forgotten,
// not for what is slow.
const (
	headerTimeout  = time.Minute
	requestTimeout = 2 * time.Minute
	answerTimeout  = requestTimeout + maxDelay + maxWork + time.Minute // from the request's header on
	idleTimeout    = 5 * time.Minute
	maxHeaderBytes = 16 << 10
	publicGrace    = 3 * time.Second // for requests under way when the server is closed
	adminGrace     = time.Second     // for readers of the truth after that
)

// HTTPVersions describes what a listener can be kept to. Without TLS a client of
// HTTP/2 has to know beforehand that the server speaks it.
func HTTPVersions() []mode.Doc {
	return []mode.Doc{
		{Name: "both", Example: "both", Text: "HTTP/1.1 and HTTP/2."},
		{Name: "http1", Example: "http1", Text: "Only HTTP/1.1."},
		{Name: "http2", Example: "http2", Text: "Only HTTP/2."},
	}
}

// Check says what is wrong with the listener, or nil. Whether its address can be
// had is not tried.
func (l Listener) Check() error {
	var faults []error
	if _, err := l.protocols(); err != nil {
		faults = append(faults, err)
	}
	if p, unix := l.socket(); unix && p == "" {
		faults = append(faults, errors.New("unix: lacks a path: write unix:/run/target.sock"))
	} else if _, _, err := net.SplitHostPort(l.address()); !unix && err != nil {
		faults = append(faults, fmt.Errorf("address %q: write HOST:PORT or unix:PATH, port 0 takes any free port", l.Address))
	}
	return errors.Join(faults...)
}

func (l Listener) protocols() (*http.Protocols, error) {
	var p http.Protocols
	switch l.HTTP {
	case "", "both":
		p.SetHTTP1(true)
		p.SetHTTP2(l.TLS)
		p.SetUnencryptedHTTP2(!l.TLS)
	case "http1":
		p.SetHTTP1(true)
	case "http2":
		p.SetHTTP2(l.TLS)
		p.SetUnencryptedHTTP2(!l.TLS)
	default:
		return nil, mode.Unknown("version of HTTP", l.HTTP, HTTPVersions())
	}
	return &p, nil
}

func (l Listener) address() string {
	if l.Address == "" {
		return "127.0.0.1:0"
	}
	return l.Address
}

func (l Listener) name() string {
	if l.Name == "" {
		return l.address()
	}
	return l.Name
}

// socket is the path of its unix socket, if it has one.
func (l Listener) socket() (path string, unix bool) {
	if path, unix = strings.CutPrefix(l.Address, "unix:"); !unix {
		return "", false
	}
	return path, true
}

// listen takes the address.
func (l Listener) listen() (net.Listener, error) {
	network, address := "tcp", l.address()
	if path, unix := l.socket(); unix {
		network, address = "unix", path
		removeStale(path)
	}
	ln, err := net.Listen(network, address)
	if err == nil {
		return ln, nil
	}
	// An OpError repeats the address; its cause is enough.
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	return nil, fmt.Errorf("listening on %s: %w; give a free address of this machine as HOST:PORT, port 0 takes any free port, or unix:PATH", address, err)
}

// removeStale removes the socket of a server that has ended without doing so:
// one that nobody answers on. Whatever else is at the path stays.
func removeStale(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSocket == 0 {
		return
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return
	}
	// If it cannot be removed, listening will fail and say so.
	_ = os.Remove(path)
}

// endpoint is one listener that is being served.
type endpoint struct {
	url    string // without a slash at its end
	socket string // path of the unix socket; empty: none
	tls    bool
	http   *http.Server
	done   chan struct{} // closed when the listener is served no more
}

// run serves what comes to ln. A timeout of 0 is none.
func run(l Listener, ln net.Listener, h http.Handler, read, write time.Duration, errorLog *log.Logger, cert *certificate) (*endpoint, error) {
	protocols, err := l.protocols()
	if err != nil {
		return nil, err
	}
	socket, _ := l.socket()
	e := &endpoint{url: urlOf(ln.Addr(), l.TLS), socket: socket, tls: l.TLS, done: make(chan struct{})}
	e.http = &http.Server{
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       read,
		WriteTimeout:      write,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          errorLog,
		ConnContext:       rememberVisitor,
		// OPTIONS * is to be limited like everything else.
		DisableGeneralOptionsHandler: true,
	}
	serve := func() error { return e.http.Serve(ln) }
	if l.TLS {
		e.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert.pair}, MinVersion: tls.VersionTLS12}
		serve = func() error { return e.http.ServeTLS(ln, "", "") }
	}
	go func() {
		defer close(e.done)
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			errorLog.Printf("accepting connections ended: %v", err)
		}
	}()
	return e, nil
}

func (e *endpoint) close(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := e.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("closing %s: what was still open after %v was cut off", e.url, grace)
		e.http.Close()
	}
	<-e.done
	return err
}

// closeAll closes several at once, so that they share the grace.
func closeAll(all []*endpoint, grace time.Duration) error {
	errs := make(chan error, len(all))
	for _, e := range all {
		go func() { errs <- e.close(grace) }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	return err
}

// isLocal reports whether only this machine can reach an address.
func isLocal(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// urlOf is an address to paste: one that stands for every address is replaced
// by the loopback one of its kind, and a unix socket by the name that clients
// have to give beside its path.
func urlOf(a net.Addr, tls bool) string {
	scheme := "http://"
	if tls {
		scheme = "https://"
	}
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return scheme + "localhost"
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil || !ap.Addr().IsUnspecified() {
		return scheme + a.String()
	}
	host := "127.0.0.1"
	if tcp.IP.To4() == nil {
		host = "::1"
	}
	return scheme + net.JoinHostPort(host, fmt.Sprint(ap.Port()))
}
