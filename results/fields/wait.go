package fields

import (
	"fmt"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Wait is what a refused client has to conclude.
type Wait struct {
	Known bool          //
	For   time.Duration // from when the answer was received
	Basis string        // the field that says so; empty: none does
	Guess string        // what was taken for granted to read it so; empty: nothing
	Other string        // another reading; empty: there is none
	// Least is what can be computed where nothing is promised: the time in which
	// the missing tokens come. 0: nothing can be.
	Least time.Duration
}

// wait weighs what the fields of a refusal say. Retry-After wins over all others
// (RFC 9110 section 10.2.3; it is the only one that is a standard), but where
// another tells the same wait in a finer unit, that is the more exact.
func (r *reader) wait(h *results.Hit) Wait {
	asked, some := r.retryAfter(h)
	if h.Outcome != results.Limited {
		return Wait{}
	}
	w := Wait{Least: r.least()}
	var best Moment
	switch {
	case some:
		best = r.finer(asked)
	case len(r.retry) > 0:
		best = r.retry[0]
	default:
		best = r.exhausted()
	}
	if !best.Known || best.Wait < 0 {
		return w
	}
	w.Known, w.For, w.Basis, w.Guess, w.Other = true, best.Wait, best.Field, best.Guess, best.Other
	return w
}

// retryAfter reads Retry-After as it is meant, where RFC 9110 does not allow it
// as it is. A negative one means nothing.
func (r *reader) retryAfter(h *results.Hit) (m Moment, ok bool) {
	text := strings.TrimSpace(h.RetryAfter)
	if text == "" {
		return m, false
	}
	m = moment("retry-after", text, h.Date, true)
	if a := h.Asks(); a.Form == results.RetrySeconds {
		m.Known, m.Wait, m.Unit, m.Grain, m.Guess, m.Other = true, a.Wait, Seconds, time.Second, "", ""
		return r.implausible(m), true
	}
	switch {
	case m.Unit == Unreadable:
		r.fault("retry-after: %q is neither whole seconds nor an HTTP-date", text)
	case m.Known && m.Wait < 0:
		r.fault("retry-after: %q lies in the past", text)
	case !m.Known:
		r.fault("retry-after: %q needs the answer's Date, and there is none", text)
	case m.Unit == Seconds:
		m.Guess = "seconds, although RFC 9110 has only whole ones"
	case m.Unit == Span || m.Unit == RFC3339:
		m.Guess = fmt.Sprintf("%v, which RFC 9110 does not have", m.Unit)
	}
	return m, m.Known && m.Wait >= 0
}

// implausible looks for whole seconds that count something else: milliseconds,
// where the same answer tells about a thousandth of it as well, or the seconds
// since 1970.
func (r *reader) implausible(m Moment) Moment {
	if m.Wait/time.Second >= leastEpoch && r.date != "" {
		since := moment("retry-after", m.Text, r.date, false)
		if since.Known && since.Wait >= 0 {
			since.Other = fmt.Sprintf("%v, as it is written", m.Wait)
			return since
		}
	}
	for _, g := range r.order {
		reset := r.groups[g].Reset
		if !reset.Known || reset.Wait <= 0 {
			continue
		}
		if ms := m.Wait / 1000; m.Wait >= 100*(reset.Wait+reset.Grain) && ms <= 2*reset.Wait+reset.Grain && 2*ms+reset.Grain >= reset.Wait {
			r.fault("retry-after: %s contradicts %s: %s: it seems to be in milliseconds", m.Text, reset.Field, reset.Text)
			reset.Guess, reset.Other = fmt.Sprintf("Retry-After is in milliseconds: %v", ms), fmt.Sprintf("%v by retry-after, as it is written", m.Wait)
			return reset
		}
	}
	return m
}

// finer is another wait that Retry-After is the rounding of, or Retry-After.
func (r *reader) finer(asked Moment) Moment {
	for _, m := range r.retry {
		if m.Known && m.Grain < asked.Grain && m.Wait <= asked.Wait && m.Wait > asked.Wait-asked.Grain {
			m.Other = fmt.Sprintf("%v by retry-after", asked.Wait)
			return m
		}
	}
	return asked
}

// exhausted is the reset of the limit that has nothing left; of several the
// latest, since all of them refuse. Where none says what is left, any may have
// refused.
func (r *reader) exhausted() (last Moment) {
	for _, spent := range []bool{true, false} {
		for _, g := range r.order {
			t := r.groups[g]
			if t.Remaining.Zero() != spent || !spent && t.Remaining.Told {
				continue
			}
			if m := t.Reset; m.Known && m.Wait >= 0 && (!last.Known || m.Wait > last.Wait) {
				last = m
			}
		}
		if last.Known {
			return last
		}
	}
	return last
}

// least is how long the tokens that are missing take to come, by the rate that is
// told.
func (r *reader) least() time.Duration {
	for _, g := range r.order {
		t := r.groups[g]
		missing := max(1, t.Cost.N) - max(0, t.Remaining.N)
		if t.PerSecond.N > 0 && t.Remaining.Told && missing > 0 && missing < 1<<31 {
			return time.Duration(missing) * time.Second / time.Duration(t.PerSecond.N)
		}
	}
	return 0
}
