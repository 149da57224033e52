package limiter

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Nginx is limit_req of nginx with one zone, after the source of its version
// 1.22 and later, with the same clock of milliseconds, the same thousandths of a
// request and the same truncations. A key takes 16 bytes.
//
// Of a key it knows the excess, by how much it is ahead of the rate, and the
// last admission. A request adds 1 to the excess, time takes rate off, never
// below 0; what would come above the burst is refused and changes nothing; the
// first request of a key has an excess of 0, so burst+1 pass at once. An
// admitted request whose excess is above the delay is held back until its excess
// is used up; with nodelay none is.
//
// In a closed window of length T it admits at most burst + 1 + rT + r*1ms: its
// clock is read in whole milliseconds, of which a window of length T may meet
// one more than it is long, and in everything else it rounds down: the rate
// itself, to thousandths a second (100 a minute become 1.666 a second), and at
// each admission the refill, to thousandths of a request.
//
// nginx knows no costs. Here a request of cost c is decided as c requests at
// once would be, all or none, and held back as the last of them.
type Nginx struct {
	promise  scenarios.Limit
	thousand int64 // thousandths of a request that are taken off in a second
	burst    int64 // thousandths
	delay    int64 // thousandths of excess that are not held back
}

// NoDelay is the delay of a limit that holds nothing back.
const NoDelay = 1<<31 - 1

// Excess is the state of one key: 16 bytes.
type Excess struct {
	Level int64 // thousandths of a request; -1000: never used
	Last  int64 // milliseconds: of the last admission
}

// Clone is a copy.
func (k *Excess) Clone() State {
	c := *k
	return &c
}

func nginx() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "nginx",
			Settings: "rate=REQUESTS/s|m,burst=REQUESTS,delay=REQUESTS,nodelay",
			Example:  "nginx{rate=2/s,burst=5,nodelay}",
			Text:     "limit_req of nginx, truncations included: burst+1 pass at once, those above delay (0) are held back to the rate; nodelay holds none back.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			rate, burst, delay := r.Rate("rate"), r.IntOr("burst", 0), r.IntOr("delay", 0)
			if r.Bool("nodelay") {
				r.Require(!r.Has("delay"), "delay", "and nodelay exclude each other")
				delay = NoDelay
			}
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewNginx(rate, burst, delay))
		},
	}
}

// NewNginx gives `limit_req zone=... burst=burst delay=delay` on a zone of that
// rate, which must be per second or per minute. It returns an error if nginx
// would not take them.
func NewNginx(rate scenarios.Rate, burst, delay int64) (*Nginx, error) {
	p := scenarios.Limit{Contract: scenarios.Nginx, Burst: burst + 1, Rate: rate}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("nginx: %w", err)
	}
	if rate.Per != time.Second && rate.Per != time.Minute {
		return nil, fmt.Errorf("nginx: rate %v: nginx takes whole requests per second or per minute, such as 2/s or 30/m", rate)
	}
	if delay < 0 || delay > NoDelay {
		return nil, fmt.Errorf("nginx: delay %d: give 0 to %d", delay, NoDelay)
	}
	n := &Nginx{promise: p, thousand: rate.Count * 1000 / int64(rate.Per/time.Second), burst: burst * 1000, delay: delay * 1000}
	// The excess at most is what the burst and a first request leave behind.
	if ms := (n.burst + 2000) * 1000 / n.thousand; ms > MaxLevel/int64(time.Millisecond) {
		return nil, fmt.Errorf("nginx: burst %d at %v takes more than a century to be used up; give a smaller burst or a higher rate", burst, rate)
	}
	return n, nil
}

// Promise is what can be admitted at once, one more than the burst, and the
// rate.
func (n *Nginx) Promise() scenarios.Limit { return n.promise }

// Thousandths is how many thousandths of a request are taken off in a second.
func (n *Nginx) Thousandths() int64 { return n.thousand }

// Fresh is a key of which the first request will have an excess of 0.
func (n *Nginx) Fresh(now int64) State { return &Excess{Level: -1000, Last: millisecond(now)} }

// Decide computes the excess of the request, and admits it if that is within
// the burst.
func (n *Nginx) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > n.promise.Burst {
		return d, &CostError{Cost: cost, Most: n.promise.Burst}
	}
	k := s.(*Excess)
	ms := k.passed(now)
	first := n.first(k, ms)
	next := first
	if excess := first + (cost-1)*1000; excess <= n.burst {
		d.Admitted, d.Delay = true, n.held(excess)
		k.Level, next = excess, excess+1000
		if ms > 0 {
			k.Last = millisecond(now)
		}
	} else {
		d.Wait = n.until(k, k.Level+cost*1000-n.burst, now)
	}
	n.tell(&d, first, next)
	d.Reset = n.until(k, k.Level+1000, now)
	return d, nil
}

// View tells the excess that a request would have.
func (n *Nginx) View(s State, now int64) (d Decision) {
	k := s.(*Excess)
	first := n.first(k, k.passed(now))
	n.tell(&d, first, first)
	if first > 0 {
		d.Reset = n.until(k, k.Level+1000, now)
	}
	return d
}

// tell fills in the figures of the room above the excess that the next request of
// one token would have, before and after a decision.
func (n *Nginx) tell(d *Decision, before, after int64) {
	most := n.burst + 1000
	d.Before, d.After, d.Unit, d.Limit = most-before, most-after, 1000, n.promise.Burst
	d.Remaining = max(0, d.After/1000)
}

// passed is the milliseconds since the last admission, as nginx has them: none
// if the clock has gone back, but 1 if it was by more than a minute, so that the
// key goes on from there.
func (k *Excess) passed(now int64) int64 {
	ms := millisecond(now) - k.Last
	if ms < -60_000 {
		return 1
	}
	return max(0, ms)
}

// first is the excess of a request of one token so many milliseconds after the
// last admission.
func (n *Nginx) first(k *Excess, ms int64) int64 {
	if ms > MaxLevel/n.thousand { // far more than any excess
		return 0
	}
	return max(0, k.Level-n.thousand*ms/1000+1000)
}

// held is how long a request of that excess is held back, cut to whole
// milliseconds.
func (n *Nginx) held(excess int64) time.Duration {
	if excess <= n.delay {
		return 0
	}
	return time.Duration((excess - n.delay) * 1000 / n.thousand * int64(time.Millisecond))
}

// until is the time until so many thousandths have been taken off since the last
// admission, which must be in the future: rate*ms/1000 >= thousandths, cut as
// above, which is so from the millisecond ceil(thousandths*1000/rate) on.
func (n *Nginx) until(k *Excess, thousandths, now int64) time.Duration {
	ms := (thousandths*1000 + n.thousand - 1) / n.thousand
	return time.Duration((k.Last+ms)*int64(time.Millisecond) - now)
}

// millisecond is the last whole one, in milliseconds.
func millisecond(now int64) int64 {
	ms := now / int64(time.Millisecond)
	if now%int64(time.Millisecond) < 0 {
		ms--
	}
	return ms
}

// Forgettable reports whether a request would have an excess of 0, as the first
// of a key has, and nothing was admitted after now.
func (n *Nginx) Forgettable(s State, now int64) bool {
	k := s.(*Excess)
	return millisecond(now) >= k.Last && n.first(k, k.passed(now)) == 0
}
