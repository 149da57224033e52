package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckTight is the id of the other side of Retry-After: it does not ask for
// more time than is needed, but for the rounding of its unit.
const CheckTight = "retry-after.tight"

// tight looks, key by key, for a request that was admitted long before an
// earlier refusal had said that it would be. The truth is no later than the
// answer of a request that left after the refusal was received.
type tight struct {
	*scene
	slack  scenarios.Slack
	keys   []furthest
	judged int64         // refusals that somebody was admitted behind
	sight  int64         // nanoseconds: the shortest wait that was seen to be enough, with the rounding; a longer one would have been seen to be late
	loose  int64         // of them, those that were late
	worst  time.Duration // provably late by, beyond the rounding
	claim  told
	by     *results.Hit
}

// furthest is, of the refusals received on a key and not yet overtaken, the one
// that reaches furthest.
type furthest struct {
	told
	due *due // the same, for those that left since; nil: none did
}

func newTight(sc *scene, slack scenarios.Slack) *tight { return &tight{scene: sc, slack: slack} }

func (o *tight) check() string { return CheckTight }
func (o *tight) trim(int64)    {}

func (o *tight) hear(events []event) {
	for _, e := range events {
		if e.kind == tears { // more time passed than we saw: what looks early was not
			clear(o.keys)
			continue
		}
		if e.f == nil {
			continue
		}
		for int(e.f.key) >= len(o.keys) {
			o.keys = append(o.keys, furthest{})
		}
		k := &o.keys[e.f.key]
		switch {
		case e.f.torn:
		case e.kind == starts:
			if e.f.outcome == results.Admitted && k.seq != 0 {
				if k.due == nil {
					k.due = &due{told: k.told}
				}
				e.f.told = k.due
			}
		case e.f.asks.Readable():
			o.refused(k, e.f)
		case e.f.told != nil:
			o.admitted(k, e.f)
		}
	}
}

func (o *tight) refused(k *furthest, f *flight) {
	if t := f.tells(); k.seq == 0 || t.latest() > k.latest() {
		*k = furthest{told: t}
	}
}

// latest is the moment before which a request would be early even for who
// allows for the rounding.
func (t told) latest() int64 { return t.sent + int64(t.wait) - int64(t.late) }

func (o *tight) admitted(k *furthest, f *flight) {
	t := f.told
	if f.hit.Cost < t.cost {
		return // a cheaper request may be admitted sooner
	}
	if !t.judged { // of several that are admitted behind one refusal only the first makes a wait of it
		t.judged = true
		o.judged++
	}
	if sight := f.hit.First + o.late - t.sent + int64(t.late+o.lateBy); o.sight == 0 || sight < o.sight {
		o.sight = sight
	}
	if k.seq == t.seq {
		*k = furthest{}
	}
	late := time.Duration(t.latest() - f.hit.First - o.late)
	if late <= o.lateBy+o.slack.Grace(t.wait) {
		return
	}
	if !t.loose {
		t.loose = true
		o.loose++
	}
	if o.by == nil || late > o.worst {
		h := *f.hit
		o.worst, o.claim, o.by = late, t.told, &h
	}
}

func (o *tight) tell() []results.Finding {
	f := results.Finding{Check: CheckTight}
	switch {
	case o.judged == 0:
		f.Level, f.Text = results.Info, "not asked: nothing was admitted behind a refusal with a Retry-After that can be read"
	case o.loose == 0:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("no Retry-After was later than the truth by more than its rounding (%s; one of more than %s would have been seen to be)",
			plural(o.judged, "wait"), duration(o.sight))
	default:
		f.Status, f.Key = results.Broken, o.by.Key
		f.Seqs = []int64{o.claim.seq, o.by.Seq}
		f.FromNS, f.ToNS = o.claim.sent, o.by.First
		took := time.Duration(o.by.First - o.claim.sent)
		f.Got, f.Allowed, f.Unit = o.claim.wait.Seconds(), took.Seconds(), "s"
		f.Text = fmt.Sprintf("Retry-After is too late: request %d was told to wait %s, and request %d was admitted %s after it had left; late beyond the rounding %s of %s",
			o.claim.seq, duration(int64(o.claim.wait)), o.by.Seq, duration(int64(took)), times(o.loose), plural(o.judged, "wait"))
		f.Proof = fmt.Sprintf("%s - %s > %s, the rounding of its unit", duration(int64(o.claim.wait)), duration(int64(took)), duration(int64(o.claim.late)))
	}
	return []results.Finding{f}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
