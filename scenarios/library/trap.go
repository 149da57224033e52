package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Kind is a kind of fault, in words that follow 'finds'.
type Kind string

// The kinds of fault that traps are for.
const (
	WrongSize     Kind = "a number at once that is off"
	Race          Kind = "requests at once that are all let in"
	RareRace      Kind = "a race that is seen once in many volleys"
	WrongRate     Kind = "a rate that is off"
	Drift         Kind = "a rate that drifts by less than a hundredth"
	Lumpy         Kind = "what comes back in lumps"
	CostlyRefusal Kind = "refusals that cost"
	CostlyCrowd   Kind = "refusals at once that cost"
	RareCrowd     Kind = "refusals at once that cost now and then"
	Lockout       Kind = "clocks that step, and lock out or let through"
	StaleRefill   Kind = "what should come back at rest and is lost"
	Overfull      Kind = "more than all after a long rest"
	Evicted       Kind = "clients who have spent and are forgotten to make room"
	Seldom        Kind = "what happens every half a minute, such as a clock that steps"
	Shared        Kind = "keys that share a budget"
	TooStrict     Kind = "refusals of who stays inside the rate"
	TooLax        Kind = "who is just above the rate and never refused"
	WrongWait     Kind = "a Retry-After that is not true"
	Edges         Kind = "windows, which admit twice their number around an edge"
	OpenedEdges   Kind = "windows that a request opens"
	Forgetful     Kind = "a window that forgets too early or too late"
	Shifting      Kind = "windows that end too early, or lie elsewhere than they did"
	WrongCost     Kind = "costs that are not counted as they are"
	Spoofed       Kind = "headers by which anybody chooses whose budget is spent"
	Invented      Kind = "values that callers make up and that have budgets of their own"
	Spelling      Kind = "spellings of a path that have budgets of their own"
	PerMethod     Kind = "methods that have budgets of their own"
	Uncounted     Kind = "requests that are not understood and not counted"
	PerAddress    Kind = "addresses of one client that have budgets of their own"
	PerConnection Kind = "budgets that belong to connections"
	Herd          Kind = "clients that are all sent back at the same moment"
	CostlyTooMuch Kind = "tokens that are lost to a cost too large to be had"
)

// Trap is one question, asked on keys of its own.
type Trap struct {
	Name    string
	Says    string // what it fires, and what a right limiter does
	Finds   []Kind
	Keys    int                        // that it wants
	Asks    func(scenarios.Limit) bool // whether the contract allows it to be asked
	unfit   func(*design) (why string) // what it lacks under the circumstances, that no time would bring; nil, or empty: nothing
	phases  func(*design) track        // what is fired
	Regular bool                       // part of the standard scenario
	called  func(*design) bool         // whether what was declared calls for it, so that it is part of the standard scenario as well; nil: nothing does
}

// Traps are all of them, the most telling first.
func Traps() []Trap {
	return []Trap{volley(), pressure(), crush(), obey(), rest(), twins(), below(), above(), idle(), edge(), pilot(), halves(), reopen(), trials(), throng(), long(), vigil(), evicted(), bracket(), cost(),
		spoof(), invented(), spellings(), methods(), bodies(), ladder(), grid(), herd()}
}

// track is a trap that is fitted to a limit: phases that follow each other. Rest
// is the time since the track's start.
type track struct {
	phases []scenarios.Phase
	length time.Duration
	atOnce int // requests that it begins with
}

// hasRate: there is a rate to ask about.
func hasRate(l scenarios.Limit) bool { return l.Rate.Count > 0 }

func always(scenarios.Limit) bool { return true }

// Price is what a trap costs at most.
type Price struct {
	Requests int
	Length   time.Duration
}
