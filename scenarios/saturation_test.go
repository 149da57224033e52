package scenarios

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSaturationIsPlanned(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`limit: {burst: 10, rate: 5/s}
phases:
  - {name: warm, volley: 2}
  - {name: flood, rest: 1s, saturate: 8, for: 2s, keys: 2, every: 500ms, count: 300}
  - {name: again, saturate: 1, for: 3s, keys: flood}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", s.YAML(), nil)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("got\n%+v, %v\nwant\n%+v\nfrom\n%s", again, err, s, s.YAML())
	}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	sec := int64(time.Second)
	want := []Saturation{
		{At: sec, Phase: 1, Key: 1, Cost: 1, Connections: 8, Length: 2 * time.Second, Most: 300},
		{At: sec + sec/2, Phase: 1, Key: 2, Cost: 1, Connections: 8, Length: 2 * time.Second, Most: 300},
		// It begins when the phase before is over, and is held to 50 requests in each
		// millisecond of 3 s, and in one more.
		{At: 3*sec + sec/2, Phase: 2, Key: 1, Cost: 1, Connections: 1, Length: 3 * time.Second, Most: 150_050},
		{At: 3*sec + sec/2, Phase: 2, Key: 2, Cost: 1, Connections: 1, Length: 3 * time.Second, Most: 150_050},
	}
	if !reflect.DeepEqual(p.Floods, want) {
		t.Errorf("got\n%+v\nwant\n%+v", p.Floods, want)
	}
	if got, want := p.Most(), 2+2*300+2*150_050; got != want || p.Length != 6500*time.Millisecond {
		t.Errorf("got %d requests at most within %v, want %d within 6.5s", got, p.Length, want)
	}
	if line := "# from 1.500000000, flood on flood/2: as fast as is answered on 8 connections for 2s, up to 300 requests\n"; !strings.Contains(p.String(), line) {
		t.Errorf("got\n%v\nwant the line %q", p, line)
	}
	if later := p.FollowUps(2); len(later.Floods) != 2 || later.Floods[0].Phase != 2 {
		t.Errorf("got %+v behind the first two phases, want the two of the last", later.Floods)
	}
}

func TestSaturationErrors(t *testing.T) {
	tests := []struct{ name, phase, want string }{
		{"no end", "saturate: 8", "saturate needs an end: add for: 5s"},
		{"a pace as well", "saturate: 8, for: 1s, pace: 5/s", "exclude each other"},
		{"retry", "saturate: 8, for: 1s, retry: obey", "saturate and retry exclude each other"},
		{"each", "saturate: 8, for: 1s, connections: each", "saturate and connections: each exclude each other"},
		{"vary", "saturate: 8, for: 1s, vary: {query: q}", "saturate and vary exclude each other"},
		{"no connections", "saturate: 0, for: 1s", "saturate"},
		{"neither", "for: 1s", "add pace: 20/s or saturate: 8"},
	}
	for _, tt := range tests {
		_, err := Parse("x.yaml", []byte("limit: {burst: 9, rate: 1/s}\nphases: [{name: a, "+tt.phase+"}]\n"), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
