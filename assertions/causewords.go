package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

func absent(f *results.Finding) results.Cause {
	return results.Cause{ID: CauseAbsent, Limit: f.Limit, Only: true, Tried: 1, Explains: 1,
		Text: "the requests do not pass through the limiter, or it only counts them: nothing was ever refused"}
}

func shared(f *results.Finding) results.Cause {
	return results.Cause{ID: CauseShared, Limit: f.Limit, Only: true, Tried: 1, Explains: 1,
		Text: "all keys share one budget: it explains all that was admitted and refused, and a budget for each key does not"}
}

// cause is an explanation as it is told.
func (d *diagnosis) cause(x explanation) results.Cause {
	c := results.Cause{ID: d.id(x), Limit: d.limit().Name, Contract: string(x.family.contract), Burst: x.limit.Burst, Factor: x.factor}
	if x.limit.Rate.Count > 0 {
		c.Rate = x.limit.Rate.String()
	}
	switch {
	case x.by.grid:
		c.Align = "grid"
		phase := x.by.middle() * d.sample.tick
		c.PhaseNS = &phase
	case x.family.align != "":
		c.Align = string(scenarios.AlignFirstHit)
	}
	c.Text = d.says(x, c)
	return c
}

// id is the cause of an explanation: another contract, or what the numbers of
// the promised one have to do with those promised.
func (d *diagnosis) id(x explanation) string {
	promise := d.limit()
	if x.family.contract != d.promised() {
		return CauseContract + string(x.family.contract)
	}
	size, rate := x.limit.Size() == promise.Size(), same(x.limit.Token(), promise.Token())
	if has, _ := x.family.contract.Numbers(); !has.Burst { // so many in a period
		rate = x.limit.Rate.Per == promise.Rate.Per
	}
	switch {
	case size && (rate || granted(x.limit, promise)) && !d.placed(x.family):
		return CauseAlign
	case x.factor > 1:
		return CauseMultiple
	case x.factor > 0:
		return CauseFraction
	case rate && abs(x.limit.Size()-promise.Size()) == 1:
		return CauseOffset
	case rate && !size:
		return CauseSize
	case size && !rate:
		return CauseRate
	}
	return CauseNumbers
}

// granted reports whether a rate differs from the promised one by no more than the
// promise grants on either side.
func granted(l, promise scenarios.Limit) bool {
	off := (float64(promise.Token())/float64(l.Token()) - 1) * 1e6
	return max(off, -off) <= float64(max(promise.Slack.Over, promise.Slack.Under))
}

// says is an explanation in words, without what is said of all of them.
func (d *diagnosis) says(x explanation, c results.Cause) string {
	promise := d.limit()
	switch c.ID {
	case CauseMultiple:
		if x.apart || x.factor == float64(int64(x.factor)) {
			return fmt.Sprintf("it behaves like %s limiters side by side, or one with so many times the budget: %s, where %s are promised", number(x.factor), terms(x.limit), terms(promise))
		}
	case CauseFraction:
		return fmt.Sprintf("the budget seems to be divided by %s: %s, where %s are promised", number(1/x.factor), terms(x.limit), terms(promise))
	case CauseAlign:
		return fmt.Sprintf("its windows begin elsewhere: it behaves like %s%s, where they are promised to begin at %s", named(x), phaseText(c), places(promise.Align))
	case CauseOffset:
		return fmt.Sprintf("it is off by one: it behaves like %s, where %s are promised", terms(x.limit), terms(promise))
	case CauseRate:
		pct := (float64(promise.Token())/float64(x.limit.Token()) - 1) * 100
		way := "faster"
		if pct < 0 {
			way = "slower"
		}
		return fmt.Sprintf("its rate is another: it behaves like %s, %s %% %s than promised", terms(x.limit), digits3(max(pct, -pct)), way)
	case CauseSize, CauseNumbers:
		return fmt.Sprintf("its numbers are others: it behaves like %s, where %s are promised", terms(x.limit), terms(promise))
	}
	return "it behaves like " + named(x) + phaseText(c)
}

// named is a limit of another contract in words.
func named(x explanation) string {
	l := x.limit
	per := duration(int64(l.Rate.Per))
	switch x.family {
	case family{scenarios.FixedWindow, scenarios.AlignStart}:
		return fmt.Sprintf("a fixed window of %d per %s", l.Rate.Count, per)
	case family{scenarios.FixedWindow, scenarios.AlignFirstHit}:
		return fmt.Sprintf("a fixed window of %d per %s that a key's first request opens", l.Rate.Count, per)
	case family{scenarios.FixedWindow, ""}:
		return fmt.Sprintf("a fixed window of %d per %s that begins at other moments for each key", l.Rate.Count, per)
	case family{scenarios.SlidingLog, ""}:
		return fmt.Sprintf("a sliding log of %d in any %s", l.Rate.Count, per)
	case family{scenarios.SlidingCounter, ""}:
		return fmt.Sprintf("a sliding window of %d per %s, estimated from two counts", l.Rate.Count, per)
	case family{scenarios.Lumps, scenarios.AlignStart}:
		return fmt.Sprintf("a bucket of %d into which %d fall every %s", l.Burst, l.Rate.Count, per)
	case family{scenarios.Lumps, scenarios.AlignFirstHit}:
		return fmt.Sprintf("a bucket of %d into which %d fall every %s from a key's first request on", l.Burst, l.Rate.Count, per)
	}
	return fmt.Sprintf("a %s of %s", strings.ReplaceAll(string(x.family.contract), "-", " "), terms(l))
}

// places is where periods are promised to begin, in words.
func places(a scenarios.Align) string {
	switch a {
	case scenarios.AlignEpoch:
		return "multiples of their length since 1970"
	case scenarios.AlignFirstHit:
		return "a key's first request"
	}
	return "the same moments for all keys"
}

func phaseText(c results.Cause) string {
	if c.PhaseNS == nil {
		return ""
	}
	return ", phase " + duration(*c.PhaseNS)
}

// certainty says how sure a cause is: what else was tried, and what else fits.
func certainty(others []string, equal bool, tried int, held, requests int64) string {
	all := "all " + plural(held, "request")
	if held < requests {
		all = fmt.Sprintf("the first %d of %d requests", held, requests)
	}
	switch {
	case len(others) == 0 && tried == 1:
		return fmt.Sprintf(" (it explains %s)", all)
	case len(others) == 0:
		return fmt.Sprintf(" (the only one of %d explanations tried that explains %s)", tried, all)
	}
	also := "also fits"
	if equal { // nothing more has to be assumed for it
		also = "fits equally"
	}
	return fmt.Sprintf(" (it explains %s; %s: %s)", all, also, join(others, "; "))
}
