package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func pressure() Trap {
	return Trap{
		Name: "pressure", Says: "a drained key polled densely and for long: more is admitted when the promise says, neither earlier nor later",
		Finds: []Kind{WrongRate, Lumpy, CostlyRefusal, Lockout}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) track { return d.pressedTwice(d.press("drain", "pressure")) },
	}
}

// press drains keys, and polls them.
func (d *design) press(drained, name string) track {
	length, gap := d.polls()
	return track{
		length: length + 100*time.Millisecond,
		phases: []scenarios.Phase{
			{Name: drained, Volley: d.drain(), Keys: scenarios.Keys{Fresh: d.polled()}},
			{Name: name, Rest: d.after(), Pace: scenarios.Rate{Count: 1, Per: gap}, Count: int(length / gap), Keys: scenarios.Keys{Of: drained}},
		},
	}
}

// What a small server bears, and one that is busy is taken for far away: so many
// requests a second in all, and so many on their way at the same time. Several keys
// are polled only where it stays well below.
const (
	leastGap = time.Second / 500
	underWay = 4
	easyGap  = time.Second / 300
)

// polled is how many keys are put under pressure. An answer that is lost may
// have cost a token, which one key can hide an error behind; through a network,
// where that happens, there are several, if that is not too much for a server.
func (d *design) polled() int {
	if !d.lossy() {
		return 1
	}
	most := time.Duration(3)
	if d.limit.Contract.Forgets() {
		most = 6 // over several periods a key meets a loss more often than not
	}
	_, gap := d.polls()
	return int(min(max(gap/max(easyGap, d.c.RTT/underWay), 1), most))
}

// bearable is the least time between two polls. Who promises more a second than
// that has to bear it, or its bucket would never be empty. Polls that are much
// closer than what a round trip blurs show hardly more.
func (d *design) bearable() time.Duration {
	return min(max(leastGap, d.c.RTT/underWay, (d.c.RTT+d.limit.Slack.Quantum)/2), d.token*2/3)
}

// held reports whether it would take more polls to see as sharply as is asked for
// than a server should have to bear.
func (d *design) held() bool {
	_, gap := d.polls()
	return gap <= d.bearable()+d.bearable()/20
}

// polls is how long the pressure lasts, and the time from one poll to the next:
// so dense, and for so long, that an error of the wanted size in the rate moves
// an admission by more than the time between two polls, the round trip and the
// limiter's clock step together.
func (d *design) polls() (length, gap time.Duration) {
	wanted := max(d.c.Wanted-max(d.limit.Slack.Over, d.limit.Slack.Under), d.c.Wanted/4)
	unsharp := d.c.RTT + d.limit.Slack.Quantum
	least := 4 * time.Second // long enough to meet what happens once a second
	if d.token < 5*time.Millisecond {
		least = 2 * time.Second
	}
	length = max(least, 4*scale(unsharp, 1_000_000, wanted), 3*d.token)
	// What an error adds up over: all of it, or, where a limiter remembers no
	// more than a period, that.
	lever := length
	switch has, _ := d.limit.Contract.Numbers(); {
	case d.limit.Contract.Forgets():
		length = max(length, d.periods()*d.limit.Rate.Per)
		lever = d.limit.Rate.Per
	case has.Align: // both ends of a period are blurred by the polls
		length = max(length*3/2, 4*d.limit.Rate.Per)
		lever = length
	}
	if d.size == 1 { // each token is a trial of its own, see below
		length = max(length, min(40*d.token, 10*time.Second))
	}
	if room := d.room(); room > 0 && length > room {
		length = max(room, time.Second)
	}
	gap = min(scale(min(lever, length), wanted, 2_000_000)-unsharp, d.token*2/3)
	if d.size == 1 {
		// A bucket of one is full as soon as it has a token, and what comes
		// then is lost: every single token has to be asked for in time.
		gap = min(gap, max(d.token/100, unsharp/2))
	}
	// Not a round part of a token's time: the polls shall meet every phase of it.
	return length, max(scale(gap, 987, 1013), scale(d.bearable(), 987, 1013), 50*time.Microsecond, length/20_000)
}

// periods is for how many of them a limiter that remembers no more than one is
// polled.
func (d *design) periods() time.Duration {
	if d.twice() {
		return 2
	}
	return 4
}

// twice reports whether keys are drained and polled a second time. A sliding
// counter that is polled without end admits one each W/N, and one that is slower by
// an error e has a token less only after 1/(r e): where its windows begin, and how
// its estimate is rounded, hide it until then. Two drains that are known to a
// moment are as far apart as windows are.
func (d *design) twice() bool {
	room := d.room()
	return d.limit.Contract == scenarios.SlidingCounter && d.c.Keys == 0 && (room == 0 || room >= d.again()+d.onceMore())
}

// again is when the second drain is, behind the first: no window that the first
// pressure was in counts any more.
func (d *design) again() time.Duration { return scale(d.limit.Rate.Per, 42, 10) }

// onceMore is how long the pressure behind it lasts: until something has come back.
func (d *design) onceMore() time.Duration {
	return d.limit.Rate.Per + 3*d.token + d.after()
}

// pressedTwice adds the second drain to a track, and polls behind it.
func (d *design) pressedTwice(t track) track {
	if !d.twice() {
		return t
	}
	_, gap := d.polls()
	again, length := d.again(), d.onceMore()
	keys := scenarios.Keys{Of: t.phases[0].Name}
	t.phases = append(t.phases,
		scenarios.Phase{Name: t.phases[0].Name + "-again", Rest: again, Volley: d.drain(), Keys: keys},
		scenarios.Phase{Name: t.phases[1].Name + "-again", Rest: again + d.after(), Pace: scenarios.Rate{Count: 1, Per: gap}, Count: int(length / gap), Keys: keys})
	t.length = again + d.after() + length + 100*time.Millisecond
	if d.far() {
		t = d.sliced(t)
	}
	return t
}

// lossy: there is a network in between, where any number of keys can be polled.
func (d *design) lossy() bool { return d.c.Keys == 0 && d.c.RTT >= 2*time.Millisecond }

// room is how long the pressure may last within the budget.
func (d *design) room() time.Duration {
	switch {
	case d.c.Budget == 0:
		return 0
	case d.c.Keys == 0:
		return d.c.Budget - 700*time.Millisecond
	}
	return d.c.Budget - 2*d.fill - time.Second
}
