package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// stub is a store that says what it is told to.
type stub struct {
	answer store.Answer
	err    error
}

func (s *stub) Decide(_ context.Context, _ []store.Ask, settle func(*store.Answer)) error {
	if s.err == nil {
		settle(&s.answer)
	}
	return s.err
}

func (s *stub) Release(context.Context, []store.Ask) error { return s.err }
func (s *stub) Len() int                                   { return -1 }
func (s *stub) Close() error                               { return nil }

// What a client is told when the store of its limit is down, under each policy,
// and what the truth says of it.
func TestStoreDown(t *testing.T) {
	cause := errors.New("no store at 127.0.0.1:6379")
	yes := []limiter.Decision{{Admitted: true, Remaining: 2, Limit: 3, Unit: 1, Before: 3, After: 2}}
	no := []limiter.Decision{{Limit: 3, Unit: 1, Wait: 2e9}}
	unfounded := []limiter.Decision{{Unit: 1}}
	tests := []struct {
		name   string
		store  stub
		status int
		kind   string // of the problem
		left   string // RateLimit
		retry  string
		policy string // in the truth; "-": there is none
	}{
		{"it answers", stub{answer: store.Answer{Admitted: true, Refused: -1, Decisions: yes}}, 200, "", `"default";r=2`, "", ""},
		{"no policy", stub{err: cause}, 503, dialect.ReducedCapacity, "", "1", "-"},
		{"open", stub{answer: store.Answer{Admitted: true, Refused: -1, Decisions: unfounded, Policy: store.Open, Cause: cause}}, 200, "", "", "", "open"},
		{"closed", stub{answer: store.Answer{Decisions: unfounded, Policy: store.Closed, Cause: cause}}, 503, dialect.ReducedCapacity, "", "1", "closed"},
		{"local, admitted", stub{answer: store.Answer{Admitted: true, Refused: -1, Decisions: yes, Policy: store.Local, Cause: cause}}, 200, "", `"default";r=2`, "", "local"},
		{"local, refused", stub{answer: store.Answer{Decisions: no, Policy: store.Local, Cause: cause}}, 429, dialect.QuotaExceeded, `"default";r=0;t=2`, "2", "local"},
	}
	for _, tt := range tests {
		r := newRig(t, routed(t, "token-bucket{burst=3,rate=1/h}", Route{Answers: dialect.Settings{Fields: []string{"draft"}}}))
		r.nodes[0].life().backings[0].store = &tt.store
		res := r.get("a")
		if res.StatusCode != tt.status || res.Header.Get("RateLimit") != tt.left || res.Header.Get("Retry-After") != tt.retry {
			t.Errorf("%s: got %d, %q, Retry-After %q, want %d, %q, %q", tt.name, res.StatusCode, res.Header.Get("RateLimit"), res.Header.Get("Retry-After"), tt.status, tt.left, tt.retry)
		}
		if tt.kind != "" {
			checkProblem(t, res, tt.status, tt.kind)
		}
		records, _ := r.Truth()
		switch {
		case tt.policy == "-":
			if len(records) != 0 {
				t.Errorf("%s: got truth %+v, want none", tt.name, records)
			}
		case len(records) != 1 || records[0].Policy != tt.policy || records[0].Status != tt.status || records[0].Admitted != (tt.status == 200):
			t.Errorf("%s: got truth %+v", tt.name, records)
		}
	}
}

// The log hears of a store in trouble once, and once when it is well again; a
// client that went away is no trouble.
func TestStoreTroubleIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	cfg := byHeader(t, "token-bucket{burst=3,rate=1/h}")
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	r := newRig(t, cfg)
	s := &stub{answer: store.Answer{Admitted: true, Refused: -1, Decisions: []limiter.Decision{{Admitted: true, Unit: 1}}}}
	r.nodes[0].life().backings[0].store = s
	for _, err := range []error{nil, context.Canceled, errors.New("gone"), errors.New("gone"), context.Canceled, nil, nil, errors.New("gone")} {
		s.err = err
		r.get("s3cr3t")
	}
	got := log.String()
	if strings.Count(got, "cannot be asked") != 2 || strings.Count(got, "can be asked again") != 1 || strings.Contains(got, "s3cr3t") {
		t.Errorf("got\n%s", got)
	}
}
