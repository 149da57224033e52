package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckFitness is the id of the question that comes first: whether the run
// itself was fired as planned, so that its record can be asked anything.
const CheckFitness = "run.fitness"

// fitness judges the generator. A proof needs no fitness: what was recorded was
// recorded. But a phase that was not fired did not ask its question.
//
// With seen, errors of the size that was asked for are refuted on both sides and
// in the burst: then what could not be sent is not missing.
func fitness(r *results.Run, seen bool, t *tally) results.Finding {
	f := results.Finding{Check: CheckFitness, Status: results.Kept}
	bad := func(format string, args ...any) results.Finding {
		f.Status, f.Text = results.Inconclusive, fmt.Sprintf(format, args...)
		return f
	}
	answered := r.Admitted + r.Limited
	switch {
	case r.Sent == 0 && r.Path == results.NotOnRecord:
		return bad("nothing was recorded whole, and what was sent is not known: %s", r.Stopped)
	case r.Sent == 0:
		return bad("no request was sent")
	case r.Stopped != "":
		return bad("firing ended early: %s", r.Stopped)
	case r.Unknown+r.Other > answered && 2*t.silent.n > r.Unknown+r.Other:
		return bad("%d of %s were not answered within %s: the service is not well, or it holds requests back for longer; give them more time with --timeout",
			t.silent.n, plural(r.Sent, "request"), duration(t.silent.wait))
	case r.Unknown+r.Other > answered:
		return bad("%d of %s were answered by neither an admission nor a refusal: the service is not well, or its answers need declaring%s", r.Unknown+r.Other, plural(r.Sent, "request"), t.losses.all.most())
	}
	var missed []string
	for i, p := range r.Phases {
		if scenarios.IsFollowUp(p.Name) {
			continue // it was fired behind the verdict
		}
		if p.Lost > 2 && p.Lost*5 > p.Sent {
			return bad("of phase %s %d of %s were answered by neither an admission nor a refusal, or not at all: what it asks is not answered%s", p.Name, p.Lost, plural(p.Sent, "request"), t.losses.of(i))
		}
		if missing := p.Planned - p.Sent; missing > 1 && missing*10 > p.Planned {
			if !seen {
				return bad("of phase %s only %d of %s could be sent in time: this machine is too busy or too slow for it", p.Name, p.Sent, plural(p.Planned, "shot"))
			}
			missed = append(missed, p.Name)
		}
	}
	if len(missed) > 0 {
		f.Text = fmt.Sprintf("%d of %s sent, of %s less than planned; what was sent is enough to see by", r.Sent, plural(r.Planned, "planned request"), strings.Join(missed, ", "))
		return f
	}
	f.Text = fmt.Sprintf("%d of %s sent", r.Sent, plural(r.Planned, "planned request"))
	return f
}

// proofEnough is the fitness of a run that was to end with the first proof, and is
// broken: up to there it was fired as planned, or was not.
func proofEnough(r *results.Run, t *tally) results.Finding {
	fired := *r
	fired.Stopped = ""
	f := fitness(&fired, false, t)
	if f.Status == results.Kept {
		f.Text = fmt.Sprintf("firing ended early: %s; until then %d of %s that came due sent", r.Stopped, r.Sent, plural(r.Planned, "request"))
	}
	return f
}
