package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// adminHandler serves the admin side, which is for tests: it moves the clocks,
// restarts nodes and shows the keys of clients.
func (s *Server) adminHandler(at net.Addr) (http.Handler, error) {
	// A page in the browser of whoever runs the server must not step its clock.
	return s.lock(http.NewCrossOriginProtection().Handler(s.adminMux()), at)
}

func (s *Server) adminMux() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(pattern string, do http.HandlerFunc, known ...string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if wanted := unknown(r.URL.Query(), known); wanted != "" {
				s.refuse(w, wanted)
				return
			}
			do(w, r)
		})
	}
	on("GET /clock", s.showClock, "node")
	on("POST /clock/{action}", s.changeClock, "node", "by", "ppm", "step", "every", "times")
	on("GET /truth", s.showTruth, "follow")
	on("GET /limits", s.showLimits)
	on("GET /status", s.showStatus)
	on("GET /store", s.showStore, "node")
	on("POST /store/{action}", s.changeStore, "node", "by")
	on("POST /restart", s.postRestart, "node", "how")
	on("POST /reload", s.postReload)
	if s.certificate != nil {
		on("GET /certificate", s.showCertificate)
	}
	return mux
}

// unknown says which parameter is not known, and which are; empty: all are. What is
// misspelt would else be as if it had not been said.
func unknown(given url.Values, known []string) string {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			return fmt.Sprintf("%q is not known: nothing can be given here", name)
		default:
			return fmt.Sprintf("%q is not known: there are %s", name, strings.Join(known, ", "))
		}
	}
	return ""
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
	st := status{Keys: s.keys(), Decisions: last, Dropped: first - 1, Connections: s.nodes[0].doors.open(), Goroutines: runtime.NumGoroutine()}
	for _, n := range s.nodes {
		st.Waiting += len(n.room.places)
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	st.HeapBytes = int64(heap[0].Value.Uint64())
	show(w, st)
}

// keys is how many keys there is a state of; -1: a store cannot tell.
func (s *Server) keys() (sum int) {
	for _, n := range s.nodes {
		for _, b := range n.life().backings {
			keys := b.store.Len()
			if keys < 0 {
				return -1
			}
			sum += keys
		}
		if s.shared != nil { // all have the same
			break
		}
	}
	return sum
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
	s.voice.Write(w, dialect.Problem(http.StatusBadRequest, detail), s.nodes[0].clock.Read().Wall)
}
