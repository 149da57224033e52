package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const wellFormed = `
name: login
target: http://127.0.0.1:8080/login
request:
  method: POST
  headers:
    - "Content-Type: application/json"
  body: '{"a": 1}'
limits:
  - name: per key
    contract: gcra
    burst: 10
    rate: 5/s
    key: header:X-Api-Key
    limited: 429,503
    slack: {quantum: 10ms}
phases:
  - {name: volley, volley: 30, keys: 3, every: 200ms}
  - {name: drain, volley: 20}
  - {name: pressure, pace: 50/s, for: 2s, keys: drain}
  - {name: quiet, rest: 1s}
  - {name: ask, pace: 5/s, count: 1, keys: drain, retry: obey}
  - {name: edge, attack: boundary, keys: 2, rounds: 3, every: 100ms}
  - {name: pilot, attack: pilot}
checks: [bound, retry-after.honest]
resolution: 2%
seed: 7
`

var knownChecks = []string{"bound.upper", "bound.lower", "retry-after.honest"}

func TestParse(t *testing.T) {
	s, err := Parse("login.yaml", []byte(wellFormed), knownChecks)
	if err != nil {
		t.Fatal(err)
	}
	l := s.Limits[0]
	if l.Burst != 10 || l.Rate != (Rate{5, time.Second}) || l.Contract != GCRA || l.Slack.Quantum != 10*time.Millisecond || l.Slack.Over != 500 {
		t.Errorf("limit: got %+v", l)
	}
	if got, want := s.Phases[2], (Phase{Name: "pressure", Pace: Rate{50, time.Second}, Count: 101, Keys: Keys{Of: "drain"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("phase: got %+v, want %+v", got, want)
	}
	if s.Wanted != 20_000 || s.Seed != 7 || s.Request.Body != `{"a": 1}` {
		t.Errorf("scenario: got %+v", s)
	}
	plan, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	// 3 x 30 + 20 + 101 + 1.
	if got, want := plan.Shots.Len(), 212; got != want {
		t.Errorf("got %d shots, want %d", got, want)
	}
}

// Each file has mistakes; the messages must name all of them, with their places.
func TestParseErrors(t *testing.T) {
	tests := []struct {
		name string
		src  string
		want []string
	}{
		{"three at once", "limit: {burst: 10, rat: 5/s}\nphases:\n  - {name: a, volley: many}\n  - {name: b, pace: 5, count: 3}\n",
			[]string{`f.yaml:1:20: unknown field "rat"`, `did you mean "rate"?`, `f.yaml:3:23: "many" where a whole number`, `f.yaml:4:21: rate "5" has no period`}},
		{"no unit", "limit: {burst: 1, rate: 1/s}\nphases: [{name: a, rest: 5}]\n", []string{`f.yaml:2:26: "5" has no unit`, "write 5s or 5ms"}},
		{"contradiction", "limit: {burst: 1, rate: 1/s}\nphases: [{name: a, volley: 3, pace: 1/s, count: 2}]\n", []string{"f.yaml:2:10", "exclude each other"}},
		{"both lengths", "limit: {burst: 1, rate: 1/s}\nphases: [{name: a, pace: 1/s, count: 2, for: 3s}]\n", []string{"for and count"}},
		{"unknown check", "limit: {burst: 1, rate: 1/s}\nphases: [{name: a, volley: 3}]\nchecks: [bound.uper]\n", []string{`f.yaml:3:10: unknown check "bound.uper"`, `did you mean "bound.upper"?`}},
		{"unknown contract", "limit: {burst: 1, rate: 1/s, contract: leaky}\nphases: [{name: a, volley: 3}]\n", []string{`contract "leaky" is not known`}},
		{"later keys", "limit: {burst: 1, rate: 1/s}\nphases: [{name: a, volley: 3, keys: b}, {name: b, volley: 1}]\n", []string{"no earlier phase"}},
		{"repeated", "limit: {burst: 1, burst: 2, rate: 1/s}\nphases: [{name: a, volley: 3}]\n", []string{"f.yaml:1:19", "burst"}},
		{"attack and volley", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, volley: 3, attack: pilot}]\n", []string{"f.yaml:2:10", "exclude each other"}},
		{"unknown attack", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, attack: edge}]\n", []string{`f.yaml:2:28: "edge" is no way to attack: write boundary or pilot`}},
		{"no attack", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, attack: \"\"}]\n", []string{"is no way to attack"}},
		{"length of an attack", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, attack: pilot, for: 3s}]\n", []string{"an attack ends by itself", "give rounds instead of for"}},
		{"count of an attack", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, attack: pilot, count: 3}]\n", []string{"give rounds instead of count"}},
		{"rounds of a volley", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, volley: 3, rounds: 2}]\n", []string{"rounds are those of an attack"}},
		{"no rounds", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, attack: pilot, rounds: 0}]\n", []string{"f.yaml:2:43", "from 1 to 1000"}},
		{"obedient attack", "limit: {burst: 2, rate: 1/s}\nphases: [{name: a, attack: pilot, retry: obey}]\n", []string{"attack and retry exclude each other"}},
		{"attack on one", "limit: {burst: 1, rate: 1/s}\nphases: [{name: a, attack: pilot}]\n", []string{`phase "a"`, "two at once or more"}},
		{"attack on many", "limit: {burst: 10001, rate: 1/s}\nphases: [{name: a, attack: pilot}]\n", []string{"the most is 10000"}},
		{"attack without a rate", "limit: {contract: concurrency, burst: 3}\nphases: [{name: a, attack: pilot}]\n", []string{"no limit has a rate"}},
		{"empty", "", []string{"f.yaml: the file is empty"}},
		{"no yaml", "limit: {burst: 1\nphases: ]", []string{"f.yaml:"}},
		{"no limit", "phases: [{name: a, volley: 3}]\n", []string{"no limit is given"}},
		{"a list", "- a\n- b\n", []string{"f.yaml:1:1", "a list where fields are expected"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(tt.src), knownChecks)
			if err == nil {
				t.Fatal("got no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got\n%v\nwant it to hold %q", err, want)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(wellFormed))
	f.Add([]byte("limit: {burst: 1, rate: 1/s}\nphases: [{name: a, volley: 3}]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Parse("f.yaml", src, knownChecks)
		if (s == nil) == (err == nil) {
			t.Fatalf("got %v and %v", s, err)
		}
	})
}

// What is done to the server is read, written back the same, and laid out in time.
func TestActions(t *testing.T) {
	const src = `limit: {burst: 1, rate: 1/s}
phases: [{name: a, pace: 1/s, for: 60s}]
actions:
  - {at: 5s, clock: {step: -5s}, for: 600ms}
  - {at: 6s, clock: {strobe: -1s, every: 250ms, times: 2}}
  - {at: 8s, clock: freeze, on: store, for: 1s}
  - {at: 10s, clock: {slew: 500ppm}}
  - {at: 12s, process: pause, for: 1s, every: 20s, times: 9}
  - {at: 14s, process: restart, expect: fresh}
  - {at: 15s, store: {delay: 50ms}, for: 1s, expect: open}
  - {at: 16s, run: [redis-cli, ping], undo: [redis-cli, pong], within: 5s}
`
	s, err := Parse("f.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("f.yaml", s.YAML(), nil)
	if err != nil || !reflect.DeepEqual(s.Actions, again.Actions) {
		t.Errorf("got %v (%v), want %v", again.Actions, err, s.Actions)
	}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range p.Actions {
		got = append(got, fmt.Sprintf("%v %s %v", a.At, a.Act, a.By))
	}
	want := []string{"5s step -5s", "5.6s step 5s", "6.25s step -1s", "6.5s step 1s", "6.75s step -1s", "7s step 1s", "8s freeze 0s", "9s resume 0s", "10s slew 0s",
		"12s pause 0s", "13s continue 0s", "14s restart 0s", "15s delay 50ms", "16s restore 0s", "16s run 0s", "32s pause 0s", "33s continue 0s", "52s pause 0s", "53s continue 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(p.String(), "# at 5.000000000, the wall clock is stepped by -5s\n") {
		t.Errorf("the plan does not show what is done: %s", p)
	}
}

func TestWrongActions(t *testing.T) {
	for action, want := range map[string]string{
		"{at: 5s}":                                     "f.yaml:3:12: 0 of clock, process, store and run are given",
		"{at: 5s, clock: {step: 0s}}":                  "moves nothing",
		"{at: 5s, clock: {stpe: 1s}}":                  `unknown field "stpe"`,
		"{at: 5s, clock: freze}":                       `did you mean "freeze"?`,
		"{at: 5s, clock: {step: -1}}":                  "missing unit",
		"{at: 5s, clock: {slew: fast}}":                "parts per million",
		"{at: 5s, process: restart, for: 1s}":          "nothing undoes restart",
		"{at: 5s, process: pause, for: 2s, every: 1s}": "done again before it is undone",
		"{at: 5s, process: pause, times: 2}":           "add every: 30s",
		"{at: 5s, store: cut, expect: nothing}":        "write fresh, open, closed, local",
		"{at: 5s, process: pause, on: redis}":          "write server, store, or the number",
		"{at: 5s, run: []}":                            "a command has a program",
		"{at: 50s, process: pause}":                    "action 1 at 50s is behind the last request, at 9s",
	} {
		s, err := Parse("f.yaml", []byte("limit: {burst: 1, rate: 1/s}\nphases: [{name: a, pace: 1/s, count: 10}]\nactions: [ "+action+"]\n"), nil)
		if err == nil {
			_, err = s.Plan(Supply{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to say %q", action, err, want)
		}
	}
}

func TestParseClock(t *testing.T) {
	for text, want := range map[string]Action{
		"step=-5s":               {Act: ClockStep, By: -5 * time.Second},
		"step=-5s@2s":            {Act: ClockStep, By: -5 * time.Second, At: 2 * time.Second},
		"slew=-500ppm":           {Act: ClockSlew, PPM: -500},
		"freeze=2s":              {Act: ClockFreeze, For: 2 * time.Second},
		"strobe=-1s/250ms":       {Act: ClockStrobe, By: -time.Second, Every: 250 * time.Millisecond},
		"strobe=-1s/250ms@100ms": {Act: ClockStrobe, By: -time.Second, Every: 250 * time.Millisecond, At: 100 * time.Millisecond},
	} {
		if got, err := ParseClock(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "step", "step=5", "jump=5s", "strobe=1s"} {
		if _, err := ParseClock(text); err == nil || !strings.Contains(err.Error(), "write step=-5s") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
