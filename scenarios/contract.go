package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// Contract is the kind of promise a limiter makes. Below, T is the length of a
// closed window of time and f(T) the most that is admitted in one.
type Contract string

// The contracts.
const (
	// TokenBucket: f(T) = Burst + Rate*T, and nothing is refused while a token
	// is there. It is what the empty Contract means.
	TokenBucket Contract = "token-bucket"
	// GCRA is the same promise in other words: the generic cell rate algorithm
	// with emission interval 1/Rate and tolerance (Burst-1)/Rate admits request
	// by request what the token bucket does.
	GCRA Contract = "gcra"
	// Lumps: a token bucket whose refill comes Rate.Count at a time, every
	// Rate.Per: f(T) = Burst + min(Count, Burst)*ceil(T/Per).
	Lumps Contract = "lumps"
	// FixedWindow: Rate.Count in each of consecutive windows of Rate.Per:
	// f(T) = Count*(ceil(T/Per)+1). It has no Burst.
	FixedWindow Contract = "fixed-window"
	// SlidingLog: at most Rate.Count in any half-open window of Rate.Per:
	// f(T) = Count*(floor(T/Per)+1). It has no Burst.
	SlidingLog Contract = "sliding-log"
	// SlidingCounter: the sliding window estimated from the counts of this
	// window and the one before: f(T) <= Count + Count*T/Per. It has no Burst.
	SlidingCounter Contract = "sliding-counter"
	// Queue: one is released at once, then one every 1/Rate, and up to Burst
	// wait: f(T) = Burst + 1 + Rate*T accepted, Rate*T + 1 released, no wait is
	// longer than Burst/Rate.
	Queue Contract = "queue"
	// Nginx: limit_req with burst = Burst-1, on a clock of milliseconds:
	// f(T) = Burst + Rate*T + Rate*1ms.
	Nginx Contract = "nginx"
	// Concurrency: at most Burst requests are served at the same time. It has
	// no Rate.
	Concurrency Contract = "concurrency"
	// Quota is what RateLimit-Policy promises, which names no algorithm: Rate.Count
	// in Rate.Per, by a bucket that holds as many or by windows of any kind, and
	// for clients that are told apart in a way that is not said. f(T) = Count*(ceil(T/Per)+1). It has no Burst.
	Quota Contract = "quota"
	// BestEffort promises nothing: what it does is reported and never broken.
	BestEffort Contract = "best-effort"
)

// Contracts are those that can be judged, in the order they are documented.
var Contracts = []Contract{TokenBucket, GCRA, Lumps, FixedWindow, SlidingLog, SlidingCounter, Queue, Nginx, Concurrency, Quota, BestEffort}

// Numbers says which numbers a contract has.
type Numbers struct {
	Burst, Rate bool
	Align       bool // whether it leaves open where its periods begin
	Costs       bool // whether it says what a request of several tokens may take
}

// Numbers gives those of a contract; ok is false where it is none.
func (c Contract) Numbers() (n Numbers, ok bool) {
	switch c {
	case "", TokenBucket, GCRA, BestEffort:
		return Numbers{Burst: true, Rate: true, Costs: true}, true
	case Queue, Nginx:
		return Numbers{Burst: true, Rate: true}, true
	case Lumps:
		return Numbers{Burst: true, Rate: true, Align: true, Costs: true}, true
	case FixedWindow, SlidingCounter:
		return Numbers{Rate: true, Align: true, Costs: true}, true
	case SlidingLog, Quota:
		return Numbers{Rate: true, Costs: true}, true
	case Concurrency:
		return Numbers{Burst: true}, true
	}
	return Numbers{}, false
}

// Forgets reports whether a limiter of this kind may remember nothing that is
// older than its period or two, so that an error in the length of the period
// need not add up.
func (c Contract) Forgets() bool {
	switch c {
	case FixedWindow, SlidingLog, SlidingCounter, Quota:
		return true
	}
	return false
}

// ParseContract reads the name of a contract.
func ParseContract(s string) (Contract, error) {
	if slices.Contains(Contracts, Contract(s)) {
		return Contract(s), nil
	}
	return "", fmt.Errorf("contract %q is not known: %s", s, list(Contracts))
}

// ParseAlign reads where periods begin.
func ParseAlign(s string) (Align, error) {
	if a := Align(s); a == AlignEpoch || a == AlignStart || a == AlignFirstHit {
		return a, nil
	}
	return "", fmt.Errorf("%q is no place for periods to begin: write epoch, start or first-hit, or nothing where any of them will do", s)
}

func list[T ~string](words []T) string {
	var s []string
	for _, w := range words {
		s = append(s, string(w))
	}
	return strings.Join(s, ", ")
}

// Align says where the periods of fixed windows, sliding counters or lumps begin.
type Align string

// The alignments. The empty one leaves it open: any of them will do, and so will
// multiples since some moment that is another for each key.
const (
	AlignEpoch    Align = "epoch"     // at multiples of the window since 1970, on the server's wall clock
	AlignStart    Align = "start"     // at multiples of the window since some moment, for all keys the same
	AlignFirstHit Align = "first-hit" // at a key's first request, and every window since then or at its first one behind each window
)
