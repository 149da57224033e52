package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

const (
	maxPending = 1 << 20     // keeps a slip of the keyboard from becoming gigabytes
	maxWork    = time.Minute // well below requestTimeout, at which net/http takes the client for gone
)

func orderKind() frontKind {
	return frontKind{
		Doc: mode.Doc{
			Name:     "order",
			Settings: "max-body=BYTES,pending=REQUESTS,backend=up|dead,work=DURATION",
			Example:  "order{max-body=65536,pending=32,backend=up,work=0s}",
			Text:     "As in front of a slow backend: too large a body is 413, a body that is not JSON 400, then the limit, a dead backend 503, too many pending 429; GET /health and /static/ are never limited. The example shows the defaults.",
		},
		build: buildOrder,
	}
}

func buildOrder(r *mode.Reader) (front, error) {
	maxBody := r.IntOr("max-body", 64<<10)
	pending := r.IntOr("pending", 32)
	backend := r.Choice("backend", "up", "up", "dead")
	work := r.DurationOr("work", 0)
	r.Require(maxBody >= 0 && maxBody <= plainMaxBody, "max-body", fmt.Sprintf("give 0 to %d bytes", plainMaxBody))
	r.Require(pending >= 0 && pending <= maxPending, "pending", fmt.Sprintf("give 0 to %d requests", maxPending))
	r.Require(work >= 0 && work <= maxWork, "work", fmt.Sprintf("give 0s to %v", maxWork))
	if err := r.Done(); err != nil {
		return nil, err
	}
	o := &order{
		maxBody:   maxBody,
		places:    make(chan struct{}, pending),
		dead:      backend == "dead",
		duration:  work,
		unlimited: ok(),
		tooLarge:  tooLarge(maxBody),
		broken:    broken(),
		notJSON:   problem(http.StatusBadRequest, noSpecialType, "", "the body is not JSON; nothing was spent"),
		down:      problem(http.StatusServiceUnavailable, noSpecialType, "", "the backend is down"),
		busy: problem(http.StatusTooManyRequests, reducedCapacity, "Too much to do",
			"too many requests of all clients together are pending; the limit of this client is not the cause"),
	}
	// When a place comes free nobody knows: a second is a polite guess.
	o.busy.retryAfter = "1"
	return o, nil
}

// order is the order of checks of a server in front of a slow backend. Those
// before the limit spend no token; those behind it have spent one.
type order struct {
	maxBody  int64         // bytes
	places   chan struct{} // holds one value for each pending request
	dead     bool          // whether the backend is
	duration time.Duration // that the backend takes

	unlimited, tooLarge, broken, notJSON, down, busy *answer
}

// before lets pass what has no body, whatever its method, and a body that is
// one JSON value, whatever its type is said to be.
func (o *order) before(w http.ResponseWriter, r *http.Request) *answer {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, o.maxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return o.tooLarge
	case err != nil:
		return o.broken
	case len(body) > 0 && !json.Valid(body):
		return o.notJSON
	case isUnlimited(r):
		return o.unlimited
	}
	return nil
}

// isUnlimited looks at the path as a file server would: /static/../play is the
// page /play, and not a way around the limit.
func isUnlimited(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	p := path.Clean("/" + r.URL.Path)
	return p == "/health" || strings.HasPrefix(p, "/static/")
}

// enter takes one of the places, of which all clients have the same ones.
func (o *order) enter() *answer {
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
	if o.duration == 0 {
		return
	}
	t := time.NewTimer(o.duration)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func tooLarge(limit int64) *answer {
	return problem(http.StatusRequestEntityTooLarge, noSpecialType, "",
		fmt.Sprintf("the body is larger than %d bytes; nothing was spent", limit))
}

func broken() *answer {
	return problem(http.StatusBadRequest, noSpecialType, "", "the body could not be read to its end; nothing was spent")
}
