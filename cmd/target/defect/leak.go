package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// maxLeak is bytes that a key can leak; a server with a million keys has a
// million times as much.
const maxLeak = 1 << 20

func leak() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "leak",
			Settings: "bytes=NUMBER",
			Example:  "leak{bytes=1024}",
			Text:     "No key is ever forgotten, and each takes so many bytes more than it has to.",
		},
		rows:    []string{"D29"},
		reports: []string{"boinkor-net/governor issue 171", "ruhex/BGPLite issue 423"},
		stage:   beside,
		unseen:  "no answer differs: what a server remembers is seen in its memory alone",
		apply: func(p *Parts, r *mode.Reader) error {
			bytes := r.IntOr("bytes", 0)
			r.Require(bytes >= 0 && bytes <= maxLeak, "bytes", fmt.Sprintf("give 0 to %d", maxLeak))
			if err := r.Done(); err != nil {
				return err
			}
			p.Algorithm = leaky{note[[]byte](p.Algorithm), int(bytes)}
			return nil
		},
	}
}

// leaky is an algorithm that remembers every key for ever.
type leaky struct {
	noting[[]byte]
	bytes int
}

func (a leaky) Fresh(now int64) limiter.State {
	return &noted[[]byte]{a.Algorithm.Fresh(now), make([]byte, a.bytes)}
}

func (leaky) Forgettable(limiter.State, int64) bool { return false }
