package server

import (
	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// storeKind is one sort of store that can be named.
type storeKind struct {
	mode.Doc
	build func(r *mode.Reader) (opener, error)
}

// opener opens a store for these limits. fallback are those that a store in this
// process would keep to in its place.
type opener func(limits, fallback []store.Limit, c *clock.Clock) (store.Store, error)

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
	return nil, mode.Unknown("store", m.Name, Stores())
}

// CheckStore says what is wrong with the settings of a store, or nil. Whether it
// can be reached is not tried.
func CheckStore(m mode.Mode) error {
	_, err := newOpener(m)
	return err
}

func memoryKind() storeKind {
	return storeKind{
		Doc: mode.Doc{Name: "memory", Example: "memory", Text: "In this process; a key that is as if it had never been used is forgotten."},
		build: func(r *mode.Reader) (opener, error) {
			open := func(limits, _ []store.Limit, c *clock.Clock) (store.Store, error) {
				return store.NewMemory(limits, c), nil
			}
			return open, r.Done()
		},
	}
}
