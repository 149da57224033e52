package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Retry is what a client does about a refusal: the clients that a service
// meets, good and bad.
type Retry uint8

// The policies. The zero value sends every request once.
const (
	RetryNone       Retry = iota
	RetryObey             // waits exactly as long as Retry-After says, from when the refusal was received, and asks again
	RetryEarly            // waits for three quarters of that
	RetryJitterUp         // waits in full, and for up to half as long again, by chance
	RetryJitterDown       // waits for half of it to all of it, by chance
	RetryIgnore           // asks again after IgnorePause, whatever it was told
	RetryGiveUp           // does not ask again, and leaves out what else it would have asked for in the phase
)

var retryNames = []string{"none", "obey", "early", "jitter-up", "jitter-down", "ignore", "give-up"}

func (r Retry) String() string { return retryNames[r] }

func parseRetry(s string) (Retry, error) {
	for i, name := range retryNames {
		if s == name {
			return Retry(i), nil
		}
	}
	return 0, fmt.Errorf("%s is no way to retry: write %s", strconv.Quote(s), strings.Join(retryNames, ", "))
}

// comesBack reports whether a refused request is followed by another.
func (r Retry) comesBack() bool { return r != RetryNone && r != RetryGiveUp }

// IgnorePause is how soon a client is back that does not care what it was told.
const IgnorePause = 100 * time.Millisecond

const (
	whole      = 1_000_000 // of a wait, in parts per million
	earlyShare = 750_000
	jitterMost = 500_000
)

// share is how much of a wait a client waits for, in parts per million; chance is
// a number below whole.
func (r Retry) share(chance int64) int64 {
	switch r {
	case RetryEarly:
		return earlyShare
	case RetryJitterUp:
		return whole + chance*jitterMost/whole
	case RetryJitterDown:
		return whole - 1 - chance*jitterMost/whole // never in full
	}
	return whole
}

// Returns is how often a refused request of the phase comes back at most.
func (p *Phase) Returns() int {
	if !p.Retry.comesBack() {
		return 0
	}
	return max(p.Tries, 1)
}

// Again is the shot that follows a refused one, whose refusal was received at
// first and asks for a wait; readable is whether it does. ok is false where the
// client does not come back. full is whether it waits in full, so that another
// refusal speaks against the server: it does so for longer than it was told by
// what the two clocks may differ by.
func (s Shot) Again(first int64, wait time.Duration, readable bool, slack Slack) (again Shot, full, ok bool) {
	if !s.Retry.comesBack() || s.Tries < 1 {
		return s, false, false
	}
	again = s
	again.Tries--
	again.Volley, again.Late, again.Held = 0, 0, false
	if again.Tries == 0 {
		again.Retry = RetryNone
	}
	if s.Retry == RetryIgnore {
		again.At = first + int64(IgnorePause)
		return again, false, true
	}
	wait = max(wait, 0)
	if !readable || wait > s.Patience {
		return s, false, false
	}
	wait = time.Duration(float64(wait) * float64(s.Share) / whole)
	again.At = first + int64(wait)
	if full = s.Share >= whole; full {
		again.At += int64(slack.Grace(wait))
	}
	return again, full, true
}
