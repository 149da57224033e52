package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A client may open its connections long before it sends on them, and may hold
// a request back to its last byte: the limits of time are for what is forgotten,
// not for what is slow.
const (
	headerTimeout  = time.Minute
	requestTimeout = 2 * time.Minute
	idleTimeout    = 5 * time.Minute
	maxHeaderBytes = 16 << 10
	publicGrace    = 3 * time.Second // for requests under way when the server is closed
	adminGrace     = time.Second     // for readers of the truth after that
)

// Server is a running server. Its methods may be used by several goroutines.
type Server struct {
	cfg     Config
	clock   *clock.Clock
	front   front
	local   *local
	truth   *ledger
	answers answers
	fields  fields

	public, admin *endpoint
	closing       chan struct{} // closed when no decision will follow any more
	closeOnce     sync.Once
	closeErr      error
}

// Start builds the server and serves until Close. The error says what is wrong
// with the Config, or which address could not be had.
func Start(cfg Config) (*Server, error) {
	s, err := build(cfg, clock.New(time.Now(), nil))
	if err != nil {
		return nil, err
	}
	public, err := listen(s.cfg.Listen)
	if err != nil {
		return nil, err
	}
	admin, err := listen(s.cfg.Admin)
	if err != nil {
		public.Close()
		return nil, fmt.Errorf("admin side: %w", err)
	}
	if !isLoopback(admin.Addr()) {
		s.cfg.Log.Warn("the admin side can be reached from the network: it moves the clock and shows raw keys", "address", admin.Addr())
	}
	s.public = run(public, http.HandlerFunc(s.handle), requestTimeout, s.cfg.Log)
	// Without a limit: net/http takes a follower of the truth whose request began
	// that long ago for one who has gone away.
	s.admin = run(admin, s.adminHandler(), 0, s.cfg.Log)
	return s, nil
}

// build makes the server without its listeners.
func build(cfg Config, c *clock.Clock) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	algorithm, err := limiter.New(cfg.Limit)
	if err != nil {
		return nil, err
	}
	parts := defect.Right(algorithm, c)
	if err := defect.Apply(&parts, cfg.Defects); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, clock: c, truth: newLedger(cfg.TruthKeep), closing: make(chan struct{})}
	promise := parts.Algorithm.Promise()
	promise.Key = cfg.Key
	if s.front, err = newFront(cfg.Mode); err != nil {
		return nil, err
	}
	if s.fields, err = newFields(promise); err != nil {
		return nil, err
	}
	s.answers = newAnswers(promise, cfg.CostHeader)
	s.local = newLocal(parts, s.truth)
	return s, nil
}

// URL is where the server is reached, without a slash at the end.
func (s *Server) URL() string { return s.public.url }

// AdminURL is where the admin side is reached, without a slash at the end.
func (s *Server) AdminURL() string { return s.admin.url }

// Promise is the limit that the server claims to keep, with or without defects.
func (s *Server) Promise() scenarios.Limit {
	p := s.local.parts.Algorithm.Promise()
	p.Key = s.cfg.Key
	return p
}

// Base is the moment of monotonic 0 of the truth's MonoNS: with it a test in
// the same process maps them to its own clock.
func (s *Server) Base() time.Time { return s.clock.Base() }

// Close stops accepting, gives requests under way three seconds, then the
// readers of the truth feed one second, and cuts off what is left, which its
// error tells. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		public := s.public.close(publicGrace)
		close(s.closing)
		s.closeErr = errors.Join(public, s.admin.close(adminGrace))
	})
	return s.closeErr
}

// endpoint is one listener that is being served.
type endpoint struct {
	url  string
	http *http.Server
	done chan struct{} // closed when the listener is served no more
}

func run(ln net.Listener, h http.Handler, timeout time.Duration, log *slog.Logger) *endpoint {
	e := &endpoint{
		url:  urlOf(ln.Addr()),
		done: make(chan struct{}),
		http: &http.Server{
			Handler:           h,
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       timeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			// OPTIONS * is to be limited like everything else.
			DisableGeneralOptionsHandler: true,
		},
	}
	go func() {
		defer close(e.done)
		if err := e.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("accepting connections ended", "url", e.url, "err", err)
		}
	}()
	return e
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

func listen(address string) (net.Listener, error) {
	ln, err := net.Listen("tcp", address)
	if err == nil {
		return ln, nil
	}
	// An OpError repeats the address; its cause is enough.
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	return nil, fmt.Errorf("listening on %s: %w; give a free address of this machine as HOST:PORT, port 0 takes any free port", address, err)
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// urlOf is an address to paste: one that stands for every address is replaced
// by the loopback one of its kind.
func urlOf(a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil || !ap.Addr().IsUnspecified() {
		return "http://" + a.String()
	}
	host := "127.0.0.1"
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.To4() == nil {
		host = "::1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(ap.Port()))
}
