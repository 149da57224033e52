package library

import "github.com/ratehammer/ratehammer/scenarios"

// ladder asks from many addresses within the prefix that is one client, which
// differ from the bit behind it on: limiters that look at one bit more have twice
// the budget for it, at two four times, and at all of them no end. That a prefix is
// not wider than declared, every other trap shows, since the clients that are
// invented differ in its last bit.
func ladder() Trap {
	return Trap{
		Name: "ladder", Says: "many addresses within one IPv6 prefix: they are one client",
		Finds: []Kind{PerAddress}, Keys: 1,
		Asks: func(l scenarios.Limit) bool { return l.Key.IPv6 > 0 && l.Key.IPv6 < 128 },
		unfit: func(d *design) string {
			if d.limit.Key.Kind == scenarios.KeyIP {
				return "addresses: connections leave from one address of a prefix; where a proxy tells it, give --key 'xff{ipv6=64}'"
			}
			return ""
		},
		called: func(*design) bool { return true }, // the key says that they are one; that it cannot be asked is told
		phases: func(d *design) track {
			t := d.varied("ladder", []scenarios.Vary{{Part: scenarios.PartAddress}})
			t.phases[0].Name = "ladder"
			return t
		},
	}
}
