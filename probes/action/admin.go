package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// admin is the admin side of the reference server.
type admin struct {
	base, token string
	client      http.Client
	before      []reading // the clocks, before they were first moved; nil: they were not
	store       bool      // the way to the store is not as it was
}

// reading is what the server tells of a node's clock.
type reading struct {
	Node   int   `json:"node"` // 0: there is only one
	Mono   int64 `json:"mono_ns"`
	Offset int64 `json:"offset_ns"` // of the wall clock, against where it would be
}

// answerWithin is how long the admin side may take: a graceful restart waits for
// requests under way, and a rolling one does so for each node.
const answerWithin = 30 * time.Second

func newAdmin(base, token string) *admin {
	return &admin{base: strings.TrimSuffix(base, "/"), token: token, client: http.Client{Timeout: answerWithin}}
}

func (s *admin) check(scenarios.Action) error {
	_, err := s.read(context.Background())
	return err
}

func (s *admin) do(ctx context.Context, a scenarios.Action) (what string, err error) {
	return "", s.act(ctx, a)
}

func (s *admin) act(ctx context.Context, a scenarios.Action) error {
	q := url.Values{}
	if _, err := strconv.Atoi(a.On); err == nil {
		q.Set("node", a.On)
	}
	switch {
	case a.OfClock():
		return s.clock(ctx, a, q)
	case a.OfStore():
		s.store = true
		if a.Act == scenarios.StoreDelay {
			q.Set("by", a.By.String())
		}
		return s.post(ctx, "/store/"+string(a.Act), q, nil)
	case a.Act == scenarios.ProcessRestart:
		q.Set("how", "hard")
		return s.post(ctx, "/restart", q, nil)
	}
	return s.post(ctx, "/reload", nil, nil)
}

// clock moves clocks, and reads them: an offset that is not what it should be is an error.
func (s *admin) clock(ctx context.Context, a scenarios.Action, q url.Values) error {
	was, err := s.read(ctx)
	if err != nil {
		return err
	}
	if s.before == nil {
		s.before = was
	}
	switch a.Act {
	case scenarios.ClockStep:
		q.Set("by", a.By.String())
	case scenarios.ClockSlew:
		q.Set("ppm", strconv.FormatInt(a.PPM, 10))
	}
	if err := s.post(ctx, "/clock/"+string(a.Act), q, nil); err != nil {
		return err
	}
	is, err := s.read(ctx)
	if err != nil || a.Act != scenarios.ClockStep {
		return err
	}
	for i := range is {
		if node := q.Get("node"); node != "" && node != strconv.Itoa(is[i].Node) {
			continue
		}
		// A clock that is slewed or stands still has moved by itself meanwhile.
		moved, passed := is[i].Offset-was[i].Offset-int64(a.By), is[i].Mono-was[i].Mono
		if moved > passed || -moved > passed {
			return fmt.Errorf("the server says that its clock was moved by %v", time.Duration(is[i].Offset-was[i].Offset))
		}
	}
	return nil
}

func (s *admin) read(ctx context.Context) (all []reading, err error) {
	var raw json.RawMessage
	if err := s.ask(ctx, http.MethodGet, "/clock", nil, &raw); err != nil {
		return nil, err
	}
	if len(raw) > 0 && raw[0] == '{' {
		all = make([]reading, 1)
		return all, json.Unmarshal(raw, &all[0])
	}
	return all, json.Unmarshal(raw, &all)
}

func (s *admin) post(ctx context.Context, path string, q url.Values, into any) error {
	return s.ask(ctx, http.MethodPost, path, q, into)
}

func (s *admin) ask(ctx context.Context, method, path string, q url.Values, into any) error {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, nil)
	if err != nil {
		return err
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return fmt.Errorf("the admin side of the server: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the admin side of the server: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the admin side of the server answers %s %s with %d: %s", method, path, answer.StatusCode, firstLine(body))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line[:min(len(line), 300)]
}

func (s *admin) undo() (what []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.store {
		if err = s.post(ctx, "/store/restore", nil, nil); err == nil {
			what, s.store = append(what, "the way to the store is restored"), false
		}
	}
	if s.before == nil {
		return what, err
	}
	if e := s.resetClocks(ctx); e != nil {
		return what, errors.Join(err, e)
	}
	s.before = nil
	return append(what, "the server's wall clock runs as before"), err
}

func (s *admin) resetClocks(ctx context.Context) error {
	for _, path := range []string{"/clock/strobe?times=0", "/clock/resume", "/clock/slew?ppm=0"} {
		if err := s.post(ctx, path, nil, nil); err != nil {
			return err
		}
	}
	now, err := s.read(ctx)
	if err != nil {
		return err
	}
	for i := range min(len(now), len(s.before)) {
		q := url.Values{"by": {time.Duration(s.before[i].Offset - now[i].Offset).String()}}
		if now[i].Node > 0 {
			q.Set("node", strconv.Itoa(now[i].Node))
		}
		if err := s.post(ctx, "/clock/step", q, nil); err != nil {
			return err
		}
	}
	return nil
}
