package store

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxGossip bounds what is on its way to one store; what is older is lost.
const maxGossip = 1 << 16

// Gossip is what stores of the same limits tell each other of what they have
// admitted: it is heard by all others after the lag, and charged there as far as
// there is something left. So together they admit more than one of them would.
type Gossip struct {
	lag time.Duration
	now func() int64

	mu    sync.Mutex
	boxes map[int]*inbox
}

// inbox is what one store has not heard yet, in the order of time.
type inbox struct{ news []news }

type news struct {
	at   int64 // when it is heard
	asks []Ask
}

// NewGossip gives a gossip that takes so long by the clock now, in nanoseconds.
func NewGossip(lag time.Duration, now func() int64) *Gossip {
	return &Gossip{lag: lag, now: now, boxes: map[int]*inbox{}}
}

// Join gives s as a store that tells and hears. A member with the same number is
// replaced, and what was on its way to it is lost.
func (g *Gossip) Join(s Store, number int) Store {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.boxes[number] = &inbox{}
	return &gossiping{Store: s, gossip: g, number: number}
}

type gossiping struct {
	Store
	gossip *Gossip
	number int
}

// Decide charges first what has been heard meanwhile. It is computed when it is
// needed, so that no timer has to fire.
func (s *gossiping) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	for _, n := range s.gossip.heard(s.number) {
		// Limits that are not there any more have nothing to charge.
		_ = s.Store.Decide(ctx, n.asks, nil)
	}
	return s.Store.Decide(ctx, asks, func(a *Answer) {
		if a.Admitted && a.Policy == None {
			s.gossip.tell(s.number, asks)
		}
		if settle != nil {
			settle(a)
		}
	})
}

func (g *Gossip) heard(number int) []news {
	g.mu.Lock()
	defer g.mu.Unlock()
	box, now := g.boxes[number], g.now()
	n := 0
	for n < len(box.news) && box.news[n].at <= now {
		n++
	}
	if n == 0 {
		return nil
	}
	heard := slices.Clone(box.news[:n])
	box.news = slices.Delete(box.news, 0, n)
	return heard
}

func (g *Gossip) tell(from int, asks []Ask) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.now() + int64(g.lag)
	for number, box := range g.boxes {
		if number != from {
			if len(box.news) >= maxGossip {
				box.news = slices.Delete(box.news, 0, 1)
			}
			told := slices.Clone(asks)
			for i := range told {
				told[i].Key = strings.Clone(told[i].Key) // which may be a piece of a whole request
			}
			box.news = append(box.news, news{at, told})
		}
	}
}
