package limiter

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// Align is what the windows or refills of a limiter are aligned to.
type Align string

// The alignments. All keys have the same edges but for FirstHit.
const (
	Epoch    Align = "epoch"     // edges are at whole multiples of the period since 1970
	Start    Align = "start"     // edges are at whole multiples since the server was started
	FirstHit Align = "first-hit" // each key's period begins when a request finds it unused
)

// maxPeriod keeps a moment and some periods within 64 bits of nanoseconds.
const maxPeriod = 10 * 366 * 24 * time.Hour

// Grid is the edges of windows or refills in time.
type Grid struct {
	Align  Align
	Origin int64 // nanoseconds: an edge of Epoch, 0, or of Start, the start of the server; of no use with FirstHit
	Period int64 // nanoseconds from edge to edge
}

// newGrid is a grid of that period. Until the start of the server is known, that
// of Start is the epoch.
func newGrid(align Align, period time.Duration) (Grid, error) {
	if period > maxPeriod {
		return Grid{}, fmt.Errorf("a period of %v: give at most %v", period, maxPeriod)
	}
	return Grid{Align: align, Period: int64(period)}, nil
}

// Floor is the last edge that is not after now.
func (g Grid) Floor(now int64) int64 {
	past := (now - g.Origin) % g.Period
	if past < 0 {
		past += g.Period
	}
	return now - past
}

// holds reports whether now is in the period that begins at start. It is what
// most requests find, and spares them a division.
func (g Grid) holds(start, now int64) bool { return uint64(now-start) < uint64(g.Period) }

// started is the grid of a server that was started at now.
func (g Grid) started(now int64) Grid {
	if g.Align == Start {
		g.Origin = now
	}
	return g
}

// readAlign reads the setting, which is the first of those allowed if absent.
func readAlign(r *mode.Reader, allowed ...Align) Align {
	var words []string
	for _, a := range allowed {
		words = append(words, string(a))
	}
	return Align(r.Choice("align", words[0], words...))
}
