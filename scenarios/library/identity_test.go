package library

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func keyed(t *testing.T, key string) scenarios.Limit {
	t.Helper()
	k, err := scenarios.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Key: k, Slack: scenarios.DefaultSlack()}
}

// varying are the phases that vary something, but for which connection is taken.
func varying(s scenarios.Scenario) (names []string) {
	for _, p := range s.Phases {
		if !p.Vary.None() && p.Vary.Part != scenarios.PartConnection {
			names = append(names, p.Name)
		}
	}
	return names
}

// Nothing is varied that was not declared to make no difference, and what is not
// asked for that is told.
func TestIdentityIsDeclared(t *testing.T) {
	same := func(texts ...string) (all []scenarios.Vary) {
		for _, text := range texts {
			v, err := scenarios.ParseSame(text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	tests := []struct {
		key  string
		same []scenarios.Vary
		want []string
		left []string // of the thorough scenario
	}{
		{"header:X-Api-Key", nil, nil, []string{"spoof", "invented", "spellings", "methods", "bodies"}},
		{"ip", nil, nil, []string{"spoof", "invented", "spellings", "methods", "bodies"}},
		{"ip{ipv6=64}", nil, nil, []string{"spoof", "invented", "spellings", "methods", "bodies", "ladder"}},
		{"none", nil, nil, nil},
		{"xff", nil, []string{"spoof-x-forwarded-for", "thief-x-forwarded-for"}, []string{"invented", "spellings", "methods", "bodies"}},
		{"xff{ipv6=64}", nil, []string{"spoof-x-forwarded-for", "thief-x-forwarded-for", "ladder"}, []string{"invented", "spellings", "methods", "bodies"}},
		{"header:X-Api-Key", same("path:/a,/b", "query:code", "query:code", "header:X-Api-Key"), []string{"invented-code", "spelling-1"}, []string{"spoof", "methods", "bodies"}},
		{"header:X-Api-Key", same("path:/v/{n}", "method:GET,HEAD", "header:X-Real-IP"), []string{"spoof-x-real-ip", "invented-1", "method-1"}, []string{"spellings", "bodies"}},
	}
	for _, tt := range tests {
		l := keyed(t, tt.key)
		for name, draw := range map[string]func(scenarios.Limit, Circumstances) (scenarios.Scenario, []Omission){"standard": Standard, "thorough": Thorough} {
			s, left := draw(l, Circumstances{Same: tt.same})
			if got := varying(s); !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s: got %v varied, want %v", tt.key, name, got, tt.want)
			}
			if err := s.Check(); err != nil {
				t.Errorf("%s, %s: %v", tt.key, name, err)
			}
			var missing []string
			for _, o := range left {
				missing = append(missing, o.Track)
			}
			if name == "thorough" && !slices.Equal(missing, tt.left) {
				t.Errorf("%s: got %v left out, want %v", tt.key, missing, tt.left)
			}
		}
	}
}

// What the traps of identity cost at most is what their plans come to at most.
func TestIdentityPrices(t *testing.T) {
	for _, key := range []string{"header:X-Api-Key", "xff{ipv6=64}", "forwarded", "ip"} {
		l := keyed(t, key)
		c := Circumstances{Same: Identity(l.Key)}
		d := newDesign(l, c)
		for name, price := range Prices(l, c) {
			trap := Traps()[slices.IndexFunc(Traps(), func(t Trap) bool { return t.Name == name })]
			s, _ := d.lay(name, []Trap{trap})
			p, err := s.Plan(scenarios.Supply{})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Phases) > 0 && p.Most() != price.Requests {
				t.Errorf("%s by %s: got a price of %d requests, and the plan comes to %d", name, key, price.Requests, p.Most())
			}
			if len(s.Phases) > 0 && p.Length > price.Length+time.Second {
				t.Errorf("%s by %s: it was said to take %v, and the plan takes %v", name, key, price.Length, p.Length)
			}
		}
	}
}

// With keys that are given, the victim and who writes its address down are two of
// them, and the victim asks for no more than it has.
func TestVictimIsAnother(t *testing.T) {
	l := keyed(t, "xff")
	for keys := 1; keys <= 4; keys++ {
		s, _ := Standard(l, Circumstances{Keys: keys})
		var given []string
		for i := range keys {
			given = append(given, fmt.Sprintf("key %d", i+1))
		}
		p, err := s.Plan(scenarios.Supply{Given: given})
		if err != nil {
			t.Fatal(err)
		}
		victims, thieves := map[int32]int{}, map[int32]bool{}
		for shot := range p.Shots.All() {
			switch name := p.Phases[shot.Phase]; {
			case strings.HasPrefix(name, "thief"):
				thieves[shot.Key] = true
				if p.Keys[shot.Other] != p.Ask(shot).Other || shot.Other == shot.Key {
					t.Errorf("%d keys: who writes down addresses writes %s, and is %s", keys, p.Ask(shot).Other, p.Keys[shot.Key])
				}
			case strings.HasPrefix(name, "victim"):
				victims[shot.Key]++
			}
		}
		if keys == 1 && len(victims)+len(thieves) > 0 || keys > 1 && (len(victims) != 1 || len(thieves) == 0) {
			t.Errorf("%d keys: got %d victims and %d thieves", keys, len(victims), len(thieves))
		}
		for v, n := range victims {
			if n != 10 || thieves[v] {
				t.Errorf("%d keys: the victim asks for %d, and steals: %v", keys, n, thieves[v])
			}
		}
	}
}
