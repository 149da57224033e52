package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// chosen are the nodes that a request to the admin side is about: the one that
// node names, or all. It is not ok, and has been answered, if there is none such.
func (s *Server) chosen(w http.ResponseWriter, r *http.Request) (nodes []*node, ok bool) {
	text := r.URL.Query().Get("node")
	if text == "" {
		return s.nodes, true
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > len(s.nodes) {
		s.refuse(w, fmt.Sprintf("node must be 1 to %d, or absent for all", len(s.nodes)))
		return nil, false
	}
	return s.nodes[number-1 : number], true
}

// reading is a clock.Instant as JSON, all in nanoseconds.
type reading struct {
	Node     int   `json:"node,omitempty"` // number; 0: there is only one
	MonoNS   int64 `json:"mono_ns"`
	WallNS   int64 `json:"wall_ns"`
	OffsetNS int64 `json:"offset_ns"`
}

// showClock shows a clock, or a list of them if there are several.
func (s *Server) showClock(w http.ResponseWriter, r *http.Request) {
	nodes, ok := s.chosen(w, r)
	if !ok {
		return
	}
	var all []reading
	for _, n := range nodes {
		i := n.clock.Read()
		all = append(all, reading{n.told(), i.Mono, i.Wall, i.Offset})
	}
	showOneOrAll(w, all)
}

func showOneOrAll[T any](w http.ResponseWriter, all []T) {
	if len(all) == 1 {
		show(w, all[0])
		return
	}
	show(w, all)
}

// changeClock does to the clocks what the path and the query say, now, and shows
// them as they are then.
func (s *Server) changeClock(w http.ResponseWriter, r *http.Request) {
	nodes, ok := s.chosen(w, r)
	if !ok {
		return
	}
	e, wanted := eventOf(r)
	if wanted != "" {
		s.refuse(w, wanted)
		return
	}
	for _, n := range nodes {
		if err := n.clock.Do(e); err != nil {
			s.refuse(w, err.Error())
			return
		}
		s.cfg.Log.Info("clock changed", "node", n.number, "how", e.String())
	}
	s.showClock(w, r)
}

// eventOf reads what happens to a clock, or says what is wanted.
func eventOf(r *http.Request) (e clock.Event, wanted string) {
	q := r.URL.Query()
	e.Action = clock.Action(r.PathValue("action"))
	var errs [3]error
	switch e.Action {
	case clock.Freeze, clock.Resume:
	case clock.Step:
		if e.By, errs[0] = time.ParseDuration(q.Get("by")); errs[0] != nil {
			return e, "by must be a signed duration, as in POST /clock/step?by=-5s"
		}
	case clock.Slew, clock.Rate:
		if e.PPM, errs[0] = strconv.ParseInt(q.Get("ppm"), 10, 64); errs[0] != nil {
			return e, fmt.Sprintf("ppm must be parts per million, as in POST /clock/%s?ppm=500", e.Action)
		}
	case clock.Strobe:
		if q.Get("times") == "0" && !q.Has("step") && !q.Has("every") {
			return clock.Event{Action: clock.StrobeOff}, ""
		}
		e.By, errs[0] = time.ParseDuration(q.Get("step"))
		e.Every, errs[1] = time.ParseDuration(q.Get("every"))
		if q.Has("times") {
			e.Times, errs[2] = strconv.ParseInt(q.Get("times"), 10, 64)
		}
		if errs != [3]error{} || q.Has("times") && e.Times == 0 {
			return e, "step and every must be durations and times, if it is given, a number from 1, as in POST /clock/strobe?step=-1s&every=250ms&times=40; /clock/strobe?times=0 alone ends all strobes"
		}
	default:
		return e, "a clock knows step, slew, rate, freeze, resume and strobe"
	}
	return e, ""
}

// linkState is the way of a node to a store, as JSON.
type linkState struct {
	Node    int    `json:"node,omitempty"` // number; 0: there is only one
	Store   string `json:"store"`
	Cut     bool   `json:"cut"`
	DelayNS int64  `json:"delay_ns"`
}

// showStore shows the ways to the stores.
func (s *Server) showStore(w http.ResponseWriter, r *http.Request) {
	nodes, ok := s.chosen(w, r)
	if !ok {
		return
	}
	all := []linkState{}
	for _, n := range nodes {
		for _, b := range n.life().backings {
			cut, delay := b.link.State()
			all = append(all, linkState{n.told(), b.mode.String(), cut, int64(delay)})
		}
	}
	showOneOrAll(w, all)
}

// changeStore cuts the ways to the stores, makes them slow, or restores them.
func (s *Server) changeStore(w http.ResponseWriter, r *http.Request) {
	nodes, ok := s.chosen(w, r)
	if !ok {
		return
	}
	var by time.Duration
	action := r.PathValue("action")
	switch action {
	case "cut", "restore":
	case "delay":
		var err error
		if by, err = time.ParseDuration(r.URL.Query().Get("by")); err != nil || by < 0 || by > time.Hour {
			s.refuse(w, "by must be a duration up to 1h, as in POST /store/delay?by=200ms")
			return
		}
	default:
		s.refuse(w, "a store can be cut, delayed and restored: POST /store/cut, /store/delay?by=200ms, /store/restore")
		return
	}
	for _, n := range nodes {
		for _, b := range n.life().backings {
			switch action {
			case "cut":
				b.link.Cut()
			case "delay":
				b.link.Delay(by)
			default:
				b.link.Restore()
			}
		}
	}
	s.cfg.Log.Info("way to the store changed", "how", action, "by", by)
	s.showStore(w, r)
}

// postRestart restarts the nodes: graceful, all at once when what is under way is
// done; hard, all at once in the midst of it; rolling, gracefully one after the
// other.
func (s *Server) postRestart(w http.ResponseWriter, r *http.Request) {
	nodes, ok := s.chosen(w, r)
	if !ok {
		return
	}
	var err error
	switch how := r.URL.Query().Get("how"); how {
	case graceful, hard:
		err = s.restart(nodes, how)
	case "rolling":
		for i := range nodes {
			err = errors.Join(err, s.restart(nodes[i:i+1], graceful))
		}
	default:
		s.refuse(w, "how must be graceful, hard or rolling, as in POST /restart?how=hard")
		return
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	s.showClock(w, r)
}

// maxReload is the longest file that is read from a request.
const maxReload = 4 << 20

// postReload puts the limits and routes of the body in force, or those that the
// server was started with as they are now.
func (s *Server) postReload(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReload))
	if err != nil {
		s.refuse(w, "the file could not be read")
		return
	}
	left, err := s.reread(body)
	if len(left) > 0 {
		w.Header().Set(notReloaded, strings.Join(left, ", "))
	}
	switch {
	case errors.Is(err, errReloaded):
		s.fail(w, err)
	case err != nil:
		s.refuse(w, err.Error())
	default:
		s.showLimits(w, r)
	}
}

// Reread puts what the Config's Reread gives in force, and otherwise nothing with
// an error.
func (s *Server) Reread() error {
	_, err := s.reread(nil)
	return err
}

// reread also tells what was given and is not reloaded.
func (s *Server) reread(file []byte) (left []string, err error) {
	var cfg Config
	switch {
	case s.cfg.Reread != nil:
		cfg, err = s.cfg.Reread(file)
	case len(file) > 0:
		err = fmt.Errorf("this server cannot read a file")
	default:
		cfg = s.config()
	}
	if err != nil {
		return nil, fmt.Errorf("nothing was changed: %w", err)
	}
	if left = s.config().keeps(cfg); len(left) > 0 {
		s.cfg.Log.Warn("not reloaded: it stays as it was at the start", "what", left)
	}
	return left, s.Reload(cfg)
}

// notReloaded is the field that tells what of a file needs another start.
const notReloaded = "X-Not-Reloaded"

// keeps are the parts of another Config that would be others and do not come into
// force by a reload; what it does not say stays, and is none of them.
func (c Config) keeps(other Config) (left []string) {
	for _, part := range []struct {
		name     string
		is, will any
	}{
		{"listeners", c.Listeners, other.Listeners},
		{"nodes", c.Nodes, other.Nodes},
		{"node-store", c.NodeStore, other.NodeStore},
		{"front", c.Front, other.Front},
		{"clock", c.Clock, other.Clock},
		{"admin", c.Admin, other.Admin},
		{"admin-token", c.AdminToken, other.AdminToken},
		{"truth-keep", c.TruthKeep, other.TruthKeep},
		{"max-connections", c.MaxConns, other.MaxConns},
		{"max-waiting", c.MaxWaiting, other.MaxWaiting},
	} {
		if !reflect.ValueOf(part.will).IsZero() && !reflect.DeepEqual(part.is, part.will) {
			left = append(left, part.name)
		}
	}
	return left
}

// config is what is in force.
func (s *Server) config() Config {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.inForce
}

// fail answers a request to the admin side that was understood and did not work.
func (s *Server) fail(w http.ResponseWriter, err error) {
	s.voice.Write(w, dialect.Problem(http.StatusInternalServerError, err.Error()), s.nodes[0].clock.Read().Wall)
}
