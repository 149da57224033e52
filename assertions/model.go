package assertions

import "github.com/ratehammer/ratehammer/results"

// brief is a request as far as a limit is concerned: decided at some moment
// from from to to, both ends included.
type brief struct {
	from, to int64 // ticks
	done     int64 // ticks: when its answer was over; 0: as to
	cost     int64
	seq      int64
	date     int64 // seconds since 1970: the answer's Date; 0: it has none that can be read
	outcome  results.Outcome
	torn     bool // it left while time passed that our clock did not show: it counts in no window
}

// spends reports whether the request may have taken tokens.
func (b *brief) spends() bool { return b.outcome != results.Limited }

// certain is what it was surely admitted for.
func (b *brief) certain() int64 {
	if b.outcome == results.Admitted {
		return b.cost
	}
	return 0
}

// model judges one key by something that every limiter of its kind keeps. It
// hears the starts and ends of requests in the order of the sweep.
type model interface {
	start(b *brief)
	end(b *brief) room // of a refusal: what there was room for; of others the zero room
	forget(t int64)    // windows begin anew at t: times before and after do not compare
	unknown(t int64)   // what was spent up to t is not known
	trim(oldest int64) // no request in flight left before oldest
	heaviest() heavy
}

// room is what a refusal must at least have found.
type room struct {
	judged bool
	wrong  bool    // it was enough at every moment at which the refusal may have been decided
	left   float64 // cost that there was room for; for people
	of     float64 // of so much
	since  int64   // ticks: from when on the reckoning counts
	places bool    // left are places in a queue
}

// surer is the one of two rooms that leaves less doubt.
func (r room) surer(x room) room {
	if x.judged && (!r.judged || x.wrong && !r.wrong || x.wrong == r.wrong && x.left > r.left) {
		return x
	}
	return r
}

// heavy is the window in which most was admitted against what is allowed.
type heavy struct {
	any     bool
	over    bool    // more than is allowed, for certain
	got     float64 // cost; for people
	allowed float64
	from    int64 // ticks
	to      int64
	rule    rule  // what allowed follows from
	burst   int64 // tokens, of the rule
	lumps   int64 // that may have fallen, of ruleLumps
}

// rule is the form of a bound on what is admitted in a time T.
type rule uint8

// The rules: so many and what comes in T; so many and the lumps that may fall in
// T; so many in a window that forgets.
const (
	ruleRate rule = iota
	ruleLumps
	ruleWindow
)

// heavier is the one that tells more: a breach before none, then the one that
// comes nearest to, or goes furthest beyond, what is allowed.
func (h heavy) heavier(o heavy) heavy {
	switch {
	case !o.any:
		return h
	case !h.any || o.over && !h.over:
		return o
	case h.over == o.over && o.got-o.allowed > h.got-h.allowed:
		return o
	}
	return h
}
