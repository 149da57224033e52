package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func startsEmpty() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "starts-empty",
			Example: "starts-empty",
			Text:    "A key that was never seen before starts with no token instead of all.",
		},
		rows:  []string{"M-starts-empty"},
		stage: wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			if err := r.Done(); err != nil {
				return err
			}
			if err := wantBucket("starts-empty", p.Algorithm); err != nil {
				return err
			}
			p.Algorithm = empty{around{p.Algorithm}}
			return nil
		},
	}
}

// empty is a token bucket that starts empty.
type empty struct{ around }

func (e empty) Fresh(now int64) limiter.State {
	s := e.Algorithm.Fresh(now)
	s.(*limiter.Bucket).Level = 0
	return s
}

// Forgettable is never true, so a server with this defect keeps every key. A
// full bucket is not what a fresh key has here: were it forgotten, its client
// would start empty again after each rest, which is another defect.
func (e empty) Forgettable(limiter.State, int64) bool { return false }
