package assertions

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckWait is the id of the question how long a queue holds requests back: none
// longer than the places take.
const CheckWait = "queue.wait"

// CheckOrder is the id of the question in which order a queue releases: who came
// first goes first.
const CheckOrder = "queue.order"

// holding asks a queue how long it holds requests back, and in which order.
//
// Of that little can be proved. Take any record of a right queue with more places
// than promised, and let each request that waited longer than b/r have arrived
// b/r before it was released, which lies between its start and its end. Every
// release is where it was; a refusal found all of the next b releases booked, and
// they still are; what was admitted waits b/r at most. So the same record comes
// from a right queue of b places whose requests were long under way, and what an
// answer's lateness says of the places is for people to judge. It is told, beside
// how late answers are that nothing held back.
//
// Another order than that of arrival is proved where a refusal finds too few that
// can have been waiting, see cornered.
type holding struct {
	sample *sample
	limits []scenarios.Limit
	limit  scenarios.Limit
}

func newHolding(s *sample, limits []scenarios.Limit, i int) *holding {
	return &holding{s, limits, limits[i]}
}

func (h *holding) check() string { return CheckWait }
func (h *holding) hear([]event)  {}
func (h *holding) trim(int64)    {}

func (h *holding) tell() []results.Finding {
	wait := results.Finding{Check: CheckWait, Limit: h.limit.Name, Level: results.Info}
	order := results.Finding{Check: CheckOrder, Limit: h.limit.Name, Level: results.Info}
	if len(h.limits) > 1 {
		wait.Text = "not asked: with several limits it may be another one that holds back or refuses"
		order.Text = wait.Text
		return []results.Finding{wait, order}
	}
	lines := h.sample.lines(h.limit, h.space())
	plain := unheld(lines)
	h.waits(&wait, lines, plain)
	h.orders(&order, lines, plain)
	for _, l := range lines {
		if c, ok := h.cornered(l); ok {
			h.proved(&order, c)
			break
		}
	}
	return []results.Finding{wait, order}
}

// most is the longest that a queue holds a request back, in ticks: on a clock
// that is slow, and read a step late by it and a step early by who came before.
func (h *holding) most() int64 {
	w := h.sample.ticks(h.limit.Rate.Time(h.limit.Burst)) + 1
	return w + share(w, h.limit.Slack.Under) + 1 + 2*h.sample.step()
}

// space is the longest from one release to the next, in ticks.
func (h *holding) space() int64 {
	t := h.sample.ticks(h.limit.Token()) + 1
	return t + share(t, h.limit.Slack.Under) + 1 + 2*h.sample.step()
}

// notHeld is why nothing is told.
const notHeld = "not asked: it takes requests that were held back, and others for certain not, to compare with"

// waits tells of those that waited longer than the places take.
func (h *holding) waits(f *results.Finding, lines []*line, plain trips) {
	var n, longest, least int64
	for _, l := range lines {
		for _, x := range l.admitted {
			over := x.to - x.from - h.most()
			if longest = max(longest, x.to-x.from); over <= plain.way {
				continue
			}
			if n++; n == 1 || over < least {
				least = over
			}
		}
	}
	promised := h.limit.Rate.Time(h.limit.Burst)
	f.Got, f.Allowed, f.Unit = h.length(longest).Seconds(), promised.Seconds(), "s"
	said := fmt.Sprintf("the longest answer took %s, where a place is waited for %s at most and what was not held back took up to %s",
		duration(int64(h.length(longest))), duration(int64(promised)), duration(int64(h.length(plain.way))))
	switch {
	case plain.few():
		f.Text, f.Got, f.Allowed, f.Unit = notHeld, 0, 0, ""
	case n < plain.striking():
		f.Level, f.Status, f.Text = results.Should, results.Kept, said
	default:
		f.Level = results.Should
		places := h.limit.Burst + int64(math.Ceil(h.length(least-plain.way).Seconds()*h.limit.Rate.PerSecond()))
		f.Text = fmt.Sprintf("%s later than %s and any delay seen on the way: as from a queue of %d places or more, or from a service that is slow, which nothing outside can tell apart; %s",
			came(n), duration(int64(promised)), places, said)
	}
}

// orders tells of those that others overtook, which left later by more than any
// way took that was seen, and were answered earlier by more than that.
func (h *holding) orders(f *results.Finding, lines []*line, plain trips) {
	var n int64
	for _, l := range lines {
		n += l.overtaken(plain.way)
	}
	switch {
	case plain.few():
		f.Text = notHeld
	case n < plain.striking():
		f.Level, f.Status = results.Should, results.Kept
		f.Text = fmt.Sprintf("who came first was released first, as far as answers show that took up to %s on their way", duration(int64(h.length(plain.way))))
	default:
		f.Level = results.Should
		f.Text = fmt.Sprintf("%s, by requests that left more than %s later and were answered more than that earlier, which is longer than any way took that was seen: as where the last comes first, or anyone",
			wereOvertaken(n), duration(int64(h.length(plain.way))))
	}
}

// length is so many ticks.
func (h *holding) length(ticks int64) time.Duration { return time.Duration(ticks) * h.sample.length() }

func came(n int64) string {
	if n == 1 {
		return "1 answer came"
	}
	return fmt.Sprintf("%d answers came", n)
}

func wereOvertaken(n int64) string {
	if n == 1 {
		return "1 admitted request was overtaken"
	}
	return fmt.Sprintf("%d admitted requests were overtaken", n)
}

// proved tells of a refusal that no order of arrival explains.
func (h *holding) proved(f *results.Finding, c cornered) {
	f.Level, f.Status, f.Key = results.Must, results.Broken, h.sample.name(h.limit, int(c.refusal.key))
	if h.limit.Key.Kind == scenarios.KeyNone {
		f.Key = ""
	}
	f.Got, f.Allowed, f.Unit = float64(c.waiting), float64(h.limit.Burst), "requests"
	from, to := c.refusal.from, c.refusal.to
	f.Seqs = []int64{c.refusal.seq}
	for _, x := range c.late {
		f.Seqs = append(f.Seqs, x.seq)
		from, to = min(from, x.from), max(to, x.to)
	}
	slices.Sort(f.Seqs)
	f.FromNS, f.ToNS = h.sample.clock(from, to)
	f.Text = fmt.Sprintf("not in the order of arrival: request %d was refused although at most %d of %d places can have been taken: %s under way had no release until %s or more after it, and would not have waited for so long",
		c.refusal.seq, c.waiting, h.limit.Burst, plural(int64(len(c.late)), "other request"), duration(int64(h.limit.Rate.Time(h.limit.Burst))))
	f.Proof = fmt.Sprintf("%d waiting < %d, at every moment from %s to %s; until each of the others was released, all releases at %v were others'",
		c.waiting, h.limit.Burst, instant(h.start(c.refusal.from)), instant(h.end(c.refusal.to)), h.limit.Rate)
}

func (h *holding) start(t int64) int64 { ns, _ := h.sample.clock(t, t); return ns }
func (h *holding) end(t int64) int64   { _, ns := h.sample.clock(t, t); return ns }
