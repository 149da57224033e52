package server

import (
	"net/http"
	"strconv"
)

// handle answers one request of the public side. The request has arrived in
// full before the limiter is asked, so that a client which holds back its last
// byte holds back the decision.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Announce {
		s.fields.policy(w.Header())
	}
	if a := s.front.before(w, r); a != nil {
		s.write(w, a)
		return
	}
	key, ok := keyOf(s.cfg.Key, r)
	if !ok {
		s.write(w, s.answers.noKey)
		return
	}
	cost, ok := costOf(s.cfg.CostHeader, r)
	if !ok {
		s.write(w, s.answers.badCost)
		return
	}
	s.limit(w, r, key, cost)
}

// limit asks the limiter and answers as it says.
func (s *Server) limit(w http.ResponseWriter, r *http.Request, key string, cost int64) {
	d, shed, err := s.local.decide(key, cost, s.front)
	if err != nil {
		s.write(w, s.answers.badCost)
		return
	}
	if s.cfg.Announce {
		s.fields.left(w.Header(), d.Remaining)
	}
	switch {
	case !d.Admitted:
		w.Header().Set("Retry-After", strconv.FormatInt(s.local.parts.RetryAfter(d), 10))
		s.write(w, s.answers.limited)
	case shed != nil:
		s.write(w, shed)
	default:
		s.front.work(r.Context())
		s.write(w, s.answers.admitted)
	}
}

// write sends a with the date of the server's own clock, at this moment: the
// one of net/http would be the machine's.
func (s *Server) write(w http.ResponseWriter, a *answer) {
	a.write(w, s.clock.Read().Wall)
}
