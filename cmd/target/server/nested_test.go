package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// nested is a limit for each client inside one for all, and a third of its own.
func nested(t *testing.T) Config {
	return Config{
		Limits: []Limit{
			{Name: "per-key", Algorithm: parse(t, "token-bucket{burst=3,rate=1/h}"), Key: parseKey(t, "header:X-Api-Key")},
			{Name: "everybody", Algorithm: parse(t, "token-bucket{burst=5,rate=1/h}")},
			{Name: "login", Algorithm: parse(t, "token-bucket{burst=1,rate=1/h}"), Key: parseKey(t, "header:X-Api-Key")},
		},
		Routes: []Route{
			{Limits: []string{"per-key", "everybody"}, Answers: dialect.Settings{Fields: []string{"draft"}}},
			{Path: "/login", Limits: []string{"login", "everybody"}},
			{Path: "/free"},
		},
	}
}

// The answer names the limit that has refused, and the one that would have
// admitted has lost nothing by it.
func TestNestedLimits(t *testing.T) {
	r := newRig(t, nested(t))
	tests := []struct {
		path, key string
		status    int
		violated  []string
		left      string // RateLimit
	}{
		{"/", "a", 200, nil, `"per-key";r=2, "everybody";r=4`},
		{"/", "a", 200, nil, `"per-key";r=1, "everybody";r=3`},
		{"/", "a", 200, nil, `"per-key";r=0, "everybody";r=2`},
		// 4 of the 5 of everybody are asked for by a, 3 are had.
		{"/", "a", 429, []string{"per-key"}, `"per-key";r=0;t=3600, "everybody";r=2`},
		{"/", "b", 200, nil, `"per-key";r=2, "everybody";r=1`},
		// The same budget of everybody on another route, with a limit of its own.
		{"/login", "a", 200, nil, ""},
		{"/login", "a", 429, []string{"login", "everybody"}, ""},
		{"/login", "c", 429, []string{"everybody"}, ""},
		{"/", "b", 429, []string{"everybody"}, `"per-key";r=2, "everybody";r=0;t=3600`},
		{"/", "a", 429, []string{"per-key", "everybody"}, `"per-key";r=0;t=3600, "everybody";r=0;t=3600`},
		{"/free/of/limits", "a", 200, nil, ""},
		{"/free", "", 200, nil, ""},
	}
	for i, tt := range tests {
		res := r.do(request("GET", tt.path, tt.key, ""))
		if got := res.Header.Get("RateLimit"); res.StatusCode != tt.status || got != tt.left {
			t.Errorf("request %d: got %d with %s, want %d with %s", i, res.StatusCode, got, tt.status, tt.left)
		}
		if tt.status == 429 {
			p := checkProblem(t, res, 429, dialect.QuotaExceeded)
			if shared := slices.Contains(tt.violated, "everybody"); !slices.Equal(p.Violated, tt.violated) || strings.Contains(p.Detail, "all clients together") != shared {
				t.Errorf("request %d: got %v violated and %q, want %v", i, p.Violated, p.Detail, tt.violated)
			}
		}
	}
}

// The truth has one record for each limit that was asked, and says which has
// refused.
func TestTruthOfNestedLimits(t *testing.T) {
	r := newRig(t, nested(t))
	for range 4 {
		r.get("a")
	}
	r.do(request("GET", "/login", "b", ""))
	records, _ := r.Truth()
	if len(records) != 10 {
		t.Fatalf("got %d records, want 5 requests of 2 limits", len(records))
	}
	var got []string
	for _, rec := range records[4:] {
		got = append(got, fmt.Sprintf("%d %s %s %q %d->%d %v %v %d", rec.Request, rec.Route, rec.Limit, rec.Key,
			rec.Before/rec.Unit, rec.After/rec.Unit, rec.Admitted, rec.Refused, rec.Status))
	}
	want := []string{
		`5 / per-key "a" 1->0 true false 200`,
		`5 / everybody "" 3->2 true false 200`,
		`7 / per-key "a" 0->0 false true 429`,
		`7 / everybody "" 2->2 false false 429`,
		`9 /login login "b" 1->0 true false 200`,
		`9 /login everybody "" 2->1 true false 200`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Paths that only look different are one route, and nothing outside of a route
// is answered by it.
func TestRouting(t *testing.T) {
	r := newRig(t, Config{
		Limits: []Limit{{Name: "a", Algorithm: parse(t, "token-bucket{burst=1,rate=1/h}")}, {Name: "b", Algorithm: parse(t, "token-bucket{burst=1,rate=1/h}")}},
		Routes: []Route{{Path: "/api", Limits: []string{"a"}}, {Path: "/api/login", Limits: []string{"b"}}},
	})
	tests := []struct{ path, limit string }{
		{"/api", "a"}, {"/api/", "a"}, {"/api/x", "a"}, {"//api/x", "a"}, {"/x/../api", "a"}, {"/api/./x", "a"},
		{"/api/login", "b"}, {"/api/login/x", "b"}, {"/api//login", "b"}, {"/api/x/../login", "b"}, {"/api/%6cogin", "b"},
		{"/api/login/..", "a"}, {"/api/loginx", "a"},
		{"/", ""}, {"/apix", ""}, {"/api/..", ""},
	}
	for _, tt := range tests {
		records, _ := r.Truth()
		res := r.do(request("GET", tt.path, "", ""))
		now, _ := r.Truth()
		switch {
		case tt.limit == "":
			checkProblem(t, res, 404, dialect.NoSpecialType)
		case len(now) != len(records)+1 || now[len(now)-1].Limit != tt.limit:
			t.Errorf("%s: got %d new records, want one of limit %s", tt.path, len(now)-len(records), tt.limit)
		}
	}
}

// A cost that one of the limits can never admit is a mistake, and spends nothing
// of the others.
func TestCostOfNestedLimits(t *testing.T) {
	cfg := nested(t)
	cfg.Limits[0].CostHeader = "X-Cost" // 3 at most
	r := newRig(t, cfg)
	for _, cost := range []string{"4", "0", "-1", "x"} {
		req := request("GET", "/", "a", "")
		req.Header.Set("X-Cost", cost)
		if p := checkProblem(t, r.do(req), 400, dialect.NoSpecialType); !strings.Contains(p.Detail, "X-Cost must be a whole number from 1 to 3") {
			t.Errorf("cost %s: got %q", cost, p.Detail)
		}
	}
	req := request("GET", "/", "a", "")
	req.Header.Set("X-Cost", "3")
	if got := r.do(req).Header.Get("RateLimit"); got != `"per-key";r=0, "everybody";r=4` {
		t.Errorf("got %s, want 3 of the one and 1 of the other", got)
	}
}

// Two clients with keys of several parts.
func TestKeyOfParts(t *testing.T) {
	r := newRig(t, Config{Limits: []Limit{{Algorithm: parse(t, "token-bucket{burst=1,rate=1/h}"), Key: parseKey(t, "ip+header:X-Api-Key+path{segments=1}")}}})
	got := map[int]int{}
	for _, path := range []string{"/a", "/a/1", "/b"} {
		for _, key := range []string{"x", "y", "x"} {
			got[r.do(request("GET", path, key, "")).StatusCode]++
		}
	}
	// /a and /b by x and y: four of nine.
	if want := (map[int]int{200: 4, 429: 5}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if p := checkProblem(t, r.get(""), 400, dialect.NoSpecialType); !strings.Contains(p.Detail, "peer address and header X-Api-Key and path") {
		t.Errorf("without a key: got %q", p.Detail)
	}
}

func TestConfigErrors(t *testing.T) {
	bucket := parse(t, "token-bucket{burst=1,rate=1/h}")
	limits := []Limit{{Name: "a", Algorithm: bucket}, {Name: "b", Algorithm: bucket}}
	tests := []struct {
		name string
		cfg  Config
		says []string
	}{
		{"both forms", Config{Limits: limits, Limit: bucket}, []string{"give one of them"}},
		{"two limits of one name", Config{Limits: []Limit{limits[0], limits[0]}}, []string{"two limits are called a"}},
		{"an unknown limit", Config{Limits: limits, Routes: []Route{{Limits: []string{"aa"}}}}, []string{`limit "aa" is not known`, `did you mean "a"?`}},
		{"a limit twice", Config{Limits: limits, Routes: []Route{{Limits: []string{"a", "a"}}}}, []string{"named twice"}},
		{"an unknown listener", Config{Limits: limits, Routes: []Route{{Listeners: []string{"x"}}}}, []string{`listener "x" is not known`}},
		{"two routes for one path", Config{Limits: limits, Routes: []Route{{}, {Path: "/"}}}, []string{"two routes for /"}},
		{"the same with a slash", Config{Limits: limits, Routes: []Route{{Path: "/a"}, {Path: "/a/"}}}, []string{"two routes for /a"}},
		{"two listeners of one name", Config{Listeners: []Listener{{}, {}}}, []string{"two listeners are called 127.0.0.1:0"}},
		{"a path that is not clean", Config{Routes: []Route{{Path: "/a/../b"}}}, []string{"write one such as /b"}},
		{"a path that is none", Config{Routes: []Route{{Path: "a"}}}, []string{"write one such as /a"}},
		{"a cost header", Config{Limits: []Limit{{Algorithm: bucket, CostHeader: "a b"}}}, []string{`cost header "a b"`}},
		{"a name", Config{Limits: []Limit{{Name: "ä", Algorithm: bucket}}}, []string{"of ASCII"}},
		{"a socket", Config{Listeners: []Listener{{Address: "unix:"}}}, []string{"lacks a path"}},
		{"all of them", Config{Limits: []Limit{{Name: "a", Algorithm: parse(t, "x")}, {Name: "b", Algorithm: parse(t, "y")}}, Routes: []Route{{Answers: dialect.Settings{Status: 200}}}},
			[]string{"limit a: ", "limit b: ", "a refusal is 400"}},
		{"one clock", Config{Limits: []Limit{
			{Name: "a", Algorithm: bucket, Defects: parseAll(t, "wall-clock{step=-1s,every=10s}")},
			{Name: "b", Algorithm: bucket, Defects: parseAll(t, "wall-clock{step=-2s,every=10s}")},
		}}, []string{"limits a and b: a route has one wall clock"}},
		{"too many limits", Config{Limits: many(bucket, dialect.MaxPolicies+1)}, []string{"at most 8 can be asked together"}},
	}
	for _, tt := range tests {
		err := tt.cfg.Check()
		for _, says := range tt.says {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v, want an error that says %q", tt.name, err, says)
			}
		}
	}
}

func parseAll(t *testing.T, texts ...string) (all []mode.Mode) {
	for _, s := range texts {
		all = append(all, parse(t, s))
	}
	return all
}

// many are n limits of one algorithm.
func many(algorithm mode.Mode, n int) (all []Limit) {
	for i := range n {
		all = append(all, Limit{Name: fmt.Sprint("limit-", i), Algorithm: algorithm})
	}
	return all
}
