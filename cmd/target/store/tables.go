package store

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// ErrMoved says that the states of a limit are elsewhere, since its settings have
// been changed while the request was on its way. Nothing was decided: it has to be
// asked of the limits that are in force now.
var ErrMoved = errors.New("the limits have been changed meanwhile")

// Tables hold the states of the keys of limits in this process. Several stores
// can be opened over the same ones, each with a clock of its own, as of nodes that
// share one store; and states outlive the settings that they were made under.
type Tables struct {
	mu    sync.Mutex
	cells []*cell
	made  int      // cells ever
	file  *journal // nil: what is in memory is nowhere else
	tidy  sync.WaitGroup
}

// cell is the table of one limit.
type cell struct {
	limit   Limit
	decides limiter.Algorithm // in the place of the limit's own; nil: that one
	table   *Table[limiter.State]
	keeps   bool                 // whether states are worth a place on a disk
	order   int                  // of locking, which all stores over one table have to agree on
	next    atomic.Pointer[cell] // where its states have gone; nil: they are here
}

func newCell(l Limit, order int) *cell {
	if l.Now == nil {
		l.Now = clock.Instant.Since1970
	}
	// What is under way is over when the process is.
	_, busy := l.Algorithm.Fresh(0).(*limiter.Busy)
	return &cell{limit: l, table: New(l.Algorithm.Forgettable), keeps: !busy && !l.Volatile && !l.Torn, order: order}
}

// Open gives a store over the tables for these limits, whose names have to differ.
// A limit that there is no table of yet gets an empty one, or what the file has of
// it. c is the clock that this store goes by.
// With a store and an error, the file cannot be written to, nor can the store
// decide.
func (t *Tables) Open(limits []Limit, c *clock.Clock) (Store, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var cells []*cell
	for _, l := range limits {
		at := t.find(l)
		if at == nil {
			at = newCell(l, t.made)
			t.made++
			if err := t.file.fill(at, c); err != nil {
				return nil, err
			}
			t.cells = append(t.cells, at)
		}
		cells = append(cells, at)
	}
	m := newMemory(cells, limits, c, t.file)
	m.written = t.shorten
	return m, t.file.rewrite(t.cells)
}

// Ready says why Open would fail for these limits, and changes nothing. It does
// not know whether there is room on the disk.
func (t *Tables) Ready(limits []Limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, l := range limits {
		errs = append(errs, t.file.ready(newCell(l, 0)))
	}
	return errors.Join(append(errs, t.file.writable())...)
}

// shorten writes a long file anew, beside what else goes on.
func (t *Tables) shorten() {
	if !t.file.long() || !t.mu.TryLock() {
		return
	}
	t.tidy.Go(func() {
		defer t.mu.Unlock()
		_ = t.file.rewrite(t.cells) // if it fails the long one is still there
	})
}

// find is the cell of a limit that has not changed, or nil.
func (t *Tables) find(l Limit) *cell {
	i := slices.IndexFunc(t.cells, func(c *cell) bool { return c.limit.Name == l.Name && c.limit.Terms == l.Terms })
	if i < 0 {
		return nil
	}
	return t.cells[i]
}

// Change makes the tables those of other limits. One of the same name and terms
// keeps its states; of one whose terms have changed they are carried over, all of
// them, as limiter.Carry has it; and a limit that is not among them is forgotten.
// Stores that were opened before answer ErrMoved where a limit has changed, so
// that no request is decided by old terms once a new store can be opened. now is
// the clock that carries over.
func (t *Tables) Change(limits []Limit, now *clock.Clock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var cells []*cell
	for _, l := range limits {
		i := slices.IndexFunc(t.cells, func(c *cell) bool { return c.limit.Name == l.Name })
		if i < 0 {
			continue // Open makes it
		}
		cells = append(cells, t.changed(t.cells[i], l, now))
	}
	t.cells = cells
}

// changed is the cell under other terms, or itself.
func (t *Tables) changed(c *cell, l Limit, now *clock.Clock) *cell {
	_, meddles := l.Algorithm.(limiter.Successor)
	if c.limit.Terms == l.Terms && !meddles {
		return c
	}
	from := c.limit.Algorithm
	if c.decides != nil {
		from = c.decides
	}
	use, carry := limiter.Succeed(from, l.Algorithm)
	next := newCell(l, t.made)
	t.made++
	if use != nil {
		next.decides = use
		next.table = New(use.Forgettable)
	}
	c.next.Store(next)
	c.table.moveTo(next.table, func(s limiter.State) (limiter.State, bool) {
		return carry(s, next.limit.Now(now.Read()))
	})
	return next
}

// Len is how many keys there is a state of.
func (t *Tables) Len() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.cells {
		n += c.table.Len()
	}
	return n
}

// Close closes the file, if there is one.
func (t *Tables) Close() error {
	t.tidy.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.file.close()
}
