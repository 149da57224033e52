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

// Scenarios are the standard scenario and the thorough one.
func Scenarios() []string { return []string{"check", thorough} }

const thorough = "thorough"

// Views are scenarios over networks with these round trips.
func Views(scenarios []string, distances []time.Duration) (all []View) {
	for _, s := range scenarios {
		for _, rtt := range distances {
			all = append(all, View{Name: fmt.Sprint(s, " ", rtt), Network: network(rtt), Thorough: s == thorough})
		}
	}
	return all
}

// Loopback are scenarios in real time.
func Loopback(scenarios []string) (all []View) {
	for _, s := range scenarios {
		all = append(all, View{Name: s, Real: true, Thorough: s == thorough})
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
