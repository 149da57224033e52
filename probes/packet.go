package probes

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// packet is a connection over HTTP/2 that a volley has to itself. All that is written on
// it is kept back until the gate is opened, and then leaves in one write, so that the
// requests arrive in one packet, or in as few as they fit into.
type packet struct {
	gate *gate // of all of its requests
	conn net.Conn
	over *http.ClientConn
	used atomic.Bool
	left sync.WaitGroup // requests that have not ended
}

// mostStreams is how many requests a packet has at most: so many streams at once a server
// should allow (RFC 9113, section 6.5.2).
const mostStreams = 100

var errOneAtATime = errors.New("the server speaks no HTTP/2")

// pack opens a connection for a volley. The error says why it has none, such as that the
// server does not speak HTTP/2.
func (c *chute) pack(ctx context.Context) (*packet, error) {
	if c.oneByOne.Load() {
		return nil, errOneAtATime
	}
	p := &packet{}
	p.gate = &gate{packet: p}
	t := c.make(func(ctx context.Context, _, _ string) (_ net.Conn, err error) {
		p.conn, err = c.lines.dial(ctx)
		return p.conn, err
	})
	var err error
	if p.over, err = t.NewClientConn(ctx, c.gun.url.Scheme, net.JoinHostPort(c.gun.url.Hostname(), c.lines.port)); err != nil {
		return nil, err
	}
	if p.over.Available() < 2 {
		p.over.Close()
		c.oneByOne.Store(true)
		return nil, errOneAtATime
	}
	return p, nil
}

// RoundTrip sends a request on the packet's connection.
func (p *packet) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: p.conn, Reused: p.used.Swap(true)})
	return p.over.RoundTrip(r)
}

// packets are the gates of a volley's requests, which leave in packets, some on each
// chute's connections; nil: they do not.
func (r *run) packets(ctx context.Context, b beat) []*gate {
	gates := make([]*gate, len(b.shots))
	open := map[*chute]*packet{}
	on := map[*packet]int{}
	var all []*packet
	for i, s := range b.shots {
		c := r.chutes[s.Key]
		p := open[c]
		if p == nil || on[p] == mostStreams {
			var err error
			if p, err = c.pack(ctx); err != nil {
				break // the rest leaves as it would have
			}
			open[c] = p
			all = append(all, p)
		}
		on[p]++
		p.left.Add(1)
		gates[i] = p.gate
	}
	if len(all) == 0 {
		return gates
	}
	r.packed.Store(true)
	r.flying.Go(func() {
		<-b.crew.hold
		for _, p := range all {
			p.gate.open(r.clk)
		}
		for _, p := range all {
			p.left.Wait()
			p.over.Close()
		}
	})
	return gates
}
