package assertions

import "sort"

// staircase finds, over all windows from one request's start a to another's end
// c, the one in which most was admitted beyond what refills in it:
//
//	load(a, c) = cost admitted with Sent >= a and First <= c, minus r(c-a)
//
// A request lies wholly inside such a window only if its decision does, so a
// bucket of b tokens keeps load <= b whatever the delays were. Other windows
// need no look: shrinking one to the nearest start and end never lowers it.
//
// Write V(a) = r*a + cost of the requests with Sent >= a that have ended. An
// ending request adds its cost to V at every a up to its own start. If a' < a
// and V(a') >= V(a), then a is beaten for good, because every later gain of a
// is also one of a'. What remains is a strictly rising staircase of starts
// whose last step is the maximum, and a request's end changes one gap in it:
// the one behind the step that it belongs to. Steps without a request in
// flight can never overtake the next and go; so memory is one step for each
// request in flight, and one.
type staircase struct {
	tempo
	steps []step
	now   int64 // ticks
	level int64 // V(last step) - r*now, in 1/den token
	load  int64 // the largest load seen, in 1/den token
	from  int64 // its window, in ticks
	to    int64
	any   bool // whether any load was seen
}

// step is a start of a window that may yet be the heaviest.
type step struct {
	at   int64 // ticks
	gap  int64 // V(next step) - V(this one), > 0; 0 for the last
	open int   // requests in flight that started at or after at, and before the next step
}

func (s *staircase) advance(t int64) {
	s.level = max(s.level-s.gain(t-s.now), -levelLimit)
	s.now = t
}

// start tells of a request that may have been decided from t on.
func (s *staircase) start(t int64) {
	s.advance(t)
	last := len(s.steps) - 1
	switch {
	case last < 0:
		s.steps = append(s.steps, step{at: t})
		s.level = 0
	case s.level < 0:
		s.steps[last].gap = -s.level
		s.steps = append(s.steps, step{at: t})
		s.level = 0
		if s.steps[last].open == 0 {
			s.remove(last)
		}
	}
	s.steps[len(s.steps)-1].open++
}

// end tells that the request that started at sent was decided by t, and how
// much it was admitted for; cost is 0 when it was not.
func (s *staircase) end(sent, t, cost int64) {
	s.advance(t)
	g := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].at > sent }) - 1
	if g < 0 {
		return // it started before forget
	}
	if cost > 0 {
		s.add(g, s.weigh(cost))
		last := s.steps[len(s.steps)-1]
		if !s.any || s.level > s.load {
			s.load, s.from, s.to, s.any = s.level, last.at, t, true
		}
	}
	s.steps[g].open--
	if s.steps[g].open == 0 && g < len(s.steps)-1 {
		s.remove(g)
	}
}

func (p tempo) weigh(cost int64) int64 {
	if cost > levelLimit/p.den {
		return levelLimit
	}
	return cost * p.den
}

// add raises V by w at every step up to g and takes out those that it beats.
func (s *staircase) add(g int, w int64) {
	next := g + 1
	for next < len(s.steps) && s.steps[g].gap <= w {
		w -= s.steps[g].gap
		s.steps[g].gap = s.steps[next].gap
		s.steps[g].open += s.steps[next].open
		next++
	}
	s.steps = append(s.steps[:g+1], s.steps[next:]...)
	if g == len(s.steps)-1 {
		s.level = min(s.level+w, levelLimit)
		return
	}
	s.steps[g].gap -= w
}

// remove takes out a step that is not the last.
func (s *staircase) remove(g int) {
	if g > 0 {
		s.steps[g-1].gap = min(s.steps[g-1].gap+s.steps[g].gap, levelLimit)
	}
	s.steps = append(s.steps[:g], s.steps[g+1:]...)
}

// forget makes every window begin anew: requests that are in flight count in none.
func (s *staircase) forget() { s.steps, s.level = s.steps[:0], 0 }
