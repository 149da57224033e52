package scenarios

import (
	"fmt"
	"strconv"
	"time"
)

// Tactic is how the requests of a phase follow from the answers to those before
// them.
type Tactic uint8

// The tactics. The zero value is none: all of a phase is planned beforehand.
const (
	TacticNone Tactic = iota
	// TacticBoundary drains a key, polls it until an admission comes after
	// refusals, which is where a window or a lump begins, and strikes at the
	// next such edge: one volley just before it, another just after it.
	TacticBoundary
	// TacticPilot sends one request on a full key, which opens a window where a
	// key's first request does, and strikes at the end of that window.
	TacticPilot
)

var tacticNames = []string{"", "boundary", "pilot"}

func (t Tactic) String() string { return tacticNames[t] }

func parseTactic(s string) (Tactic, error) {
	for i, name := range tacticNames {
		if i > 0 && s == name {
			return Tactic(i), nil
		}
	}
	return TacticNone, fmt.Errorf("%s is no way to attack: write boundary or pilot", strconv.Quote(s))
}

// DefaultRounds is how many edges an attack strikes at where nothing was said.
const DefaultRounds = 2

// Attack is the part of a plan in which what is fired on one key follows from
// the answers: the plan holds when it begins, how many requests it may take and
// for how long; Begin gives what decides each of them.
//
// Why it is worth its requests: N in each window of W is, to a client that does
// not look for the edges, almost a bucket of N that refills N in W. Only around
// an edge 2N pass at once, and a load that is planned beforehand meets one by
// chance.
type Attack struct {
	At     int64 // nanoseconds since the run's start
	Phase  int32 // index into Plan.Phases
	Key    int32 // index into Plan.Keys
	Tactic Tactic
	Rounds int           // edges that are struck at
	Turn   int           // how many rounds its ways are ahead, so that the keys of a phase begin with different ones
	Size   int64         // most that is admitted at once, by the promise
	Token  time.Duration // how long one of them takes to come
}

// Salvo is requests of an attack that are due together.
type Salvo struct {
	Number int   // from 1, within the attack
	At     int64 // nanoseconds since the run's start
	Size   int   // 0: nothing leaves, the attack only wants to look again then
	Late   time.Duration
}

// Due is when the i-th of a salvo's requests is due: large salvos leave in
// groups, as planned volleys do.
func (s Salvo) Due(i int) int64 { return s.At + int64(i/VolleySize)*int64(VolleyPause) }

// Answer is what became of one request of a salvo. Where it was neither
// admitted nor limited, it was lost, not sent, or means something else.
type Answer struct {
	Salvo       int
	Sent, First int64 // nanoseconds since the run's start; First is only read where one of the two below is true
	Admitted    bool
	Limited     bool
}

// window is how long all of Size takes to come.
func (a Attack) window() time.Duration {
	if a.Token > (1<<62)/time.Duration(a.Size) {
		return 1 << 62
	}
	return a.Token * time.Duration(a.Size)
}

// An attack's volley is larger than what can be admitted, because some of it may
// be decided on the wrong side of the edge. drain also has to outrun what is
// refilled while it leaves.
func (a Attack) volley() int { return int(a.Size + a.Size/4 + 3) }

func (a Attack) drain() int {
	leaves := 30*time.Millisecond + time.Duration(a.Size/VolleySize)*VolleyPause
	return int(a.Size+3) + int(min(int64(leaves/max(a.Token, 1)), a.Size))
}

// gap is the time from one poll to the next. A hundredth of the window is
// enough: two volleys that are t apart stand out if t*Size/window < Size-1.
func (a Attack) gap() time.Duration { return max(a.window()/polls, time.Millisecond) }

const polls = 100

// searches is how often a key is polled at most: for a window, and a tenth more.
// search is how long that takes from the first poll to the last.
const searches = polls * 11 / 10

func (a Attack) search() time.Duration { return a.gap() * (searches - 1) }

// thorough reports whether the n-th round, from 0, goes the longer way.
func (a Attack) thorough(n int) bool { return a.Tactic == TacticBoundary && (n+a.Turn)%2 == 1 }

// Most is how many requests the attack sends at most.
func (a Attack) Most() int {
	n := 0
	if a.Tactic == TacticBoundary {
		n = a.drain()
	}
	for i := range a.Rounds {
		n += 2 * a.volley()
		switch {
		case a.Tactic == TacticPilot:
			n++
		case a.thorough(i):
			n += 1 + searches + a.drain()
		default:
			n += searches
		}
	}
	return n
}

// Longest is the time after which the attack sends nothing more: for each round
// the search, the windows in which it waits, and a second and a tenth of a
// window for what the network and lost answers cost.
func (a Attack) Longest() time.Duration {
	w := a.window()
	if w > 1<<52 {
		return 1 << 62
	}
	var t time.Duration
	for i := range a.Rounds {
		windows := time.Duration(2)
		switch {
		case a.thorough(i):
			windows = 3
		case a.Tactic == TacticPilot && i == 0:
			windows = 1
		}
		t = longer(t, windows*w+w/10+time.Second)
	}
	return t
}

// String says what the attack may come to, for a plan.
func (a Attack) String() string {
	return fmt.Sprintf("%v attack, rounds %d, up to %d requests within %v as answers direct",
		a.Tactic, a.Rounds, a.Most(), a.Longest().Round(time.Millisecond))
}
