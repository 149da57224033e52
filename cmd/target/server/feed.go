package server

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// truthBatch is how many records a reader copies while decisions wait.
const truthBatch = 256

// showTruth gives the decisions that are kept, one JSON object a line, and in
// X-Truth-Dropped how many older ones are lost. With follow=1 it gives those
// from now on, as they come, until the server is closed. Where decisions were
// lost on the way, a line {"dropped":N} stands in their place.
func (s *Server) showTruth(w http.ResponseWriter, r *http.Request) {
	follow := false
	if text := r.URL.Query().Get("follow"); text != "" {
		var err error
		if follow, err = strconv.ParseBool(text); err != nil {
			s.refuse(w, "follow must be 1 or 0")
			return
		}
	}
	first, last := s.truth.Bounds()
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("X-Truth-Dropped", strconv.FormatInt(first-1, 10))
	if follow {
		s.followTruth(w, r, last)
		return
	}
	_, _ = s.sendTruth(json.NewEncoder(w), first-1, last)
}

// followTruth sends what comes after the given record, and at the end what is
// left.
func (s *Server) followTruth(w http.ResponseWriter, r *http.Request, after int64) {
	wake, stop := s.truth.Follow()
	defer stop()
	flush := http.NewResponseController(w).Flush
	out := json.NewEncoder(w)
	for end := false; ; {
		// Flushed at once even if there is nothing: the client has to know that
		// no later decision escapes it.
		_, last := s.truth.Bounds()
		var err error
		if after, err = s.sendTruth(out, after, last); err != nil || flush() != nil || end {
			return
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		case <-s.closing:
			end = true
		}
	}
}

// sendTruth writes the records from the one after the given one to the last,
// and tells up to which it has come.
func (s *Server) sendTruth(out *json.Encoder, after, last int64) (int64, error) {
	batch := make([]truth.Record, truthBatch)
	for after < last {
		n, dropped := s.truth.Read(after, batch)
		if dropped > 0 {
			if err := out.Encode(map[string]int64{"dropped": dropped}); err != nil {
				return after, err
			}
		}
		for _, t := range batch[:n] {
			if err := out.Encode(t); err != nil {
				return after, err
			}
		}
		after += dropped + int64(n)
	}
	return after, nil
}
