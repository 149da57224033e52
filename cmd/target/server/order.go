package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

const (
	maxPending = 1 << 20     // keeps a slip of the keyboard from becoming gigabytes
	maxWork    = time.Minute // a backend that takes longer is a dead one
)

func orderKind() frontKind {
	return frontKind{
		Doc: mode.Doc{
			Name:     "order",
			Settings: "max-body=BYTES,pending=REQUESTS,backend=up|dead,work=DURATION,early=free|counted",
			Example:  "order{max-body=65536,pending=32,backend=up,work=0s,early=free}",
			Text:     "As in front of a slow backend: too large a body is 413, a body that is not JSON 400, then the limit, a dead backend 503, too many pending 429; GET /health and /static/ are never limited. With early=counted what would be 413 or 400 spends as well, and is 429 when nothing is left. The example shows the defaults.",
		},
		exempt: []string{"/health", "/static/"},
		build:  buildOrder,
	}
}

func buildOrder(r *mode.Reader) (front, error) {
	maxBody := r.IntOr("max-body", 64<<10)
	pending := r.IntOr("pending", 32)
	backend := r.Choice("backend", "up", "up", "dead")
	work := r.DurationOr("work", 0)
	counted := r.Choice("early", "free", "free", "counted") == "counted"
	r.Require(maxBody >= 0 && maxBody <= plainMaxBody, "max-body", fmt.Sprintf("give 0 to %d bytes", plainMaxBody))
	r.Require(pending >= 0 && pending <= maxPending, "pending", fmt.Sprintf("give 0 to %d requests", maxPending))
	r.Require(work >= 0 && work <= maxWork, "work", fmt.Sprintf("give 0s to %v", maxWork))
	if err := r.Done(); err != nil {
		return nil, err
	}
	spent := unspent
	if counted {
		spent = "the tokens were spent"
	}
	o := &order{
		counted:  counted,
		maxBody:  maxBody,
		places:   make(chan struct{}, pending),
		dead:     backend == "dead",
		duration: work,
		tooLarge: tooLarge(maxBody, spent),
		broken:   broken(spent),
		notJSON:  dialect.Problem(http.StatusBadRequest, "the body is not JSON; "+spent),
		down:     dialect.Problem(http.StatusServiceUnavailable, "the backend is dead; the tokens were spent"),
		busy: dialect.Busy(http.StatusTooManyRequests, "Too much to do",
			"too many requests of all clients together are pending; the limit of this client is not the cause"),
	}
	// When a place comes free nobody knows: a second is a polite guess.
	o.busy.Wait = time.Second
	return o, nil
}

// order is the order of checks of a server in front of a slow backend. Those
// before the limits spend no token unless they are counted; those behind them
// have spent one.
type order struct {
	counted  bool          // whether the limits are asked about what fails before them
	maxBody  int64         // bytes
	places   chan struct{} // holds one value for each pending request
	dead     bool          // whether the backend is
	duration time.Duration // that the backend takes

	tooLarge, broken, notJSON, down, busy *dialect.Answer
}

// before lets pass what has no body, whatever its method, and a body that is
// one JSON value, whatever its type is said to be.
func (o *order) before(w http.ResponseWriter, r *http.Request) (a *dialect.Answer, counted bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, o.maxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return o.tooLarge, o.counted
	case err != nil:
		return o.broken, o.counted
	case len(body) > 0 && !json.Valid(body):
		return o.notJSON, o.counted
	}
	return nil, false
}

// enter takes one of the places, of which all clients have the same ones.
func (o *order) enter() *dialect.Answer {
	if o.dead {
		return o.down
	}
	select {
	case o.places <- struct{}{}:
		return nil
	default:
		return o.busy
	}
}

// work takes the backend's time, or until the client has gone away.
func (o *order) work(ctx context.Context) {
	defer func() { <-o.places }()
	clock.Sleep(ctx, o.duration)
}

func tooLarge(limit int64, spent string) *dialect.Answer {
	return dialect.Problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes; %s", limit, spent))
}

func broken(spent string) *dialect.Answer {
	return dialect.Problem(http.StatusBadRequest, "the body could not be read to its end; "+spent)
}
