package score

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
)

// View is how cases are looked at: over a network, with one of the scenarios.
type View struct {
	Name     string
	Network  virtual.Network
	Real     bool // over loopback in real time instead
	Thorough bool // and with the word that nothing but the key tells clients apart
}

// Distances are the round trips of the published table.
func Distances() []time.Duration { return []time.Duration{time.Millisecond, 20 * time.Millisecond} }

// Views are the scenarios over networks with these round trips, the standard
// scenario first.
func Views(distances []time.Duration, thorough bool) (all []View) {
	for _, rtt := range distances {
		all = append(all, View{fmt.Sprint("check ", rtt), network(rtt), false, false})
	}
	for _, rtt := range distances {
		if thorough {
			all = append(all, View{fmt.Sprint("thorough ", rtt), network(rtt), false, true})
		}
	}
	return all
}

// Loopback is the standard scenario, and the thorough one, in real time.
func Loopback(thorough bool) []View {
	all := []View{{Name: "check", Real: true}}
	if thorough {
		all = append(all, View{Name: "thorough", Real: true, Thorough: true})
	}
	return all
}

// network is one with a round trip: near, in the same house, nothing gets lost, and
// far away more does.
func network(rtt time.Duration) virtual.Network {
	n := virtual.LAN()
	switch {
	case rtt >= 100*time.Millisecond:
		n = virtual.Far()
	case rtt >= 5*time.Millisecond:
		n = virtual.WAN()
	}
	n.OneWay = rtt / 2
	return n
}
