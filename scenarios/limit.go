package scenarios

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Limit is one promise of a limiter.
type Limit struct {
	Name     string   // for people and findings; empty: "limit"
	Contract Contract // empty: TokenBucket
	Burst    int64    // b, in tokens; what it means is the contract's business, 0 where it has none
	Rate     Rate     // r, or N per window W
	Align    Align    // of fixed windows: where they begin; empty: anywhere
	Key      Key      // what clients are told apart by
	Answers  Answers  // which answers mean what; the zero value is DefaultAnswers
	Slack    Slack    // what the limiter's own clock and rounding may add
	// CostHeader is the request header that says how many tokens a request asks
	// for, as a whole number; empty: each asks for one.
	CostHeader string
	// CostBody is how a request says it in its body instead: array, an array of
	// JSON asks for as many tokens as it has elements; empty: it does not.
	CostBody string
}

// HasCosts reports whether a request can ask for several tokens.
func (l Limit) HasCosts() bool { return l.CostHeader != "" || l.CostBody != "" }

// CostArray is the CostBody of an array of JSON.
const CostArray = "array"

// Slack is what a limiter that keeps its promise may still deviate by, because
// its clock is another one than ours and its arithmetic is not infinite. It is
// declared with the promise and named in every verdict; the network's delay is
// not in it, that is an interval on the record.
type Slack struct {
	// Quantum is the step of the limiter's clock: a decision may be made with a
	// reading that is older by up to this. Zero: the limiter reads an exact clock.
	Quantum time.Duration
	// Over is how much faster than promised it may refill, in parts per
	// million: the rates of two quartz clocks differ, and a clock that is being
	// slewed runs up to 500 ppm fast.
	Over int64
	// Under is how much slower it may refill, in parts per million: the clocks
	// again, and a token's fraction that is rounded down at each admission, as
	// nginx does (0.13 % measured at 100 a minute).
	Under int64
}

// DefaultSlack is what is granted where nothing was declared: a millisecond
// clock, 500 ppm too fast, 2,000 ppm too slow.
func DefaultSlack() Slack {
	return Slack{Quantum: time.Millisecond, Over: 500, Under: 2000}
}

// Grace is what the two clocks may differ by over a wait: the step of the
// limiter's, and the difference of their rates. Who waits that much longer has
// waited on any clock.
func (s Slack) Grace(wait time.Duration) time.Duration {
	return s.Quantum + wait/1_000_000*time.Duration(s.Over)
}

// Check says what is wrong with the limit, or nil.
func (l Limit) Check() error {
	if err := l.checkContract(); err != nil {
		return err
	}
	switch {
	case l.Slack.Quantum < 0 || l.Slack.Quantum > time.Minute:
		return fmt.Errorf("slack quantum %v: give 0 to 1m", l.Slack.Quantum)
	case l.Slack.Over < 0 || l.Slack.Over > 500_000 || l.Slack.Under < 0 || l.Slack.Under > 500_000:
		return fmt.Errorf("slack of %d and %d ppm: give 0 to 500000", l.Slack.Over, l.Slack.Under)
	}
	return nil
}

func (l Limit) checkContract() error {
	has, ok := l.Contract.Numbers()
	switch {
	case !ok:
		return fmt.Errorf("contract %q is not known", l.Contract)
	case has.Burst && l.Burst < 1:
		return fmt.Errorf("burst %d: a bucket that holds less than one token admits nothing, give at least 1", l.Burst)
	case !has.Burst && l.Burst != 0:
		return fmt.Errorf("burst %d: a %s has none, its rate says how many in a window", l.Burst, l.Contract)
	case l.Burst > 1e9:
		return fmt.Errorf("burst %d: more than a thousand million tokens cannot be tested by firing", l.Burst)
	case l.Align != "" && !has.Align:
		return fmt.Errorf("align %s: a %s has no periods that begin somewhere", l.Align, l.Contract)
	case l.CostHeader != "" && !has.Costs:
		return fmt.Errorf("cost header %s: a %s has no requests of several tokens, leave it out", l.CostHeader, l.Contract)
	case l.CostBody != "" && l.CostBody != CostArray:
		return fmt.Errorf("cost body %q: write %s, or nothing", l.CostBody, CostArray)
	case l.CostBody != "" && l.CostHeader != "":
		return fmt.Errorf("the cost is read from the body or from the header %s, not from both", l.CostHeader)
	case l.CostBody != "" && !has.Costs:
		return fmt.Errorf("cost body: a %s has no requests of several tokens, leave it out", l.Contract)
	case l.CostHeader != "" && !isToken(l.CostHeader):
		return fmt.Errorf("cost header %q: give the name of a header", l.CostHeader)
	case l.CostHeader != "" && l.Key.Kind == KeyHeader && strings.EqualFold(l.CostHeader, l.Key.Name):
		return fmt.Errorf("cost header %s: clients are told apart by it already", l.CostHeader)
	case !has.Rate && l.Rate != (Rate{}):
		return fmt.Errorf("rate %v: a %s limit has none", l.Rate, l.Contract)
	case !has.Rate:
		return nil
	case l.Rate.Count < 1 || l.Rate.Per <= 0:
		return fmt.Errorf("rate %v: give tokens per time, such as 5/s", l.Rate)
	case l.Rate.PerSecond() > 1e7:
		return fmt.Errorf("rate %v: more than ten million a second cannot be tested by firing", l.Rate)
	case l.Rate.Time(1) > 366*24*time.Hour:
		return fmt.Errorf("rate %v: one token takes more than a year", l.Rate)
	}
	return nil
}

// Size is the most that can be admitted at once: the burst, or the number in a window.
func (l Limit) Size() int64 {
	if has, _ := l.Contract.Numbers(); has.Burst {
		return l.Burst
	}
	return l.Rate.Count
}

// Token is how long one takes to come in the mean; 0 where a limit has no rate.
func (l Limit) Token() time.Duration {
	if l.Rate.Count == 0 {
		return 0
	}
	return l.Rate.Time(1)
}

// Fill is how long a key must be left alone to be as if it had never been used,
// at the slowest that the slack allows, plus the clock's step.
func (l Limit) Fill() time.Duration {
	var t time.Duration
	switch l.Contract {
	case Concurrency:
	case FixedWindow, SlidingLog:
		t = l.Rate.Per
	case SlidingCounter, Quota:
		t = longer(l.Rate.Per, l.Rate.Per)
	case Lumps:
		t = longer(Rate{1, l.Rate.Per}.Time((l.Burst+l.Rate.Count-1)/l.Rate.Count), l.Rate.Per)
	case Queue: // the places, and the one that is released
		t = l.Rate.Time(l.Burst + 1)
	default:
		t = l.Rate.Time(l.Burst)
	}
	return longer(longer(t, t/time.Duration(1_000_000-l.Slack.Under)*time.Duration(l.Slack.Under)), l.Slack.Quantum)
}

// longer is the sum of two lengths, which saturates.
func longer(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Longest is the longest that a true Retry-After can be after a refusal.
func (l Limit) Longest() time.Duration {
	switch l.Contract {
	case FixedWindow, SlidingLog, SlidingCounter, Lumps, Quota:
		return l.Rate.Per
	}
	return l.Token()
}

// String says the promise in words.
func (l Limit) String() string {
	c := l.Contract
	if c == "" {
		c = TokenBucket
	}
	has, _ := c.Numbers()
	text := string(c)
	if has.Burst {
		text += fmt.Sprintf(" burst %d,", l.Burst)
	}
	if has.Rate {
		text += fmt.Sprintf(" rate %v,", l.Rate)
	}
	if l.Align != "" {
		text += fmt.Sprintf(" windows from %s,", l.Align)
	}
	return strings.TrimSuffix(text, ",") + " per " + l.Key.String()
}

// Promises are limits in words, each behind its name where there are several.
func Promises(limits []Limit) (all []string) {
	for _, l := range limits {
		text := l.String()
		if len(limits) > 1 && l.Name != "" {
			text = l.Name + ": " + text
		}
		all = append(all, text)
	}
	return all
}
