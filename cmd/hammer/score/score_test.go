package score

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
)

// The server in virtual time is judged as the one over sockets is.
func TestTrial(t *testing.T) {
	tests := []struct {
		defects []string
		want    results.Status
	}{
		{nil, results.Kept},
		{[]string{"off-by-one{delta=+1}"}, results.Broken},
		{[]string{"ra{form=window}"}, results.Broken},
		{[]string{"wall-clock{step=-10s,every=2s}"}, results.Broken},
	}
	for _, tt := range tests {
		for _, n := range []virtual.Network{virtual.LAN(), virtual.WAN()} {
			began := time.Now()
			s, err := shown(defect.On{}, tt.defects...)
			if err != nil {
				t.Fatal(err)
			}
			o, err := Run(s, Trial{Network: n, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v: %v %v, %d requests, %v", tt.defects, o.Status, o.Broken, o.Requests, time.Since(began))
			if o.Status != tt.want {
				t.Errorf("%v at %v: got %v, want %v: %s", tt.defects, n.OneWay, o.Status, tt.want, o.Headline)
			}
		}
	}
}
