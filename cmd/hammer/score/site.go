package score

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
)

// site is a reference server in virtual time, asked with the requests that the
// real client would send, and read as it reads answers.
type site struct {
	sim   *server.Sim
	nodes int // that are asked in turn; 0: 1
	turn  int
	gun   *probes.Gun
	err   error // that made a request impossible, or a deed

	deeds []string // that are still to come, of the admin side
	every int64    // nanoseconds from one to the next
	due   int64    // the next one's moment
}

func (s *site) Arrive(r virtual.Request, reply func(int64, virtual.Answer)) {
	request, err := s.gun.Incoming(context.Background(), r.Ask, r.Conn)
	if err != nil {
		s.err = err
		reply(r.At, virtual.Answer{Status: http.StatusInternalServerError})
		return
	}
	s.turn++
	s.sim.ArriveAt(1+s.turn%max(s.nodes, 1), time.Duration(r.At), request, func(at time.Duration, res *http.Response) {
		var h results.Hit
		s.gun.Read(&h, res)
		reply(int64(at), virtual.Answer{Status: res.StatusCode, RetryAfter: h.RetryAfter, Date: h.Date, Headers: h.Headers})
	})
}

func (s *site) Next() (int64, bool) {
	at, ok := s.sim.Next()
	if len(s.deeds) > 0 && (!ok || s.due < int64(at)) {
		return s.due, true
	}
	return int64(at), ok
}

func (s *site) Advance(to int64) {
	for len(s.deeds) > 0 && s.due <= to {
		res := s.sim.Admin(time.Duration(s.due), http.MethodPost, s.deeds[0], "")
		if res == nil || res.StatusCode != http.StatusOK {
			s.err = fmt.Errorf("POST %s did not go well: %v", s.deeds[0], res)
		}
		s.deeds, s.due = s.deeds[1:], s.due+s.every
	}
	s.sim.Advance(time.Duration(to))
}
