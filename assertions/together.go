package assertions

// together are several models of a key that are heard as one. What holds under
// several theories is heard under the first of them, and the others know its last
// answer, see echo.
type together struct {
	models []model
	last   room // of the latest end
}

func (g *together) start(b *brief) {
	for _, m := range g.models {
		m.start(b)
	}
}

func (g *together) end(b *brief) room {
	g.last = room{}
	for _, m := range g.models {
		g.last = g.last.surer(m.end(b))
	}
	return g.last
}

func (g *together) forget(t int64) {
	for _, m := range g.models {
		m.forget(t)
	}
}

func (g *together) unknown(t int64) {
	for _, m := range g.models {
		m.unknown(t)
	}
}

func (g *together) trim(oldest int64) {
	for _, m := range g.models {
		m.trim(oldest)
	}
}

func (g *together) heaviest() (h heavy) {
	for _, m := range g.models {
		h = h.heavier(m.heaviest())
	}
	return h
}

// echo is a model that another theory of the limit has heard already, since it is
// asked first.
type echo struct{ *together }

func (echo) start(*brief)      {}
func (e echo) end(*brief) room { return e.last }
func (echo) forget(int64)      {}
func (echo) unknown(int64)     {}
func (echo) trim(int64)        {}
