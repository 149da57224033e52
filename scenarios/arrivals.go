package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ratehammer/ratehammer/scenarios/document"
)

// Arrival is requests of a phase with a moment of their own. A list of them is any
// timeline at all: one that was recorded, or what is left of it when all that does
// not matter is taken away.
type Arrival struct {
	At    time.Duration // since the phase begins
	Key   string        // name of the client within the phase; empty: its first one
	Count int           // requests that leave together; 0: one
	Cost  int64         // tokens that each of them asks for; 0: as many as the phase says
}

// size is how many requests it is.
func (a Arrival) size() int { return max(a.Count, 1) }

// firstName is the client of an arrival that names none. Phases that name no
// clients call theirs 1, 2, 3.
const firstName = "1"

// Name is the client's.
func (a Arrival) Name() string { return cmp.Or(a.Key, firstName) }

// Named are the clients that arrivals name, in the order in which they come up.
func Named(arrivals []Arrival) (names []string) {
	seen := map[string]bool{}
	for _, a := range arrivals {
		if n := a.Name(); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

// NameOf is the name of a client within its phase, from the label of an invented key.
func NameOf(label string) string {
	name := label[strings.LastIndexByte(label, '/')+1:]
	if name == firstName {
		return ""
	}
	return name
}

// names are those of a phase's clients, where earlier has those of the phases
// before it.
func (p *Phase) names(earlier map[string][]string) []string {
	switch {
	case p.Keys.Of != "":
		return earlier[p.Keys.Of]
	case len(p.Arrivals) > 0:
		return Named(p.Arrivals)
	}
	names := make([]string, p.Keys.Fresh)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}

// strangers says which of a phase's arrivals are on clients that the phase does not
// have, or nil. It notes the phase's own in earlier.
func (p *Phase) strangers(earlier map[string][]string) error {
	own := p.names(earlier)
	earlier[p.Name] = own
	if p.Keys.Of == "" {
		return nil
	}
	for _, n := range Named(p.Arrivals) {
		if !slices.Contains(own, n) {
			return fmt.Errorf("an arrival on key %q, and phase %q has none of that name: %s", n, p.Keys.Of, strings.Join(own, ", "))
		}
	}
	return nil
}

// mostNamed is how long the name of a client may be, in bytes.
const mostNamed = 100

// checkArrivals says what is wrong with them, or nil.
func (p *Phase) checkArrivals() error {
	if len(p.Arrivals) == 0 {
		return nil
	}
	switch n := len(Named(p.Arrivals)); {
	case p.Count != 0 || p.Every != 0:
		return errors.New("count and every are of other phases: each arrival has a count of its own")
	case p.Keys.Of == "" && p.Keys.Fresh != n:
		return fmt.Errorf("its arrivals are on %d keys: leave keys out, or name the phase whose keys they are", n)
	case p.Vary.Part == PartConnection && slices.ContainsFunc(p.Arrivals, func(a Arrival) bool { return a.size() > 1 }):
		return errors.New("vary: connections: takes some in turn, and requests that leave together take one each")
	}
	for _, a := range p.Arrivals {
		switch {
		case a.At < 0 || a.Count < 0 || a.Cost < 0:
			return fmt.Errorf("an arrival at %v, of %d requests that cost %d: give numbers above zero", a.At, a.Count, a.Cost)
		case len(a.Key) > mostNamed || strings.ContainsFunc(a.Key, unicode.IsControl):
			return fmt.Errorf("the key %q of an arrival: give a text of at most %d bytes", a.Key, mostNamed)
		}
	}
	return nil
}

// dearest is the most that a request of the phase asks for.
func (p *Phase) dearest() int64 {
	most := p.Cost
	for _, a := range p.Arrivals {
		most = max(most, a.Cost)
	}
	return most
}

func readArrivals(v document.Value) (arrivals []Arrival) {
	for _, item := range v.List() {
		var a Arrival
		timed, before := false, v.Problems()
		item.Fields(map[string]func(document.Value){
			"at":    func(v document.Value) { a.At, timed = v.Duration(), true },
			"key":   func(v document.Value) { a.Key = v.Text() },
			"count": func(v document.Value) { a.Count = int(v.Int(1, 1e6)) },
			"cost":  func(v document.Value) { a.Cost = v.Int(1, 1e9) },
		})
		if !timed && v.Problems() == before {
			item.Fail("write for example {at: 12ms, key: a, count: 11}", "an arrival without a moment")
		}
		if a.Key == firstName {
			a.Key = ""
		}
		if a.Count == 1 {
			a.Count = 0
		}
		arrivals = append(arrivals, a)
	}
	if len(arrivals) == 0 {
		v.Fail("write for example arrivals: [{at: 0s}, {at: 12ms, count: 11}]", "no arrival is given")
	}
	return arrivals
}

// flow is the arrivals, one a line.
func flowOf(arrivals []Arrival) string {
	var lines []string
	for _, a := range arrivals {
		text := fmt.Sprintf("{at: %v", a.At)
		if n := a.Name(); n != firstName {
			text += ", key: " + strconv.Quote(n)
		}
		if a.size() > 1 {
			text += fmt.Sprintf(", count: %d", a.Count)
		}
		if a.Cost > 0 {
			text += fmt.Sprintf(", cost: %d", a.Cost)
		}
		lines = append(lines, text+"}")
	}
	return "[\n      " + strings.Join(lines, ",\n      ") + "]"
}

// byName are arrivals by the client, each one's in the order of time.
func byName(arrivals []Arrival) map[string][]Arrival {
	all := map[string][]Arrival{}
	for _, a := range arrivals {
		all[a.Name()] = append(all[a.Name()], a)
	}
	for _, each := range all {
		slices.SortStableFunc(each, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	}
	return all
}

// arrivals plans those of one client and gives the moment of the last shot. One that
// leaves by itself is late when the next is due, as one of a pace is.
func (p *planner) arrivals(phase int32, ph *Phase, own []Arrival, key int32, at int64) int64 {
	last := at
	t := strand{like: Shot{Phase: phase, Key: key}}
	for i, a := range own {
		moment := at + int64(a.At)
		if n := len(t.groups); n > 0 && moment < t.groups[n-1].at { // the one before takes longer: a strand's moments do not fall
			p.add(t, ph)
			t.groups, t.n = nil, 0
		}
		cost := cmp.Or(a.Cost, max(1, ph.Cost))
		if a.size() > 1 {
			t.groups = p.volley(t.groups, moment, a.size(), cost)
		} else {
			late := latestSingle
			if i+1 < len(own) {
				late = min(max(own[i+1].At-a.At, time.Millisecond), late)
			}
			t.groups = append(t.groups, group{at: moment, n: 1, late: late, cost: cost})
		}
		t.n += a.size()
		last = max(last, t.groups[len(t.groups)-1].at)
	}
	if t.n > 0 {
		p.add(t, ph)
	}
	return last
}

// latestSingle is how late a request that leaves by itself may be sent.
const latestSingle = 100 * time.Millisecond
