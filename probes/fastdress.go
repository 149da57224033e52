package probes

import (
	"bytes"
	"context"
	"net/http"

	"github.com/ratehammer/ratehammer/probes/wire"
	"github.com/ratehammer/ratehammer/scenarios"
)

// prepared is a request as it leaves.
type prepared struct {
	bytes []byte
	head  bool // the method is HEAD
}

// preparedFor is what requests are the same for.
type preparedFor struct {
	key   int32
	cost  int64
	apart bool
}

// ground is where a source address sends from.
type ground struct {
	shared wire.Place
	apart  wire.Place
	owned  map[place]*wire.Place
}

// dressAll makes the requests of a beat before its moment.
func (f *fast) dressAll(b *beat) {
	if b.crew == nil {
		if b.shot.Turn == 0 && b.attack == nil && b.flood == nil {
			_, _ = f.dress(b.shot)
		}
		return
	}
	for _, s := range b.shots {
		if s.Turn == 0 {
			_, _ = f.dress(s) // an error is heard when the shot is due
		}
	}
}

// dress gives a shot's request. One that varies is made each time.
func (f *fast) dress(s scenarios.Shot) (*prepared, error) {
	same := preparedFor{s.Key, s.Cost, s.Apart}
	if s.Turn == 0 {
		if p := f.prepared[same]; p != nil {
			return p, nil
		}
	}
	r, err := f.run.chutes[s.Key].request(context.Background(), f.run.plan.Ask(s))
	if err != nil {
		return nil, err
	}
	r.Close = s.Apart
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return nil, err
	}
	p := &prepared{bytes: b.Bytes(), head: r.Method == http.MethodHead}
	if s.Turn == 0 {
		f.prepared[same] = p
	}
	return p, nil
}

// place is where a shot is sent from.
func (f *fast) place(s scenarios.Shot) *wire.Place {
	c := f.run.chutes[s.Key]
	g := f.grounds[c]
	if g == nil {
		from := c.lines.source
		g = &ground{shared: wire.Place{From: from}, apart: wire.Place{From: from, Once: true}, owned: map[place]*wire.Place{}}
		f.grounds[c] = g
	}
	switch n := 0; {
	case s.Apart:
		return &g.apart
	case s.Turn > 0:
		ask := f.run.plan.Ask(s)
		if n = ask.Line(); n == 0 {
			return &g.shared
		}
		p := g.owned[place{ask.Key, n}]
		if p == nil {
			p = &wire.Place{From: g.shared.From, Most: 1}
			g.owned[place{ask.Key, n}] = p
		}
		return p
	}
	return &g.shared
}
