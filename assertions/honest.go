package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckHonest is the id of the promise in Retry-After: a request that comes
// after the wait it was told is not refused again.
const CheckHonest = "retry-after.honest"

// honest follows, key by key, a refusal and the very next request. The wait
// counts from when the refusal was received, which is later than the decision,
// so obeying is always late enough. No other request on the key, or on any where
// a limit is shared, may overlap either of them or lie between: it could have
// taken the token.
type honest struct {
	*scene
	slack  scenarios.Slack
	only   func(*flight) bool // which refusals are followed; nil: all
	shared bool               // keys share a budget: what one asks for another may take
	apart  bool               // the limits tell clients apart in different ways, so that nobody knows who shares what
	blind  bool               // requests may be missing from the record
	keys   []asked
	obeyed int64 // waits that were obeyed
	again  int64 // of them, refused again
	first  *results.Hit
	claim  told
}

// asked is the state of one key.
type asked struct {
	open  int     // requests in flight
	alone *flight // the one in flight that no other has overlapped; nil: none
	told  told    // the last refusal, while nothing else has been sent; seq 0: none
	by    told    // what alone obeys; seq 0: nothing
}

func newHonest(sc *scene, slack scenarios.Slack, limits []scenarios.Limit) *honest {
	o := &honest{scene: sc, slack: slack}
	var key scenarios.Key
	for _, l := range limits {
		switch {
		case l.Key.Kind == scenarios.KeyNone:
			o.shared = true
		case key.Kind != scenarios.KeyNone && l.Key != key:
			o.apart = true
		default:
			key = l.Key
		}
	}
	return o
}

func (o *honest) check() string { return CheckHonest }
func (o *honest) trim(int64)    {}

func (o *honest) hear(events []event) {
	for _, e := range events {
		switch e.kind {
		case tears:
			continue // more time passed than we saw: who obeyed has obeyed
		case loses, regains:
			o.blind = e.kind == loses
			for i := range o.keys {
				o.keys[i].alone, o.keys[i].told.seq = nil, 0
			}
			continue
		}
		i := int(e.f.key)
		if o.shared {
			i = 0
		}
		for i >= len(o.keys) {
			o.keys = append(o.keys, asked{})
		}
		k := &o.keys[i]
		if e.kind == starts {
			o.start(k, e.f)
		} else {
			o.end(k, e.f)
		}
	}
}

func (o *honest) start(k *asked, f *flight) {
	k.alone, k.by.seq = nil, 0
	if k.open == 0 && !o.blind {
		k.alone = f
		// What it was told for its cost holds for one that costs no more.
		if k.told.seq != 0 && f.hit.Sent >= k.told.ready(o) && f.hit.Cost <= k.told.cost {
			k.by = k.told
		}
	}
	k.told.seq = 0
	k.open++
}

// ready is the moment from which on a request has obeyed.
func (t *told) ready(o *honest) int64 {
	return t.at + o.late + int64(t.wait+o.slack.Grace(t.wait))
}

func (o *honest) end(k *asked, f *flight) {
	k.open--
	if k.alone != f {
		return // another request may have taken the token after it was refused
	}
	if k.by.seq != 0 {
		o.judge(f.hit, k.by)
	}
	k.alone, k.by.seq = nil, 0
	if f.asks.Readable() && (o.only == nil || o.only(f)) {
		k.told = f.tells()
	}
}

func (o *honest) judge(h *results.Hit, by told) {
	switch h.Outcome {
	case results.Admitted:
		o.obeyed++
	case results.Limited:
		o.obeyed++
		o.again++
		if o.first == nil {
			c := *h
			o.first, o.claim = &c, by
		}
	}
}

func (o *honest) tell() []results.Finding {
	f := results.Finding{Check: CheckHonest}
	switch {
	case o.apart:
		f.Level, f.Text = results.Info, "not asked: the limits tell clients apart in different ways, so another one may have taken what was waited for"
	case o.obeyed == 0:
		f.Level, f.Text = results.Info, "not asked: no request came on a key right after a wait that a refusal had asked for"
	case o.again == 0:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("who obeyed Retry-After was admitted (%s)", plural(o.obeyed, "wait"))
	default:
		f.Status, f.Key = results.Broken, o.first.Key
		f.Seqs = []int64{o.claim.seq, o.first.Seq}
		f.FromNS, f.ToNS = o.claim.sent, o.first.First
		f.Got, f.Allowed, f.Unit = time.Duration(o.first.Sent-o.claim.at).Seconds(), o.claim.wait.Seconds(), "s"
		f.Text = fmt.Sprintf("Retry-After is too early: request %d was told to wait %s, request %d came %s later with nothing between them, and was refused again; so were %d of %d that obeyed",
			o.claim.seq, duration(int64(o.claim.wait)), o.first.Seq, duration(o.first.Sent-o.claim.at), o.again, o.obeyed)
		f.Proof = fmt.Sprintf("%s after the refusal was received >= Retry-After %s, and refused", duration(o.first.Sent-o.claim.at), duration(int64(o.claim.wait)))
	}
	return []results.Finding{f}
}
