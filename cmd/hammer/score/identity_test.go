package score

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// identities are servers that mistake who a client is, with the words that the
// verdict has to find for it.
var identities = []struct {
	name     string
	on       defect.On
	defects  []string
	identity bool // it takes the word that nothing but the key tells clients apart
	says     string
}{
	{"xff-leftmost", defect.On{Key: "xff{trusted=1}"}, []string{"xff-leftmost"}, false, "X-Forwarded-For chooses the budget"},
	{"v6-per-address", defect.On{Key: "xff{trusted=1}"}, []string{"v6-per-address{bits=128}"}, false, "the address within its prefix chooses the budget"},
	{"v6-per-address, one bit too many", defect.On{Key: "xff{trusted=1}"}, []string{"v6-per-address{bits=65}"}, false, "the address within its prefix chooses the budget"},
	{"chosen-key by query", defect.On{}, []string{"chosen-key{part=query:code}"}, true, "the query parameter code chooses the budget"},
	{"chosen-key by header", defect.On{}, []string{"chosen-key{part=header:X-Real-IP}"}, true, "X-Real-IP chooses the budget"},
	{"chosen-key by cookie", defect.On{}, []string{"chosen-key{part=cookie:session}"}, true, "the cookie session chooses the budget"},
	{"conn-bucket", defect.On{}, []string{"conn-bucket"}, true, ""},
	{"instances", defect.On{}, []string{"instances{n=3,route=conn}"}, false, ""},
	{"share", defect.On{}, []string{"share{n=3,route=conn}"}, false, ""},
	{"batch", defect.On{CostBody: "array"}, []string{"batch{charge=1}"}, false, ""},
	{"attach", defect.On{}, []string{"attach{path=/other}"}, false, ""},
	{"common deadline", defect.On{}, []string{"ra{form=common-deadline}"}, false, ""},
}

// Each mistake about who a client is is found by the thorough scenario, or by what
// was declared of the key, and the same server without it is not accused.
func TestIdentity(t *testing.T) {
	seeds := uint64(1)
	if !testing.Short() {
		seeds = 2
	}
	for _, tt := range identities {
		for _, n := range []virtual.Network{virtual.LAN(), virtual.WAN()} {
			for seed := uint64(1); seed <= seeds; seed++ {
				for _, wrong := range []bool{true, false} {
					var defects []string
					if wrong {
						defects = tt.defects
					}
					s, err := shown(tt.on, defects...)
					if err != nil {
						t.Fatal(err)
					}
					o, err := Run(s, Trial{Network: n, Thorough: true, Identity: tt.identity || !wrong, Seed: seed})
					if err != nil {
						t.Fatal(err)
					}
					switch {
					case wrong && o.Status != results.Broken:
						t.Errorf("%s, %v one way, seed %d: got %v, want broken: %s", tt.name, n.OneWay, seed, o.Status, o.Headline)
					case wrong && !strings.Contains(o.Headline, tt.says):
						t.Errorf("%s, %v one way, seed %d: got %q, want it to say %q", tt.name, n.OneWay, seed, o.Headline, tt.says)
					case !wrong && o.Status == results.Broken:
						t.Errorf("twin of %s, %v one way, seed %d: accused: %s", tt.name, n.OneWay, seed, o.Headline)
					}
					t.Logf("%s %v %v seed %d: %v %v, %d requests: %s", tt.name, wrong, n.OneWay, seed, o.Status, o.Broken, o.Requests, o.Headline)
				}
			}
		}
	}
}

// Where paths were declared to be one, a limiter that counts each spelling by
// itself is found out; where they were not, it is right.
func TestSpellings(t *testing.T) {
	same, err := scenarios.ParseSame("path:/v1/a,/v1/A,/v1/a/")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := scenarios.ParseSame("path:/verify/{n}")
	if err != nil {
		t.Fatal(err)
	}
	methods, err := scenarios.ParseSame("method:GET,HEAD")
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := shown(defect.On{}, "chosen-key{part=path}")
	if err != nil {
		t.Fatal(err)
	}
	right, err := shown(defect.On{})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		subject Subject
		same    []scenarios.Vary
		want    results.Status
		says    string
	}{
		{wrong, []scenarios.Vary{same}, results.Broken, "with the path changed each time: the path chooses the budget"},
		{wrong, []scenarios.Vary{codes}, results.Broken, "with the path changed each time: the path chooses the budget"},
		{wrong, nil, results.Kept, ""},
		{wrong, []scenarios.Vary{methods}, results.Kept, ""},
		{right, []scenarios.Vary{same, codes, methods}, results.Kept, ""},
	}
	for i, tt := range tests {
		o, err := Run(tt.subject, Trial{Network: virtual.LAN(), Same: tt.same, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if o.Status != tt.want || !strings.Contains(o.Headline, tt.says) {
			t.Errorf("%d: got %v: %s, want %v: %s", i, o.Status, o.Headline, tt.want, tt.says)
		}
	}
}

// No right server is accused of mistaking its clients, by whatever it tells them
// apart and whatever algorithm it counts with, through any network.
func TestRightIdentities(t *testing.T) {
	keys := []string{"header:X-Api-Key", "xff{trusted=1}", "xff{trusted=2,ipv6=56}", "forwarded", "forwarded{trusted=3}", "ip", "query:k", "cookie:c"}
	limits := []string{"token-bucket{burst=10,rate=5/1s}", "gcra{burst=2,rate=2/1s}", "fixed-window{rate=10/2s}", "fixed-window{rate=4/1s,align=first-hit}",
		"sliding-log{rate=10/2s}", "sliding-counter{rate=10/2s,test=le}", "lumps{burst=10,rate=5/1s}", "nginx{burst=5,rate=10/s,nodelay}", "token-bucket{burst=1,rate=5/1s}",
		"token-bucket{burst=60,rate=30/1s}"}
	networks := []virtual.Network{virtual.LAN(), virtual.WAN(), virtual.Far()}
	for i, key := range keys {
		for j, limit := range limits {
			if (i+j)%2 > 0 || testing.Short() && (i+j)%6 > 0 {
				continue // the half of them is enough at a time
			}
			s, err := shown(defect.On{Key: key, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			n := networks[(i+2*j)%len(networks)]
			o, err := Run(s, Trial{Network: n, Thorough: (i+j)%4 == 0, Identity: true, Seed: uint64(10*i + j + 1)})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status == results.Broken {
				t.Errorf("%s by %s, %v one way: accused of %v: %s", limit, key, n.OneWay, o.Broken, o.Headline)
			}
		}
	}
}

// A server that takes more addresses for one client than was declared refuses some
// of them for what others spent.
func TestWiderPrefix(t *testing.T) {
	for bits, want := range map[int]results.Status{48: results.Broken, 63: results.Broken, 64: results.Kept} {
		s, err := shown(defect.On{Key: fmt.Sprintf("xff{trusted=1,ipv6=%d}", bits)})
		if err != nil {
			t.Fatal(err)
		}
		s.Key.IPv6 = 64
		o, err := Run(s, Trial{Network: virtual.LAN(), Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		if o.Status != want {
			t.Errorf("by /%d: got %v, want %v: %s", bits, o.Status, want, o.Headline)
		}
	}
}
