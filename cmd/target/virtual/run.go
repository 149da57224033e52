// Package virtual fires a plan at a limiter in virtual time: a simulated network
// with heavy tails and losses, a clock on each side, and the record that a
// client would have kept. Nothing sleeps and nothing is left to chance but what
// comes from the seed, so a run of minutes takes milliseconds and repeats
// exactly. It stands beside the HTTP server, on the same limiters.
package virtual

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Request is what arrives at a server.
type Request struct {
	At   int64 // nanoseconds since the run's start, on the client's clock; never falls
	Key  string
	Cost int64
	Conn int32         // number of the connection it comes on, from 1
	Ask  scenarios.Ask // what it is made of, its key and cost included
}

// Answer is what a server says, and when.
type Answer struct {
	Status     int
	RetryAfter string        // empty: absent
	Date       string        // empty: absent
	Headers    string        // other lines about limits, as in results.Hit
	After      time.Duration // how long the server takes
}

// Server answers requests in the order in which they arrive, and knows of each
// at once what it will answer.
type Server interface{ Answer(Request) Answer }

// Site is a server in which requests can be under way together, and what comes of
// one may depend on those that arrive after it.
type Site interface {
	// Arrive hands over a request. reply is called once, at the moment of the
	// answer, within this call or a later Advance; the answer's After counts from
	// there.
	Arrive(r Request, reply func(at int64, a Answer))
	// Next is the moment that the site next has something to do at, if it has.
	Next() (at int64, ok bool)
	// Advance lets it do what is due up to a moment.
	Advance(to int64)
}

// prompt is a Server as a Site.
type prompt struct{ Server }

func (p prompt) Arrive(r Request, reply func(int64, Answer)) { reply(r.At, p.Answer(r)) }
func (p prompt) Next() (int64, bool)                         { return 0, false }
func (p prompt) Advance(int64)                               {}

// Network is what lies between client and server.
type Network struct {
	OneWay time.Duration // median of one way
	Spread float64       // sigma of its logarithm; 0: always the median
	Tail   float64       // share of ways that take TailBy times as long
	TailBy float64
	Loss   float64 // share of answers that get lost on the way back
}

// LAN is a network with a round trip of 0.4 ms.
func LAN() Network {
	return Network{OneWay: 200 * time.Microsecond, Spread: 0.4, Tail: 0.01, TailBy: 30}
}

// WAN is a network with a round trip of 20 ms.
func WAN() Network {
	return Network{OneWay: 10 * time.Millisecond, Spread: 0.2, Tail: 0.01, TailBy: 10, Loss: 0.001}
}

// Far is a network with a round trip of 150 ms, and losses.
func Far() Network {
	return Network{OneWay: 75 * time.Millisecond, Spread: 0.4, Tail: 0.02, TailBy: 8, Loss: 0.01}
}

// Client is how requests are sent.
type Client struct {
	Answers scenarios.Answers
	Slack   scenarios.Slack // granted to a wait that is obeyed
	Timeout time.Duration   // after which a request is given up; 0: scenarios.DefaultTimeout
	Jitter  time.Duration   // up to which a shot leaves late; 0: none does
}

// Run fires the plan at a server and gives the record, whose blocks come as a
// recorder would have written them.
func Run(plan scenarios.Plan, c Client, n Network, s Server, seed uint64) []results.Block {
	return RunAt(plan, c, n, prompt{s}, seed)
}

// RunAt is Run for a site.
func RunAt(plan scenarios.Plan, c Client, n Network, s Site, seed uint64) []results.Block {
	if c.Timeout == 0 {
		c.Timeout = scenarios.DefaultTimeout
	}
	r := &runner{plan: plan, client: c, network: n, site: s, rng: rand.New(rand.NewPCG(seed, 0x7ead))}
	for s := range plan.Shots.All() {
		r.send(arrival{shot: s}, r.rng)
	}
	r.seq = int64(plan.Shots.Len())
	for _, a := range plan.Attacks {
		r.attack(a, seed)
	}
	for _, s := range plan.Floods {
		r.saturate(s)
	}
	for r.step() {
	}
	return results.Blocks(r.hits)
}

// step does what comes next, and is false when nothing is left.
func (r *runner) step() bool {
	next, busy := r.site.Next()
	switch {
	case busy && (r.arrivals.Len() == 0 || next <= r.arrivals[0].at) && (r.moments.Len() == 0 || next <= r.moments[0].at):
		r.site.Advance(next)
	case r.moments.Len() > 0 && (r.arrivals.Len() == 0 || r.moments[0].at <= r.arrivals[0].at):
		if m := heap.Pop(&r.moments).(moment); m.turn == 0 || m.turn == m.by.turn {
			m.do()
		}
	case r.arrivals.Len() > 0:
		r.arrive(heap.Pop(&r.arrivals).(arrival))
	default:
		return false
	}
	return true
}

type runner struct {
	plan     scenarios.Plan
	client   Client
	network  Network
	site     Site
	lines    lines
	rng      *rand.Rand
	arrivals arrivals
	moments  moments
	hits     []results.Hit
	seq      int64
	quit     map[[2]int32]int64 // by phase and key: when a client gave up
	owned    map[own]int32
}

// own is one of the connections that a key has to itself.
type own struct {
	key int32
	n   int
}

// arrival is a request on its way to the server.
type arrival struct {
	at    int64
	shot  scenarios.Shot
	sent  int64
	obey  int64    // seq of the refusal it obeys; 0: none
	by    *assault // that fired it; nil: it was planned
	salvo int      // of the assault
	flood *flood   // that it belongs to; nil: none
}

type arrivals []arrival

func (a arrivals) Len() int           { return len(a) }
func (a arrivals) Less(i, j int) bool { return a[i].at < a[j].at }
func (a arrivals) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(x any)        { *a = append(*a, x.(arrival)) }
func (a *arrivals) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

// send sends a shot at its moment.
func (r *runner) send(a arrival, rng *rand.Rand) {
	a.sent = a.shot.At
	if r.client.Jitter > 0 {
		a.sent += rng.Int64N(int64(r.client.Jitter) + 1)
	}
	a.at = a.sent + r.way(rng)
	heap.Push(&r.arrivals, a)
}

// way is one delay of the network.
func (r *runner) way(rng *rand.Rand) int64 {
	d := float64(r.network.OneWay)
	if r.network.Spread > 0 {
		d *= math.Exp(rng.NormFloat64() * r.network.Spread)
	}
	if r.network.Tail > 0 && rng.Float64() < r.network.Tail {
		d *= r.network.TailBy
	}
	return int64(d)
}

func (r *runner) arrive(a arrival) {
	if r.gone(a) {
		return
	}
	ask := r.plan.Ask(a.shot)
	conn, fresh := r.connection(a, ask)
	r.site.Arrive(Request{At: a.at, Key: ask.Key, Cost: ask.Cost, Conn: conn, Ask: ask}, func(at int64, ans Answer) {
		r.answer(a, conn, fresh, at, ans)
	})
}

// answer is what becomes of a request that was answered at a moment.
func (r *runner) answer(a arrival, conn int32, fresh bool, at int64, ans Answer) {
	rng := r.rng
	if a.by != nil {
		rng = a.by.rng
	}
	h := results.Hit{Seq: a.shot.Seq, Phase: a.shot.Phase, Conn: conn, Key: r.plan.Keys[a.shot.Key], Cost: a.shot.Cost,
		Planned: a.shot.At, Sent: a.sent, First: at + int64(ans.After) + r.way(rng), Obeyed: a.obey, Fresh: fresh}
	if r.network.Loss > 0 && rng.Float64() < r.network.Loss || time.Duration(h.First-h.Sent) > r.client.Timeout {
		h.First, h.Done, h.Err = results.Never, h.Sent+int64(r.client.Timeout), "no answer in time"
		r.record(a, h)
		return
	}
	if a.shot.Volley == 0 && !a.shot.Apart && r.plan.Ask(a.shot).Line() == 0 {
		r.lines.put(conn, h.First)
	}
	h.Done, h.Status, h.RetryAfter, h.Date, h.Headers = h.First, int32(ans.Status), ans.RetryAfter, ans.Date, ans.Headers
	h.Outcome = outcome(r.client.Answers, ans.Status)
	r.record(a, h)
	r.follow(a.shot, h)
}

// record keeps a hit and tells who waits for it.
func (r *runner) record(a arrival, h results.Hit) {
	r.hits = append(r.hits, h)
	if a.by != nil {
		r.hear(a, h)
	}
	if a.flood != nil {
		r.flow(a.flood, h.Done)
	}
}

func outcome(a scenarios.Answers, status int) results.Outcome {
	return results.OutcomeOf(status, a.Limited.Covers(status, nil), a.Admitted.Covers(status, nil))
}

// follow sends a refused request again, if its client comes back.
func (r *runner) follow(s scenarios.Shot, h results.Hit) {
	if h.Outcome != results.Limited {
		return
	}
	if at := [2]int32{s.Phase, s.Key}; s.Retry == scenarios.RetryGiveUp && r.quit[at] == 0 {
		if r.quit == nil {
			r.quit = map[[2]int32]int64{}
		}
		r.quit[at] = h.First
	}
	asks := h.Asks()
	again, full, ok := s.Again(h.First, asks.Wait, asks.Readable(), r.client.Slack)
	if !ok {
		return
	}
	r.seq++
	again.Seq = r.seq
	a := arrival{shot: again}
	if full {
		a.obey = h.Seq
	}
	r.send(a, r.rng)
}

// gone reports whether a request is not sent, since its client had given up.
func (r *runner) gone(a arrival) bool {
	since, quit := r.quit[[2]int32{a.shot.Phase, a.shot.Key}]
	return quit && a.shot.Retry == scenarios.RetryGiveUp && a.sent >= since
}

// connection is the one that a request takes.
func (r *runner) connection(a arrival, ask scenarios.Ask) (conn int32, fresh bool) {
	n := ask.Line()
	if n == 0 {
		return r.lines.take(a.sent, a.shot.Volley != 0 || a.shot.Apart)
	}
	conn, used := r.owned[own{a.shot.Key, n}]
	if !used {
		if r.owned == nil {
			r.owned = map[own]int32{}
		}
		r.lines.opened++
		conn = r.lines.opened
		r.owned[own{a.shot.Key, n}] = conn
	}
	return conn, !used
}
