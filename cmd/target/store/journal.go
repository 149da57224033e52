package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"sync"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// journal is the file that states are written through to: a line for every
// decision, handed to the system before the decision is answered. So what was
// answered outlives the process, however that ends. It does not outlive the
// machine: nothing waits until it is on the disk.
//
// When it is opened, and when it has become long, what is still worth keeping is
// written anew and the lines are gone.
type journal struct {
	path string
	lock *os.File // of the path, for this process; nil: given back

	mu     sync.Mutex
	file   *os.File // nil: not yet, or closed
	next   *os.File // that takes its place soon; nil: none
	broken error    // why nothing can be written any more
	line   bytes.Buffer
	lines  int                                   // written since the file was
	bound  int                                   // of them, with which it is worth writing it anew
	old    map[string]map[string]json.RawMessage // what the file had: states by key, by limit; until it is rewritten
}

// leastLines is what a file may grow by, about 100 bytes each.
const leastLines = 1 << 19

// entry is a line of the file: a limit and its number in what follows, or what has
// become of the states that one decision was about.
type entry struct {
	Number int      `json:"number"`
	Limit  *string  `json:"limit,omitempty"` // its name and terms
	States []stored `json:"states,omitempty"`
}

// stored is one state.
type stored struct {
	Limit int             `json:"limit"` // number
	Key   []byte          `json:"key"`
	State json.RawMessage `json:"state"`
}

// OpenTables gives tables whose states are in a file as well, and takes over what
// is there of limits of the same name and terms. Its end may be torn: then the
// last line is left out, and torn is true. The error says what is wrong with the
// file otherwise, or that another server has it: two would write over each other's
// states. Until it is closed nobody else can open it.
func OpenTables(path string) (t *Tables, torn bool, err error) {
	j := &journal{path: path}
	if j.lock, err = lock(path); err != nil {
		return nil, false, fmt.Errorf("keeping states in %s: %w", path, err)
	}
	if torn, err = j.read(); err != nil {
		return nil, false, errors.Join(fmt.Errorf("reading the states in %s: %w", path, err), j.close())
	}
	return &Tables{file: j}, torn, nil
}

// read reads the file, if there is one.
func (j *journal) read() (torn bool, err error) {
	j.old = map[string]map[string]json.RawMessage{}
	f, err := os.Open(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	names := map[int]string{}
	lines := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return len(line) > 0, nil // a line that was not written to its end
		}
		if err != nil {
			return false, err
		}
		if err := j.take(line, names); err != nil {
			if _, end := lines.Peek(1); errors.Is(end, io.EOF) {
				return true, nil
			}
			return false, fmt.Errorf("line %d: %w; move the file away to start without it", n, err)
		}
	}
}

func (j *journal) take(line []byte, names map[int]string) error {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Limit != nil {
		names[e.Number] = *e.Limit
		j.old[*e.Limit] = map[string]json.RawMessage{}
	}
	for _, s := range e.States {
		if name, ok := names[s.Limit]; ok { // else it was not served any more
			j.old[name][string(s.Key)] = s.State
		}
	}
	return nil
}

// title is what the file calls a limit.
func title(l Limit) string { return l.Name + " " + l.Terms }

// fill gives an empty cell what the file has of its limit.
func (j *journal) fill(c *cell, now *clock.Clock) error {
	if j == nil || !c.keeps {
		return nil
	}
	if err := canKeep(c.limit.Algorithm); err != nil {
		return fmt.Errorf("limit %s: %w", c.limit.Name, err)
	}
	moment := c.limit.Now(now.Read())
	for key, text := range j.old[title(c.limit)] {
		state, err := j.state(c.limit, text, moment)
		if err != nil {
			return err
		}
		if c.limit.Algorithm.Forgettable(state, moment) {
			continue
		}
		c.table.Update(key, func(limiter.State, bool) (limiter.State, int64, bool) { return state, moment, true })
	}
	return nil
}

// state is one that was in the file.
func (j *journal) state(l Limit, text json.RawMessage, moment int64) (limiter.State, error) {
	s := l.Algorithm.Fresh(moment)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("a state of limit %s in %s: %w", l.Name, j.path, err)
	}
	return s, nil
}

// ready is the error that a limit would meet whose states are to be in the file,
// which stays as it is.
func (j *journal) ready(c *cell) error {
	if j == nil || !c.keeps {
		return nil
	}
	if err := canKeep(c.limit.Algorithm); err != nil {
		return fmt.Errorf("limit %s: %w", c.limit.Name, err)
	}
	for _, text := range j.old[title(c.limit)] {
		if _, err := j.state(c.limit, text, 0); err != nil {
			return err
		}
	}
	return nil
}

// writable is the error of a file that could not be written anew.
func (j *journal) writable() error {
	if j == nil {
		return nil
	}
	f, err := os.OpenFile(j.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("writing the states to %s: %w", j.path, err)
	}
	return nil
}

// canKeep is the error of an algorithm whose states do not come back from a file
// as they were.
func canKeep(a limiter.Algorithm) error {
	const some = 1_700_000_000_000_000_000 // of this age
	was := a.Fresh(some)
	for range 3 {
		if _, err := a.Decide(was, some, 1); err != nil {
			return err
		}
	}
	text, err := json.Marshal(was)
	is := a.Fresh(0)
	if err == nil {
		err = json.Unmarshal(text, is)
	}
	if err != nil || !reflect.DeepEqual(was, is) {
		return fmt.Errorf("its states cannot be kept in a file; give a store without persist")
	}
	return nil
}

// rewrite replaces the file by one of the states that there are. Decisions go on
// meanwhile, and are written to both.
func (j *journal) rewrite(cells []*cell) error {
	if j == nil {
		return nil
	}
	err := j.begin(cells)
	for _, c := range cells {
		if err == nil && c.keeps {
			err = j.copy(c)
		}
	}
	if err = j.finish(err); err != nil {
		return fmt.Errorf("writing the states to %s: %w", j.path, err)
	}
	return nil
}

// begin makes the new file beside the old one, and names the limits in it.
func (j *journal) begin(cells []*cell) error {
	f, err := os.OpenFile(j.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600) // it has raw keys
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	for _, c := range cells {
		if c.keeps {
			name := title(c.limit)
			err = errors.Join(err, out.Encode(entry{Number: c.order, Limit: &name}))
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.next, j.lines = f, 0
	return err
}

// copy writes the states of a limit to the new file, each part of the table while
// it is locked: what is decided afterwards comes behind it.
func (j *journal) copy(c *cell) (err error) {
	var part bytes.Buffer
	out := json.NewEncoder(&part)
	states := 0
	c.table.eachShard(func(g *guardedShard[limiter.State]) {
		part.Reset()
		g.each(func(key string, s limiter.State) {
			text, cannot := json.Marshal(s)
			err = errors.Join(err, cannot, out.Encode(entry{States: []stored{{c.order, []byte(key), text}}}))
			states++
		})
		if part.Len() == 0 {
			return
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		_, cannot := j.next.Write(part.Bytes())
		err = errors.Join(err, cannot)
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bound = max(leastLines, 4*states)
	return err
}

// finish puts the new file in the place of the old one, unless there was an error.
func (j *journal) finish(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	next := j.next
	j.next = nil
	switch {
	case next == nil:
		return err
	case err != nil:
		j.broken = err // new limits are not known in the old file
		return errors.Join(err, next.Close())
	}
	if j.file != nil { // Windows renames nothing over a file that is open
		j.file.Close()
	}
	j.file = next
	// Open all the time, it can be written to whatever it is called.
	if err := os.Rename(j.path+".new", j.path); err != nil {
		j.broken = err
		return err
	}
	j.broken, j.old = nil, nil
	return nil
}

// write adds what has become of the states of a request, while its keys are
// locked, so that the lines of a key are in the order of its decisions.
func (j *journal) write(cells []*cell, asks []Ask, c *call) error {
	var e entry
	for i, a := range asks {
		if cell := cells[a.Limit]; cell.keeps {
			text, err := json.Marshal(c.parts[i].State)
			if err != nil {
				return fmt.Errorf("writing a state: %w", err)
			}
			e.States = append(e.States, stored{cell.order, []byte(a.Key), text})
		}
	}
	if len(e.States) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.line.Reset()
	if err := json.NewEncoder(&j.line).Encode(e); err != nil {
		return fmt.Errorf("writing a state: %w", err)
	}
	return j.append(j.line.Bytes())
}

// append writes a line. After part of one nothing is written any more: what came
// behind it could not be read.
func (j *journal) append(line []byte) error {
	switch {
	case j.broken != nil:
		return j.broken
	case j.file == nil:
		return fmt.Errorf("writing the states to %s: %w", j.path, os.ErrClosed)
	}
	_, err := j.file.Write(line)
	if j.next != nil && err == nil {
		_, err = j.next.Write(line)
	}
	if err != nil {
		j.broken = fmt.Errorf("writing the states to %s: %w", j.path, err)
	}
	j.lines++
	return j.broken
}

// long reports whether the file has so many lines that it is worth writing it
// anew.
func (j *journal) long() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next == nil && j.lines > j.bound && j.broken == nil
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	if j.lock != nil { // last: whoever has it next reads what was written
		err = errors.Join(err, dropLock(j.lock))
		j.lock = nil
	}
	return err
}
