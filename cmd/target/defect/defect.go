// Package defect holds the switches that make a server wrong on purpose, in the
// ways that real limiters are wrong. A defect exchanges or wraps one part of
// the server; the right parts know nothing of it. It stands between limiter and
// server, which is built of Parts.
package defect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// kind is one defect that can be named.
type kind struct {
	mode.Doc
	rows    []string // of docs/defects.md
	stage   stage
	on      On
	reports []string // where it was seen in public
	unseen  string   // why no client can see it within minutes; empty: one can
	// apply reads all settings, asks Done, and only then changes the parts.
	apply func(*Parts, *mode.Reader) error
}

// stage is when a defect is applied: what rebuilds an algorithm comes before what
// wraps it.
type stage int

const (
	rebuilds stage = iota // makes another algorithm of what it finds
	wraps                 // goes around an algorithm
	beside                // remembers something beside its states, which so become others
	outside               // changes what an algorithm is asked, or what is told of it
)

// On is a server that a defect can be seen on, which is right without it. The
// zero On is the default limit, told apart by a header.
type On struct {
	Limit string // empty: token-bucket{burst=10,rate=5/1s}
	Key   string // empty: header:X-Api-Key

	Beside     string // a second limit, of the same key, that is asked together with it; empty: none
	CostHeader string // request header with the cost in tokens; empty: none
	CostBody   string // how the cost is read from the body; empty: it is not
	Mode       string // of the route; empty: plain
	RetryAfter string // form of Retry-After; empty: seconds
	Fields     string // header fields that tell of the limit; empty: any
	Store      string // empty: memory

	Deeds []string // what has to happen for it to show: paths of the admin side that are posted to, in their order; nil: nothing
	Keeps bool     // the store has to be one that outlives the server
}

// kinds are all defects, in the order in which they are applied: who a client is
// comes before where its state is.
func kinds() []kind {
	all := slices.Concat(boundKinds(), clockKinds(), identityKinds(), storeKinds(), refusalKinds(), headerKinds(), lifeKinds())
	slices.SortStableFunc(all, func(a, b kind) int { return cmp.Compare(a.stage, b.stage) })
	return all
}

// Apply changes the parts by every defect that is named. They may be combined,
// each can be given once, and the order in which they are given does not matter.
// The error names what is wrong with a defect and shows a correct form.
func Apply(p *Parts, defects []mode.Mode) error {
	if err := check(defects); err != nil {
		return err
	}
	for _, k := range kinds() {
		i := slices.IndexFunc(defects, func(m mode.Mode) bool { return m.Name == k.Name })
		if i < 0 {
			continue
		}
		if err := k.apply(p, defects[i].Read(k.Example)); err != nil {
			return fmt.Errorf("defect %w", err)
		}
	}
	return nil
}

func check(defects []mode.Mode) error {
	docs := List()
	for i, m := range defects {
		same := func(d mode.Mode) bool { return d.Name == m.Name }
		if !slices.ContainsFunc(docs, func(d mode.Doc) bool { return d.Name == m.Name }) {
			return mode.Unknown("defect", m.Name, docs)
		}
		if slices.ContainsFunc(defects[:i], same) {
			return fmt.Errorf("defect %s is given twice: give it once, with all its settings", m.Name)
		}
	}
	return nil
}

// List describes the defects that Apply knows.
func List() []mode.Doc {
	var docs []mode.Doc
	for _, k := range kinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

// Entry is what is known of a defect beside how it is named.
type Entry struct {
	mode.Doc
	Rows    []string // of docs/defects.md
	On      On       // where it can be seen
	Reports []string // where it was seen in public
	Unseen  string   // why no client can see it within minutes; empty: one can
}

// Catalogue is all that is known of the defects that Apply knows.
func Catalogue() (all []Entry) {
	for _, k := range kinds() {
		all = append(all, Entry{k.Doc, k.rows, k.on, k.reports, k.unseen})
	}
	return all
}

// wantBucket is nil if the states of the algorithm are buckets, for defects
// that meddle with one.
func wantBucket(name string, a limiter.Algorithm) error {
	if _, ok := a.Fresh(0).(*limiter.Bucket); !ok {
		return fmt.Errorf("%s: is a defect of token buckets, and none decides for this %s limit", name, a.Promise().Contract)
	}
	return nil
}
