package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/fields"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckPolicy is the id of the advice that what a server announces is what it was
// declared to promise.
const CheckPolicy = "ratelimit.policy"

// policy compares the policies in the answers with the limit that was declared: q
// is what can be had at once, and w the time in which as much comes again. A
// server may announce more limits than were declared, so that one that fits is
// enough. Whether what is declared is also what is kept is the business of the
// bounds. It is advice, also where the bounds refute what is announced: the draft says
// that the details of RateLimit-Policy are informative and that a client may ignore
// them, so that nobody is promised anything by it. --strict makes a promise of it.
type policy struct {
	limits []scenarios.Limit
	i      int
	told   int64
	fit    int64
	first  *results.Hit // that announces none that fits
	what   []fields.Policy
}

func newPolicy(limits []scenarios.Limit, i int) *policy { return &policy{limits: limits, i: i} }

func (p *policy) check() string { return CheckPolicy }
func (p *policy) trim(int64)    {}

func (p *policy) hear(events []event) {
	for _, e := range events {
		if e.kind != ends || e.f.hit.Headers == "" || !e.f.speaks() || p.told >= sampleSize {
			continue
		}
		if all := e.f.says().Policies; len(all) > 0 {
			p.announced(e.f.hit, all)
		}
	}
}

func (p *policy) announced(h *results.Hit, all []fields.Policy) {
	p.told++
	for _, a := range all {
		if matches(p.limits[p.i], a) {
			p.fit++
			return
		}
	}
	if p.first == nil {
		c := *h
		p.first, p.what = &c, all
	}
}

// matches reports whether a policy is what a limit is announced by. One without a
// window says nothing of the rate, and seconds round the window.
func matches(l scenarios.Limit, p fields.Policy) bool {
	if !fits(l, p.Quota) || !p.Requests() && l.Contract != scenarios.Concurrency && l.CostHeader == "" {
		return false
	}
	if p.Window == 0 || l.Rate.Count == 0 {
		return true
	}
	off := p.Window - l.Rate.Time(p.Quota)
	return off < time.Second && off > -time.Second
}

func (p *policy) tell() []results.Finding {
	l := p.limits[p.i]
	f := results.Finding{Check: CheckPolicy, Limit: l.Name, Level: results.Should}
	switch {
	case p.told == 0:
		return nil
	case p.first == nil:
		f.Status, f.Text = results.Kept, fmt.Sprintf("what is announced is what was declared (%s)", plural(p.told, "answer"))
	default:
		f.Status, f.Seqs = results.Broken, []int64{p.first.Seq}
		f.FromNS, f.ToNS = p.first.Sent, p.first.First
		f.Text = fmt.Sprintf("%s and %s declared; so on %d of %s, first on request %d", announcement(p.what), terms(l), p.told-p.fit, plural(p.told, "answer"), p.first.Seq)
	}
	return []results.Finding{f}
}

// announcement is policies in words.
func announcement(all []fields.Policy) string {
	var words []string
	for _, a := range all {
		w := fmt.Sprint(a.Quota)
		if a.Window > 0 {
			w += " per " + duration(int64(a.Window))
		}
		words = append(words, w)
	}
	return join(words, ", ") + " announced,"
}
