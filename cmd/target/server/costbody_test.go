package server

import (
	"strings"
	"testing"
)

// The cost of a body is that of its array, also where the mode reads the body
// itself, and of what can never be had nothing is spent.
func TestCostBody(t *testing.T) {
	for _, mode := range []string{"plain", "order"} {
		cfg := routed(t, "token-bucket{burst=10,rate=1/h}", Route{Mode: parse(t, mode)})
		limit := Limit{Algorithm: cfg.Limit, Key: parseKey(t, cfg.Key.String()), CostBody: "array"}
		cfg = Config{Limits: []Limit{limit}, Routes: cfg.Routes}
		r := newRig(t, cfg)
		for i, tt := range []struct {
			body         string
			status, left int
		}{
			{"[1, 2, 3]", 200, 7},
			{"[1,2,3,4,5,6,7,8,9,10,11]", 400, 7},
			{`{"a": 1}`, 200, 6},
			{"[1,2,3,4,5,6,7]", 429, 6},
			{"", 200, 5},
			{"[" + strings.Repeat(" ", 10_000) + "[], {}]", 200, 3},
		} {
			res := r.do(request("POST", "/", "a", tt.body))
			records, _ := r.Truth()
			last := records[len(records)-1]
			if res.StatusCode != tt.status || last.After/last.Unit != int64(tt.left) {
				t.Errorf("%s, request %d: got %d with %d left, want %d with %d", mode, i, res.StatusCode, last.After/last.Unit, tt.status, tt.left)
			}
			if tt.status == 400 {
				if p := checkProblem(t, res, 400, "about:blank"); !strings.Contains(p.Detail, "more than the 10 operations") {
					t.Errorf("%s: got %q, want the most that can be asked for", mode, p.Detail)
				}
			}
		}
	}
}

func TestCostBodyErrors(t *testing.T) {
	for says, l := range map[string]Limit{
		`cost body "arry": write array`: {CostBody: "arry"},
		"give one of them":              {CostBody: "array", CostHeader: "X-Cost"},
	} {
		l.Algorithm = parse(t, DefaultLimit)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
}

// What fails before the limits and is counted takes a token and no place: here
// there are none, so that a good request is turned away.
func TestEarlyCounted(t *testing.T) {
	r := newRig(t, routed(t, "token-bucket{burst=3,rate=1/h}", Route{Mode: parse(t, "order{early=counted,pending=0,max-body=10}")}))
	for i, tt := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/", "{", 400, "the tokens were spent"},
		{"/", strings.Repeat("1", 11), 413, "the tokens were spent"},
		{"/", "{}", 429, "pending"}, // no place
		{"/", "{", 429, "default"},
		{"/", "{}", 429, "default"},
	} {
		res := r.do(request("POST", tt.path, "a", tt.body))
		body := new(strings.Builder)
		_ = res.Write(body)
		if res.StatusCode != tt.status || !strings.Contains(body.String(), tt.says) {
			t.Errorf("request %d: got %d and %s, want %d and %q", i, res.StatusCode, body, tt.status, tt.says)
		}
		records, _ := r.Truth()
		if last := records[len(records)-1]; len(records) != i+1 || last.Status != tt.status || last.Admitted != (i < 3) {
			t.Errorf("request %d: got %+v, want the status %d", i, last, tt.status)
		}
	}
	// Reading /health is free, but what fails there has failed.
	if got := r.do(request("GET", "/health", "a", "{")).StatusCode; got != 400 {
		t.Errorf("got %d, want 400", got)
	}
	if records, _ := r.Truth(); len(records) != 5 {
		t.Errorf("got %d records, want none of /health", len(records))
	}
}
