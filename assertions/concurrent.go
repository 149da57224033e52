package assertions

import "time"

// concurrent is the model of a limit on requests that are served at the same
// time. From outside nobody can tell for how long a request was served, so
// nothing proves that too many were; but a refusal was wrong for certain when
// at no moment of its interval so many can have been.
type concurrent struct {
	logLower // of requests that may be being served: until they are done, and a little longer
	limit    int64
}

// serverLag is how long after the last byte of an answer a server may still
// count its request as being served.
const serverLag = time.Second

func newConcurrent(limit, lag int64) *concurrent {
	return &concurrent{logLower{window: lag}, limit}
}

func (c *concurrent) start(x *brief) {
	if x.spends() {
		c.spend(x.from, x.cost)
	} else {
		c.refuse(x.from)
	}
}

func (c *concurrent) end(x *brief) room {
	if x.spends() {
		c.advance(x.to)
		c.serve(max(x.done, x.to), x.cost)
		return room{}
	}
	most := c.refused(x.from, x.to)
	return room{judged: true, wrong: most+x.cost <= c.limit, left: float64(c.limit - most), of: float64(c.limit), since: x.from}
}

// serve tells until when a request may be being served.
func (c *concurrent) serve(done, cost int64) {
	c.gone = append(c.gone, held{done, cost})
	for j := len(c.gone) - 1; j > c.head && c.gone[j-1].at > c.gone[j].at; j-- {
		c.gone[j-1], c.gone[j] = c.gone[j], c.gone[j-1]
	}
}

func (c *concurrent) forget(int64) {}

// unknown: as many as can be may be being served, for as long as we cannot tell.
func (c *concurrent) unknown(t int64) {
	c.spend(t, c.limit)
	c.spent(t, c.limit)
}

func (c *concurrent) heaviest() heavy { return heavy{} }
