package assertions

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// queueWorld is a queue in virtual time that chooses whom it releases when it
// releases, which a server that answers at once cannot play. It is written for
// the tests alone.
type queueWorld struct {
	rng    *rand.Rand
	net    virtual.Network
	places int
	space  int64                              // from one release to the next
	next   func(n int, rng *rand.Rand) int    // which of n waiting is released, in the order of arrival
	lag    func(rng *rand.Rand) time.Duration // from a release to its answer's leaving; nil: none
	keys   map[string]*queueKey
	todo   queueEvents
	hits   []results.Hit
}

type queueKey struct {
	waiting []results.Hit
	free    int64 // when the next one is released
}

// queueEvent is an arrival, or, without a hit, the release of a key's next.
type queueEvent struct {
	at  int64
	key string
	hit *results.Hit
	how scenarios.Shot
}

type queueEvents []queueEvent

func (q queueEvents) Len() int           { return len(q) }
func (q queueEvents) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queueEvents) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queueEvents) Push(x any)        { *q = append(*q, x.(queueEvent)) }
func (q *queueEvents) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func first(int, *rand.Rand) int        { return 0 }
func last(n int, _ *rand.Rand) int     { return n - 1 }
func anyone(n int, rng *rand.Rand) int { return rng.IntN(n) }

// way is one delay of the network.
func (w *queueWorld) way() int64 {
	d := float64(w.net.OneWay) * math.Exp(w.rng.NormFloat64()*w.net.Spread)
	if w.rng.Float64() < w.net.Tail {
		d *= w.net.TailBy
	}
	return int64(d)
}

// send puts a request on its way.
func (w *queueWorld) send(s scenarios.Shot, key string, seq, obeyed int64) {
	sent := s.At + w.rng.Int64N(int64(300*time.Microsecond))
	h := &results.Hit{Seq: seq, Phase: s.Phase, Key: key, Cost: 1, Planned: s.At, Sent: sent, Obeyed: obeyed, Fresh: true}
	heap.Push(&w.todo, queueEvent{sent + w.way(), key, h, s})
}

func (w *queueWorld) run(plan scenarios.Plan, slack scenarios.Slack) {
	for s := range plan.Shots.All() {
		w.send(s, plan.Keys[s.Key], s.Seq, 0)
	}
	seq := int64(plan.Shots.Len())
	for w.todo.Len() > 0 {
		e := heap.Pop(&w.todo).(queueEvent)
		k := w.keys[e.key]
		if k == nil {
			k = &queueKey{}
			w.keys[e.key] = k
		}
		switch {
		case e.hit == nil:
			w.release(k, e.key, e.at)
		case len(k.waiting) == 0 && e.at >= k.free:
			k.waiting = append(k.waiting, *e.hit)
			w.release(k, e.key, e.at)
		case len(k.waiting) < w.places:
			if k.waiting = append(k.waiting, *e.hit); len(k.waiting) == 1 {
				heap.Push(&w.todo, queueEvent{at: k.free, key: e.key})
			}
		default:
			h := *e.hit
			wait := max(1, (k.free-e.at+int64(time.Second)-1)/int64(time.Second))
			h.Outcome, h.Status, h.RetryAfter = results.Limited, 429, strconv.FormatInt(wait, 10)
			w.answer(h, e.at)
			if e.how.Retry == scenarios.RetryObey && w.hits[len(w.hits)-1].Answered() {
				seq++
				again := e.how
				again.Retry, again.At = scenarios.RetryNone, w.hits[len(w.hits)-1].First+wait*int64(time.Second)+int64(slack.Grace(time.Duration(wait)*time.Second))
				w.send(again, e.key, seq, h.Seq)
			}
		}
	}
}

// release lets one of those that wait go.
func (w *queueWorld) release(k *queueKey, key string, at int64) {
	i := w.next(len(k.waiting), w.rng)
	h := k.waiting[i]
	k.waiting = append(k.waiting[:i], k.waiting[i+1:]...)
	k.free = at + w.space
	h.Outcome, h.Status = results.Admitted, 200
	if w.lag != nil {
		at += int64(w.lag(w.rng))
	}
	w.answer(h, at)
	if len(k.waiting) > 0 {
		heap.Push(&w.todo, queueEvent{at: k.free, key: key})
	}
}

func (w *queueWorld) answer(h results.Hit, at int64) {
	h.First = at + w.way()
	h.Done = h.First
	if w.rng.Float64() < w.net.Loss || h.First > h.Sent+int64(scenarios.DefaultTimeout) {
		h.First, h.Done, h.Outcome, h.Status, h.RetryAfter = results.Never, h.Sent+int64(scenarios.DefaultTimeout), results.Unknown, 0, ""
	}
	w.hits = append(w.hits, h)
}

// queueing is what the standard scenario for a queue finds at one.
func queueing(t *testing.T, l scenarios.Limit, net virtual.Network, seed uint64, w queueWorld) []results.Finding {
	t.Helper()
	w.rng, w.net, w.keys = rand.New(rand.NewPCG(seed, 0x9e)), net, map[string]*queueKey{}
	w.space = int64(l.Token())
	s, _ := library.Standard(l, library.Circumstances{RTT: 2 * net.OneWay, Seed: seed})
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	w.run(plan, l.Slack)
	slices.SortFunc(w.hits, func(a, b results.Hit) int { return cmp.Compare(a.Done, b.Done) })
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true, NoCauses: true})
	if err != nil {
		t.Fatal(err)
	}
	j.Block(results.Block{Hits: w.hits, Low: results.Never})
	return j.findings()
}

// findings are those of all assertions, without those that try other promises.
func (j *Judge) findings() (all []results.Finding) {
	j.hear(j.scene.close())
	for i, a := range j.assertions {
		all = append(all, j.tell(i, a)...)
	}
	return all
}

// seenOf sums up what is found about a queue: broken are the promises that are
// refuted, told those of its own two questions that are not and that something
// speaks against.
func seenOf(all []results.Finding) (broken, told []string) {
	for _, f := range all {
		switch {
		case f.Status == results.Broken && f.Level == results.Must:
			broken = append(broken, f.Check+": "+f.Text)
		case (f.Check == CheckWait || f.Check == CheckOrder) && f.Level != results.Info && f.Status != results.Kept:
			told = append(told, f.Check)
		}
	}
	return broken, told
}

// queue20 is what the queues promise.
func queue20() scenarios.Limit {
	return declared(scenarios.Limit{Contract: scenarios.Queue, Burst: 20, Rate: scenarios.Rate{Count: 10, Per: time.Second}})
}

func TestQueuesThatAreWrong(t *testing.T) {
	few := seeds(3)
	wrong := []struct {
		name   string
		queue  queueWorld
		check  string
		proved bool // where the network is near
	}{
		{"one place more", queueWorld{places: 21, next: first}, CheckWait, false},
		{"the last first", queueWorld{places: 20, next: last}, CheckOrder, true},
		{"anyone first", queueWorld{places: 20, next: anyone}, CheckOrder, true},
	}
	for name, net := range networks() {
		for _, tt := range wrong {
			told, proved := uint64(0), uint64(0)
			for seed := range few {
				broken, said := seenOf(queueing(t, queue20(), net, seed, tt.queue))
				ordered := slices.ContainsFunc(broken, func(s string) bool { return strings.HasPrefix(s, CheckOrder) })
				if slices.Contains(said, tt.check) || tt.check == CheckOrder && ordered {
					told++
				}
				if ordered {
					proved++
				}
				if !tt.proved && len(broken) > 0 {
					t.Fatalf("%s at %s, seed %d: a right queue of 20 places may be the same, and it is accused: %q", tt.name, name, seed, broken)
				}
			}
			t.Logf("%-15s %-7s told %d, proved %d of %d", tt.name, name, told, proved, few)
			if net.OneWay <= time.Millisecond && (told*100 < few*95 || tt.proved && proved*100 < few*95) {
				t.Errorf("%s at %s: told in %d, proved in %d of %d seeds", tt.name, name, told, proved, few)
			}
		}
	}
}

// A right queue is never accused, however slow its service is, and seldom spoken
// against.
func TestRightQueuesAreNotSpokenAgainst(t *testing.T) {
	all := seeds(6)
	services := map[string]func(*rand.Rand) time.Duration{
		"at once":       nil,
		"in 50 ms":      func(*rand.Rand) time.Duration { return 50 * time.Millisecond },
		"in 0 to 80 ms": func(rng *rand.Rand) time.Duration { return time.Duration(rng.Int64N(int64(80 * time.Millisecond))) },
	}
	for name, net := range networks() {
		for service, lag := range services {
			spoken := uint64(0)
			for seed := range all {
				broken, said := seenOf(queueing(t, queue20(), net, seed, queueWorld{places: 20, next: first, lag: lag}))
				if len(broken) > 0 {
					t.Fatalf("%s, served %s, seed %d: %q", name, service, seed, broken)
				}
				if len(said) > 0 {
					spoken++
				}
			}
			t.Logf("%-7s served %-14s spoken against %d of %d", name, service, spoken, all)
			if spoken*100 > max(all, 100) {
				t.Errorf("%s, served %s: spoken against in %d of %d seeds", name, service, spoken, all)
			}
		}
	}
}

// Nor is the reference server's queue, on a clock of its own.
func TestReferenceQueuesAreNotSpokenAgainst(t *testing.T) {
	all := seeds(4)
	for _, text := range []string{"queue{burst=20,rate=10/s}", "queue{burst=3,rate=100/s}", "queue{burst=1,rate=2/s}", "queue{burst=40,rate=5/s}"} {
		for name, net := range networks() {
			spoken := uint64(0)
			for seed := range all {
				a := algorithm(t, text)
				j, _ := triedOf(t, serverOf(a, seed), declared(a.Promise()), net, seed)
				broken, said := seenOf(j.findings())
				if len(broken) > 0 {
					t.Fatalf("%s, %s, seed %d: %q", text, name, seed, broken)
				}
				if len(said) > 0 {
					spoken++
				}
			}
			t.Logf("%-26s %-7s spoken against %d of %d", text, name, spoken, all)
			if spoken*100 > max(all, 100) {
				t.Errorf("%s, %s: spoken against in %d of %d seeds", text, name, spoken, all)
			}
		}
	}
}
