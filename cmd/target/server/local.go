package server

import (
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// local is the limiter whose states live in this process.
type local struct {
	parts defect.Parts
	table *store.Table[limiter.State]
	truth *ledger
}

func newLocal(parts defect.Parts, truth *ledger) *local {
	return &local{parts: parts, table: store.New(parts.Algorithm.Forgettable), truth: truth}
}

// decide asks for cost tokens of key. If they are there, it asks the front for
// a place as well; shed is its answer if there is none. The error is a
// limiter.CostError, and then nothing has happened.
//
// The clock is read, the state changed, the place taken and the truth recorded
// in one critical section of the key: so the recorded moment is the one that
// was decided on, and the records of a key are in the order of its decisions.
func (l *local) decide(key string, cost int64, f front) (d limiter.Decision, shed *answer, err error) {
	l.table.Update(key, func(s limiter.State, known bool) (limiter.State, int64, bool) {
		at := l.parts.Clock.Read()
		now := l.parts.Now(at)
		if !known {
			s = l.parts.Algorithm.Fresh(now)
		}
		if d, err = l.parts.Algorithm.Decide(s, now, cost); err != nil {
			return s, now, known
		}
		status := http.StatusTooManyRequests
		if d.Admitted {
			status = http.StatusOK
			if shed = f.enter(); shed != nil {
				status = shed.status
			}
		}
		l.truth.add(Truth{
			MonoNS: at.Mono, WallNS: at.Wall, Key: key, Cost: cost,
			Before: d.Before, After: d.After, Unit: d.Unit, Admitted: d.Admitted, Status: status,
		})
		return s, now, true
	})
	return d, shed, err
}
