package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckPositive is the id of the rule that a refusal asks for some time: a
// client that is told to wait for nothing comes back at once and is refused again.
const CheckPositive = "retry-after.positive"

// positive counts refusals that ask for no wait. A date before the answer's own
// is wrong in any case. A wait of 0 s may be true, of a refusal that was decided a
// moment before the door opened (RFC 9110 allows it): it is a lie where a request
// that came right after it, with nothing between them, was refused again.
type positive struct {
	*honest // follows those that were told to wait for nothing
	asked   int64
	zeros   int64
	past    int64 // dates before the answer's own
	said    *results.Hit
	early   *results.Hit // the first with such a date
	by      time.Duration
}

func newPositive(sc *scene, slack scenarios.Slack, limits []scenarios.Limit) *positive {
	p := &positive{honest: newHonest(sc, slack, limits)}
	p.only = func(f *flight) bool { return f.asks.Wait <= 0 }
	return p
}

func (p *positive) check() string { return CheckPositive }

func (p *positive) hear(events []event) {
	for _, e := range events {
		if e.kind == ends && e.f.outcome == results.Limited && e.f.asks.Readable() {
			p.count(e.f)
		}
	}
	p.honest.hear(events)
}

func (p *positive) count(f *flight) {
	p.asked++
	switch {
	case f.asks.Wait < 0:
		if p.past++; p.early == nil {
			p.early, p.by = f.copied(), -f.asks.Wait
		}
	case f.asks.Wait == 0 && f.asks.Form == results.RetrySeconds:
		if p.zeros++; p.said == nil {
			p.said = f.copied()
		}
	}
}

func (p *positive) tell() []results.Finding {
	f := results.Finding{Check: CheckPositive}
	witness := func(h *results.Hit) {
		f.Status, f.Key, f.Seqs, f.FromNS, f.ToNS = results.Broken, h.Key, []int64{h.Seq}, h.Sent, h.First
	}
	switch {
	case p.asked == 0:
		f.Level, f.Text = results.Info, "not asked: no refusal carried a Retry-After that can be read"
	case p.past > 0:
		witness(p.early)
		f.Got, f.Unit = float64(p.past), "refusals"
		f.Text = fmt.Sprintf("Retry-After lies %s before the answer's own Date on %d of %s, first on request %d", duration(int64(p.by)), p.past, plural(p.asked, "refusal"), p.early.Seq)
	case p.zeros == 0:
		f.Status, f.Text = results.Kept, fmt.Sprintf("Retry-After asks for a wait (%s)", plural(p.asked, "refusal"))
	case p.again > 0 && !p.apart:
		f = p.honest.tell()[0]
		f.Check = CheckPositive
		f.Text = fmt.Sprintf("Retry-After: 0 on %d of %s, and it is not true: request %d was told to come at once, request %d came %s later with nothing between them, and was refused again",
			p.zeros, plural(p.asked, "refusal"), p.claim.seq, p.first.Seq, duration(p.first.Sent-p.claim.at))
	default:
		witness(p.said)
		f.Level = results.Should
		f.Text = fmt.Sprintf("Retry-After: 0 on %d of %s, first on request %d: a client comes back at once; nothing shows that it is not true", p.zeros, plural(p.asked, "refusal"), p.said.Seq)
	}
	return []results.Finding{f}
}
