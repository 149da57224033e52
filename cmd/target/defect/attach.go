package defect

import (
	"net/http"
	"path"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func attach() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "attach",
			Settings: "path=PATH,form=report-only",
			Example:  "attach{path=/other}",
			Text:     "The limit is there and has no effect: it sits on a path of its own, and other requests pass it by (path), or it tells what it would do and refuses nothing (report-only).",
		},
		rows:    []string{"D60"},
		reports: []string{"ls1intum/Artemis PR 13412", "kubernetes/ingress-nginx issue 1981"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			at, form := r.TextOr("path", ""), r.Choice("form", "enforced", "report-only")
			r.Require(r.Has("path") != r.Has("form"), "path", "give it, or form=report-only")
			r.Require(at == "" || strings.HasPrefix(at, "/") && at != "/" && at == path.Clean(at), "path", "give one such as /other")
			if err := r.Done(); err != nil {
				return err
			}
			if form == "report-only" {
				p.Algorithm = reporting{releasing{around{p.Algorithm}}}
				return nil
			}
			p.asks(func(r *http.Request, _ *store.Ask) bool {
				asked := path.Clean("/" + r.URL.Path)
				return asked == at || strings.HasPrefix(asked, at+"/")
			})
			return nil
		},
	}
}

// reporting is an algorithm whose refusals are none. What is told of the tokens
// is the truth.
type reporting struct{ releasing }

func (a reporting) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	d, err := a.Algorithm.Decide(s, now, cost)
	if err == nil && !d.Admitted {
		d.Admitted, d.Wait = true, 0
	}
	return d, err
}
