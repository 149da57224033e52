package server

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/store"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// What a request costs the server in all, with net/http around it: one that is
// admitted, one that is refused, and the second by the first.
func BenchmarkPrice(b *testing.B) {
	for name, fields := range map[string][]string{"bare": nil, "draft": {"draft"}, "two-sets": {"draft", "x-ratelimit"}} {
		b.Run(name, func(b *testing.B) { price(b, Route{Answers: dialect.Settings{Fields: fields}}) })
	}
}

func price(b *testing.B, r Route) {
	open := newRouter(b, routed(b, "token-bucket{burst=1000000000,rate=1000000/s}", r))
	shut := newRouter(b, routed(b, "token-bucket{burst=1,rate=1/10m}", r))
	const round = 200
	admitted, refused := time.Hour, time.Hour
	for range b.N {
		// By turns, and the fastest of each: whatever else the machine does only
		// ever adds to what a request costs.
		admitted = min(admitted, feed(open, round))
		refused = min(refused, feed(shut, round))
	}
	b.ReportMetric(float64(admitted)/round, "ns/admitted")
	b.ReportMetric(float64(refused)/round, "ns/refused")
	b.ReportMetric(float64(refused)/float64(admitted), "refused/admitted")
	b.ReportMetric(0, "ns/op")
}

// What the truth costs beside the decision that it is about.
func BenchmarkTruth(b *testing.B) {
	s, err := build(byHeader(b, "token-bucket{burst=10,rate=5/s}"), time.Now(), nil)
	if err != nil {
		b.Fatal(err)
	}
	const round = 2000
	asks := []store.Ask{{Key: "client-0001", Cost: 1}}
	records := []truth.Record{{Key: "client-0001", Limit: DefaultName, Route: "/", Cost: 1}}
	decide, record := time.Hour, time.Hour
	for range b.N {
		decide = min(decide, timeOf(func() {
			for range round {
				_ = s.nodes[0].life().backings[0].store.Decide(b.Context(), asks, nil)
			}
		}))
		record = min(record, timeOf(func() {
			for range round {
				s.truth.Add(records)
			}
		}))
	}
	b.ReportMetric(float64(decide)/round, "ns/decision")
	b.ReportMetric(float64(record)/round, "ns/record")
	b.ReportMetric(float64(record)/float64(decide), "record/decision")
	b.ReportMetric(0, "ns/op")
}

func timeOf(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func newRouter(b *testing.B, cfg Config) http.Handler {
	s, err := Start(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s.nodes[0].handler(s.cfg.Listeners[0].name())
}

// feed has n requests of one connection answered, and tells how long that took.
func feed(h http.Handler, n int) time.Duration {
	p := &pipeline{left: n, done: make(chan struct{})}
	began := time.Now()
	srv := &http.Server{Handler: h}
	_ = srv.Serve(&single{conn: p})
	<-p.done
	return time.Since(began)
}

const asked = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nX-Api-Key: alice\r\n\r\n"

// pipeline is a connection that asks the same again and again, and whose other
// end reads nothing.
type pipeline struct {
	left int
	done chan struct{} // closed when the server has closed its end
}

func (p *pipeline) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	// One at a time: the server reads ahead while it answers.
	p.left--
	return copy(b, asked), nil
}

func (p *pipeline) Close() error {
	close(p.done)
	return nil
}

func (*pipeline) Write(b []byte) (int, error)      { return len(b), nil }
func (*pipeline) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (*pipeline) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (*pipeline) SetDeadline(time.Time) error      { return nil }
func (*pipeline) SetReadDeadline(time.Time) error  { return nil }
func (*pipeline) SetWriteDeadline(time.Time) error { return nil }

// single is a listener to which one connection comes.
type single struct{ conn net.Conn }

func (s *single) Accept() (net.Conn, error) {
	if s.conn == nil {
		return nil, io.EOF
	}
	c := s.conn
	s.conn = nil
	return c, nil
}

func (*single) Close() error   { return nil }
func (*single) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
