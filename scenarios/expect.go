package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Expect says what may be another while an Action lasts and behind it, as the
// limiter's makers declare: words and settings with commas between them, as
// ParseExpect reads them. The zero value declares nothing: what is promised holds all
// the same.
type Expect string

// The words. All but fresh are policies, of which one can be declared.
const (
	ExpectFresh  Expect = "fresh"  // budgets begin anew: they may be full, or what is left of them is not known
	ExpectOpen   Expect = "open"   // while it lasts all is admitted
	ExpectClosed Expect = "closed" // while it lasts all is refused, with whatever status
	ExpectLocal  Expect = "local"  // while it lasts each node keeps to a budget of its own
	ExpectFrozen Expect = "frozen" // while it lasts each client goes on being answered as at its beginning
	ExpectError  Expect = "error"  // while it lasts all is answered by a status of 500 and above
	ExpectHang   Expect = "hang"   // while it lasts nothing is answered
)

// Policies are the words that say what happens while something lasts.
var Policies = []Expect{ExpectOpen, ExpectClosed, ExpectLocal, ExpectFrozen, ExpectError, ExpectHang}

// Expected is an Expect as it is meant.
type Expected struct {
	Policy   Expect        // one of Policies; empty: none is declared
	Fresh    bool          // budgets begin anew behind it
	Burst    int64         // of ExpectLocal, a node's: tokens at once; 0: as many as the limit promises
	Rate     Rate          // of ExpectLocal, a node's; zero: as promised
	Nodes    int64         // of ExpectLocal; 0: one
	Notices  time.Duration // how long the limiter may take to notice that it has begun; 0: DefaultNotices
	Recovers time.Duration // how long it may take until all is as before, once it is over; 0: DefaultRecovers
}

// What is granted where nothing is said of it. A signal needs a moment on a busy
// machine until the process stands still; clients of stores wait up to two seconds
// before they connect again.
const (
	DefaultNotices  = 100 * time.Millisecond
	DefaultRecovers = 2 * time.Second
)

// ParseExpect reads what is declared: open, closed, local, frozen, error or hang,
// or fresh, or both; with notices=1s and recovers=5s, and of local burst=3, rate=1/s
// and nodes=2. Empty text declares nothing.
func ParseExpect(e Expect) (x Expected, err error) {
	if e == "" {
		return x, nil
	}
	for part := range strings.SplitSeq(string(e), ",") {
		if err := x.take(strings.TrimSpace(part)); err != nil {
			return Expected{}, fmt.Errorf("%q: %w", string(e), err)
		}
	}
	local := x.Burst != 0 || x.Rate != Rate{} || x.Nodes != 0
	switch {
	case local && x.Policy != ExpectLocal:
		return Expected{}, fmt.Errorf("%q: burst, rate and nodes are of a budget that each node has by itself: write local,burst=3,rate=1/s,nodes=2", string(e))
	case x.Policy == "" && !x.Fresh:
		return Expected{}, fmt.Errorf("%q: nothing is declared; write %s", string(e), someExpects)
	case x.Notices == 0:
		x.Notices = DefaultNotices
	}
	if x.Recovers == 0 {
		x.Recovers = DefaultRecovers
	}
	return x, nil
}

const someExpects = "fresh, open, closed, local, frozen, error or hang"

// take reads one part.
func (x *Expected) take(part string) (err error) {
	name, value, set := strings.Cut(part, "=")
	word := Expect(part)
	switch {
	case word == ExpectFresh:
		x.Fresh = true
	case slices.Contains(Policies, word):
		if x.Policy != "" && x.Policy != word {
			return fmt.Errorf("%s and %s at once: a limiter does one of them", x.Policy, word)
		}
		x.Policy = word
	case !set:
		return fmt.Errorf("%q is not known: write %s", part, someExpects)
	case name == "burst":
		x.Burst, err = positive(value)
	case name == "nodes":
		x.Nodes, err = positive(value)
	case name == "rate":
		x.Rate, err = ParseRate(value)
	case name == "notices":
		x.Notices, err = lasting(value)
	case name == "recovers":
		x.Recovers, err = lasting(value)
	default:
		return fmt.Errorf("%q is not known: settings are notices=1s, recovers=5s, and of local burst=3, rate=1/s, nodes=2", name)
	}
	return err
}

func positive(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number from 1 on", text)
	}
	return n, nil
}

func lasting(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New(strconv.Quote(text) + " is no time: write one such as 5s")
	}
	return d, nil
}

// Local is the budget of all nodes together that ExpectLocal declares of a limit.
func (x Expected) Local(l Limit) Limit {
	nodes := max(x.Nodes, 1)
	l.Burst = l.Size()
	l.Contract, l.Align = TokenBucket, ""
	if x.Burst != 0 {
		l.Burst = x.Burst
	}
	if x.Rate != (Rate{}) {
		l.Rate = x.Rate
	}
	l.Burst *= nodes
	l.Rate.Count *= nodes
	return l
}
