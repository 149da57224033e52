package server

import (
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// room is where requests wait that a limit holds back. It is bounded, since each
// that waits keeps its connection and its memory.
type room struct {
	places        chan struct{} // holds one value for each request that waits
	full, tooLong *dialect.Answer
}

func newRoom(places int) *room {
	r := &room{
		places:  make(chan struct{}, places),
		full:    dialect.Busy(http.StatusServiceUnavailable, "Too many are waiting", "as many requests are held back already as this server has room for; the tokens were spent"),
		tooLong: dialect.Busy(http.StatusServiceUnavailable, "Too long to wait", "this request would have to be held back longer than this server holds any; the tokens were spent"),
	}
	r.full.Wait = time.Second // when one leaves nobody knows: a polite guess
	return r
}

// enter takes a place for a request that has to wait for d, which none does
// where d is 0. It gives the answer to one that gets no place, or nil.
func (r *room) enter(d time.Duration) *dialect.Answer {
	switch {
	case d == 0:
		return nil
	case d > maxDelay:
		return r.tooLong
	}
	select {
	case r.places <- struct{}{}:
		return nil
	default:
		return r.full
	}
}

// leave gives back what enter has taken for d.
func (r *room) leave(d time.Duration) {
	if d > 0 {
		<-r.places
	}
}
