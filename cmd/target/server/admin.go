package server

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// truthBatch is how many records a reader copies while decisions wait.
const truthBatch = 256

// adminHandler serves the admin side, which is for tests: it moves the clock
// and shows the keys of clients.
func (s *Server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /clock", s.showClock)
	mux.HandleFunc("POST /clock/step", s.stepClock)
	mux.HandleFunc("GET /truth", s.showTruth)
	// A page in the browser of whoever runs the server must not step its clock.
	return http.NewCrossOriginProtection().Handler(mux)
}

// reading is a clock.Instant as JSON, all in nanoseconds.
type reading struct {
	MonoNS   int64 `json:"mono_ns"`
	WallNS   int64 `json:"wall_ns"`
	OffsetNS int64 `json:"offset_ns"`
}

func (s *Server) showClock(w http.ResponseWriter, _ *http.Request) {
	i := s.clock.Read()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reading{i.Mono, i.Wall, i.Offset})
}

// stepClock steps the wall clock by a signed duration and shows the clock as it
// is then.
func (s *Server) stepClock(w http.ResponseWriter, r *http.Request) {
	by, err := time.ParseDuration(r.URL.Query().Get("by"))
	if err != nil {
		s.refuse(w, "by must be a signed duration, as in POST /clock/step?by=-5s")
		return
	}
	if err := s.clock.Step(by); err != nil {
		s.refuse(w, err.Error())
		return
	}
	s.cfg.Log.Info("wall clock stepped", "by", by)
	s.showClock(w, r)
}

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
	first, last := s.truth.bounds()
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
	wake, stop := s.truth.follow()
	defer stop()
	flush := http.NewResponseController(w).Flush
	out := json.NewEncoder(w)
	for end := false; ; {
		// Flushed at once even if there is nothing: the client has to know that
		// no later decision escapes it.
		_, last := s.truth.bounds()
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
	batch := make([]Truth, truthBatch)
	for after < last {
		n, dropped := s.truth.read(after, batch)
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

// refuse answers a request to the admin side that is not understood.
func (s *Server) refuse(w http.ResponseWriter, detail string) {
	s.write(w, problem(http.StatusBadRequest, noSpecialType, "", detail))
}
