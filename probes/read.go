package probes

import (
	"net/http"

	"github.com/ratehammer/ratehammer/results"
)

// Read records an answer: what it means by the declared answers, and the raw
// text of the headers that speak of limits.
func (g *Gun) Read(h *results.Hit, res *http.Response) {
	h.Status = int32(res.StatusCode)
	h.Outcome = g.outcome(res.StatusCode, res.Header)
	h.RetryAfter, h.Date, h.Headers = results.LimitFields(res.Header)
}

func (g *Gun) outcome(status int, header http.Header) results.Outcome {
	a := g.target.Answers
	return results.OutcomeOf(status, a.Limited.Covers(status, header), a.Admitted.Covers(status, header))
}
