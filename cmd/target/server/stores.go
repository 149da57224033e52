package server

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// storeKind is one sort of store that can be named.
type storeKind struct {
	mode.Doc
	build func(r *mode.Reader) (opener, error)
}

// opener opens a store.
type opener struct {
	local bool   // its states are in this process
	file  string // and in this file as well; empty: in none
	open  func(opening) (store.Store, error)
}

// opening is what a store is opened for.
type opening struct {
	limits   []store.Limit
	fallback []store.Limit // what a store in this process would keep to in its place
	clock    *clock.Clock
	link     *store.Link
	tables   *store.Tables // of a local store
	apart    string        // tells states of this node from others in one place; empty: they are the same
}

func storeKinds() []storeKind {
	return []storeKind{memoryKind(), redisKind()}
}

// Stores describes where the states of keys can be.
func Stores() []mode.Doc {
	var docs []mode.Doc
	for _, k := range storeKinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

func newOpener(m mode.Mode) (opener, error) {
	m = orMemory(m)
	for _, k := range storeKinds() {
		if k.Name == m.Name {
			return k.build(m.Read(k.Example))
		}
	}
	return opener{}, mode.Unknown("store", m.Name, Stores())
}

// CheckStore says what is wrong with the settings of a store, or nil. Whether it
// can be reached is not tried.
func CheckStore(m mode.Mode) error {
	_, err := newOpener(m)
	return err
}

func memoryKind() storeKind {
	return storeKind{
		Doc: mode.Doc{
			Name:     "memory",
			Settings: "persist=FILE,timeout=DURATION,down=none|open|closed|local",
			Example:  "memory",
			Text:     "In this process; a key that is as if it had never been used is forgotten. With persist what was answered is in a file, and is there again after a restart or a kill. While it is cut off or slower than timeout (POST /store/cut), down says what is done, as with redis.",
		},
		build: func(r *mode.Reader) (opener, error) {
			file := r.TextOr("persist", "")
			guarded := r.Has("timeout") || r.Has("down")
			f := readFailure(r)
			if err := r.Done(); err != nil {
				return opener{}, err
			}
			open := func(o opening) (store.Store, error) {
				s, err := o.tables.Open(o.limits, o.clock)
				if s == nil {
					return nil, err
				}
				if !guarded {
					return o.link.Before(s, 0), err
				}
				s, failed := f.guard(o.link.Before(s, f.timeout), o)
				if failed != nil {
					return nil, failed
				}
				return s, err
			}
			return opener{local: true, file: file, open: open}, nil
		},
	}
}

// failure is what is done about a store that does not answer.
type failure struct {
	timeout time.Duration
	policy  store.Policy
}

func readFailure(r *mode.Reader) (f failure) {
	f.timeout = r.DurationOr("timeout", time.Second)
	word := r.Choice("down", "none", "none", "open", "closed", "local")
	r.Require(f.timeout >= time.Millisecond && f.timeout <= time.Minute, "timeout", "give 1ms to 1m")
	f.policy, _ = store.ParsePolicy(word) // which Choice has checked
	return f
}

func (f failure) guard(s store.Store, o opening) (store.Store, error) {
	var local store.Store
	if f.policy == store.Local {
		local = store.NewMemory(o.fallback, o.clock)
	}
	return store.Guard(s, f.policy, f.timeout, local, o.clock)
}
