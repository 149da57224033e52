package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckRecovery is the id of the time that a limiter takes to be itself again once its
// store is there again.
const CheckRecovery = "outage.recovery"

// recovery is the finding about that; ok: something can be said of it. That a limiter
// is itself again shows by an answer that its policy does not give: where all was
// refused by an admission, where all was admitted by a refusal.
func (o *outages) recovery(x *absence, s *meanwhile, behind []results.Hit) (f results.Finding, ok bool) {
	policy, _ := s.guess() // which may be another one than was declared
	if policy == "" {
		policy = x.want.Policy
	}
	sign, shows := signOf(policy)
	if x.back == results.Never || !shows || x.slow || len(behind) == 0 {
		return f, false
	}
	f = results.Finding{Check: CheckRecovery, Level: results.Info, Limit: o.limits[0].Name, Status: results.Kept, Unit: "seconds"}
	f.FromNS, f.ToNS = x.back, behind[len(behind)-1].Done
	first, last := edges(behind, sign)
	if x.want.Policy != "" {
		f.Level = results.Must
		f.Allowed = x.want.Recovers.Seconds()
	}
	switch late := x.back + int64(x.want.Recovers); {
	case first != nil:
		f.ToNS = first.First
		f.Got = seconds(first.First - x.back)
		f.Text = fmt.Sprintf("the store was there again at %s, and %s later a request was %s: the limiter was itself again", instant(x.back), duration(first.First-x.back), first.Outcome)
		if last != nil && last.Sent > late && x.want.Policy != "" {
			o.late(&f, x, last)
		}
	case sign == results.Limited || s.quiet(behind):
		f.Level, f.Status = results.Info, results.Inconclusive
		f.Text = fmt.Sprintf("not asked: behind the store's return at %s nothing was sent that the limiter would answer otherwise than before", instant(x.back))
	case x.want.Policy == "" || len(behind) < few || behind[len(behind)-few].Sent <= late:
		f.Level, f.Status = results.Info, results.Inconclusive
		f.Text = fmt.Sprintf("not known: in the %s behind the store's return at %s nothing was admitted", duration(f.ToNS-x.back), instant(x.back))
	default:
		o.late(&f, x, &behind[len(behind)-1])
	}
	return f, true
}

func seconds(ns int64) float64 { return float64(ns/1e6) / 1e3 }

// late fills in that a request met the policy when the limiter was to be itself again.
// What nobody has said of that time is advice.
func (o *outages) late(f *results.Finding, x *absence, h *results.Hit) {
	f.Status, f.Key, f.Seqs, f.ToNS = results.Broken, h.Key, []int64{h.Seq}, h.Done
	if !strings.Contains(x.mark.Free, "recovers=") {
		f.Level = results.Should
	}
	f.Got = seconds(h.Sent - x.back)
	f.Text = fmt.Sprintf("the store was there again at %s, and %s later a request still was %s, where %s were declared or granted (recovers=)",
		instant(x.back), duration(h.Sent-x.back), seenInWords(kindOf(h), h), duration(int64(x.want.Recovers)))
	f.Proof = fmt.Sprintf("request %d was sent at %s", h.Seq, instant(h.Sent))
}

// signOf is the outcome that shows that a policy is over.
func signOf(p scenarios.Expect) (sign results.Outcome, ok bool) {
	switch p {
	case scenarios.ExpectOpen:
		return results.Limited, true
	case scenarios.ExpectClosed, scenarios.ExpectError, scenarios.ExpectHang:
		return results.Admitted, true
	}
	return results.Unknown, false
}

// edges are the first request with that outcome, and the last that failed; nil: none.
func edges(hits []results.Hit, sign results.Outcome) (first, last *results.Hit) {
	for i := range hits {
		h := &hits[i]
		if first == nil && h.Outcome == sign {
			first = h
		}
		if k := kindOf(h); k == seenFailed || k == seenSilent {
			last = h
		}
	}
	return first, last
}

// quiet reports whether some of the requests were refused as the promise may have it,
// so that no admission proves nothing.
func (s *meanwhile) quiet(hits []results.Hit) bool {
	for i := range hits {
		if hits[i].Outcome == results.Limited {
			return true
		}
	}
	return false
}
