package probes

import (
	"bytes"
	"sync"
)

// gate keeps the end of a request back until it is opened, so that all requests of
// a volley are with the server but for two bytes each, and are complete at the same
// moment. What is kept back is the end of the empty line behind the head, and the
// body: before that, no server can tell whether another header follows, so that no
// limiter has decided.
type gate struct {
	mu     sync.Mutex
	line   *line // whose request is kept back; nil: none is yet
	opened bool
	packet *packet // whose connection the request takes; nil: it has one of its own
	at     int64   // when what was kept back was let go, nanoseconds since the run's start; 0: nothing was
}

// keep makes a connection that a request was given keep its end back. A gate that
// is open keeps nothing.
func (g *gate) keep(l *line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened || l == nil {
		return
	}
	g.line = l
	l.keepBack(g.packet != nil)
}

// open lets go of what is kept back.
func (g *gate) open(clk clock) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = true
	if g.line != nil {
		g.at = clk.now()
		g.line.letGo()
	}
}

// let is when the request was let go; 0: it was not kept back.
func (g *gate) let() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at
}

// never reports whether the request was kept back and not let go.
func (g *gate) never() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line != nil && g.at == 0
}

// ended is told that a request with this gate, or without one, is over.
func (g *gate) ended() {
	if g != nil && g.packet != nil {
		g.packet.left.Done()
	}
}

// kept is the part of a line that a gate keeps.
type kept struct {
	mu    sync.Mutex
	back  bool
	whole bool // from the first byte on, and not from the end of a head
	held  []byte
}

func (l *line) keepBack(whole bool) {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	l.kept.back, l.kept.whole = true, whole
}

func (l *line) letGo() {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	l.kept.back = false
	if len(l.kept.held) > 0 {
		_, _ = l.Conn.Write(l.kept.held) // that it failed is seen when no answer comes
		l.kept.held = nil
	}
}

// Write sends p, but for what is kept back of it.
func (l *line) Write(p []byte) (int, error) {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	if !l.kept.back {
		return l.Conn.Write(p)
	}
	from := 0
	if len(l.kept.held) == 0 && !l.kept.whole {
		from = headEnd(p)
	}
	if from > 0 {
		if n, err := l.Conn.Write(p[:from]); err != nil {
			return n, err
		}
	}
	l.kept.held = append(l.kept.held, p[from:]...)
	return len(p), nil
}

// headEnd is how much of the beginning of a request is surely not all of its head:
// up to the empty line behind it, and nothing where that is not in it.
func headEnd(p []byte) int {
	i := bytes.Index(p, []byte("\r\n\r\n"))
	if i < 0 {
		return 0
	}
	return i + 2
}
