package score

import (
	"context"
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
	sim *server.Sim
	gun *probes.Gun
	err error // that made a request impossible
}

func (s *site) Arrive(r virtual.Request, reply func(int64, virtual.Answer)) {
	request, err := s.gun.Incoming(context.Background(), r.Ask, r.Conn)
	if err != nil {
		s.err = err
		reply(r.At, virtual.Answer{Status: http.StatusInternalServerError})
		return
	}
	s.sim.Arrive(time.Duration(r.At), request, func(at time.Duration, res *http.Response) {
		var h results.Hit
		s.gun.Read(&h, res)
		reply(int64(at), virtual.Answer{Status: res.StatusCode, RetryAfter: h.RetryAfter, Date: h.Date, Headers: h.Headers})
	})
}

func (s *site) Next() (int64, bool) {
	at, ok := s.sim.Next()
	return int64(at), ok
}

func (s *site) Advance(to int64) { s.sim.Advance(time.Duration(to)) }
