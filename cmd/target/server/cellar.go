package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// cellar keeps the states of stores in this process, by their file or, if they are
// in none, by the mode that names the store: those of one node, or those that all
// nodes share. A nil cellar is empty.
type cellar struct {
	suffix string // of files, so that no two cellars write to one
	log    *slog.Logger

	mu     sync.Mutex
	tables map[string]*store.Tables
}

func newCellar(suffix string, log *slog.Logger) *cellar {
	return &cellar{suffix: suffix, log: log, tables: map[string]*store.Tables{}}
}

// get gives the tables of a store, whose file, if it has one, is read when it is
// asked for first.
func (c *cellar) get(name, file string) (*store.Tables, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = cmp.Or(file, name)
	if t := c.tables[name]; t != nil {
		return t, nil
	}
	t := &store.Tables{}
	if file != "" {
		path := file + c.suffix
		var torn bool
		var err error
		if t, torn, err = store.OpenTables(path); err != nil {
			return nil, err
		}
		if torn {
			c.log.Warn("the last line of the states was torn and is left out: it was not answered", "file", path)
		}
	}
	c.tables[name] = t
	return t, nil
}

// keep closes all tables but these.
func (c *cellar) keep(these map[*store.Tables]bool) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for name, t := range c.tables {
		if !these[t] {
			errs = append(errs, t.Close())
			delete(c.tables, name)
		}
	}
	return errors.Join(errs...)
}

func (c *cellar) close() error {
	if err := c.keep(nil); err != nil {
		return fmt.Errorf("closing the stores: %w", err)
	}
	return nil
}
