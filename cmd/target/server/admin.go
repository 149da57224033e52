package server

import (
	"encoding/json"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// adminHandler serves the admin side, which is for tests: it moves the clock
// and shows the keys of clients.
func (s *Server) adminHandler(at net.Addr) (http.Handler, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /clock", s.showClock)
	mux.HandleFunc("POST /clock/step", s.stepClock)
	mux.HandleFunc("GET /truth", s.showTruth)
	mux.HandleFunc("GET /limits", s.showLimits)
	mux.HandleFunc("GET /status", s.showStatus)
	if s.certificate != nil {
		mux.HandleFunc("GET /certificate", s.showCertificate)
	}
	// A page in the browser of whoever runs the server must not step its clock.
	return s.lock(http.NewCrossOriginProtection().Handler(mux), at)
}

// reading is a clock.Instant as JSON, all in nanoseconds.
type reading struct {
	MonoNS   int64 `json:"mono_ns"`
	WallNS   int64 `json:"wall_ns"`
	OffsetNS int64 `json:"offset_ns"`
}

func (s *Server) showClock(w http.ResponseWriter, _ *http.Request) {
	i := s.clock.Read()
	show(w, reading{i.Mono, i.Wall, i.Offset})
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

// promised is a Promise with where it is asked, as JSON.
type promised struct {
	URL       string   `json:"url"`              // of the route
	Socket    string   `json:"socket,omitempty"` // path of the unix socket that the URL is reached by
	Mode      string   `json:"mode"`
	Limit     string   `json:"limit"` // name
	Algorithm string   `json:"algorithm"`
	Contract  string   `json:"contract"`
	Burst     int64    `json:"burst"` // 0: the contract has none
	Rate      string   `json:"rate"`  // 0: the contract has none
	Key       string   `json:"key"`
	Store     string   `json:"store"`
	Defects   []string `json:"defects"`
}

// showLimits tells what is promised where.
func (s *Server) showLimits(w http.ResponseWriter, _ *http.Request) {
	all := []promised{}
	for _, sign := range s.Signs() {
		for _, p := range sign.Limits {
			all = append(all, promised{
				URL: sign.Place.URL + sign.Path, Socket: sign.Place.Socket, Mode: sign.Mode, Limit: p.Name, Algorithm: p.Algorithm,
				Contract: string(p.Limit.Contract), Burst: p.Limit.Burst, Rate: p.Limit.Rate.String(),
				Key: p.Key.String(), Store: p.Store, Defects: append([]string{}, p.Defects...),
			})
		}
	}
	show(w, all)
}

// status is what the server holds, as JSON.
type status struct {
	Keys        int   `json:"keys"`        // with a state; -1: a store cannot tell
	Decisions   int64 `json:"decisions"`   // records of the truth ever made
	Dropped     int64 `json:"dropped"`     // of these, that are kept no more
	Waiting     int   `json:"waiting"`     // requests that are held back
	Connections int   `json:"connections"` // open ones, without those of the admin side
	Goroutines  int   `json:"goroutines"`
	HeapBytes   int64 `json:"heap_bytes"` // in use and not yet swept
}

func (s *Server) showStatus(w http.ResponseWriter, _ *http.Request) {
	first, last := s.truth.Bounds()
	st := status{Decisions: last, Dropped: first - 1, Waiting: len(s.room.places), Connections: s.doors.open(), Goroutines: runtime.NumGoroutine()}
	for _, b := range s.backings {
		n := b.store.Len()
		if n < 0 {
			st.Keys = -1
			break
		}
		st.Keys += n
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	st.HeapBytes = int64(heap[0].Value.Uint64())
	show(w, st)
}

// showCertificate gives what a client has to trust.
func (s *Server) showCertificate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Content-Length", strconv.Itoa(len(s.certificate.pem)))
	_, _ = w.Write(s.certificate.pem)
}

func show(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuse answers a request to the admin side that is not understood.
func (s *Server) refuse(w http.ResponseWriter, detail string) {
	s.voice.Write(w, dialect.Problem(http.StatusBadRequest, detail), s.clock.Read().Wall)
}
