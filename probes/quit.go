package probes

import (
	"sync"

	"github.com/ratehammer/ratehammer/scenarios"
)

// quitters are the clients that have given up, each in a phase. The zero quitters
// are none.
type quitters struct {
	mu   sync.Mutex
	gone map[[2]int32]bool // by phase and key
}

// after notes that a shot was refused.
func (q *quitters) after(s scenarios.Shot) {
	if s.Retry != scenarios.RetryGiveUp {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone == nil {
		q.gone = map[[2]int32]bool{}
	}
	q.gone[[2]int32{s.Phase, s.Key}] = true
}

// has reports whether a shot is not to be sent, since its client has given up.
func (q *quitters) has(s scenarios.Shot) bool {
	if s.Retry != scenarios.RetryGiveUp {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.gone[[2]int32{s.Phase, s.Key}]
}
