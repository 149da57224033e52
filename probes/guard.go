package probes

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Guard decides which addresses a run may reach. The zero Guard allows
// loopback and private networks alone.
type Guard struct {
	Allowed []string // host names or addresses that may be public
}

// check errs unless the address of this host may be fired at.
func (g Guard) check(host string, addr netip.Addr) error {
	addr = addr.Unmap()
	if addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() {
		return nil
	}
	names := func(allowed string) bool {
		return strings.EqualFold(strings.TrimSpace(allowed), host) || strings.TrimSpace(allowed) == addr.String()
	}
	if slices.ContainsFunc(g.Allowed, names) {
		return nil
	}
	if host == addr.String() {
		return hinted(fmt.Errorf("%s is a public address", host),
			"hammer does not fire at public addresses unless told to: if it is yours to test, add --allow "+host)
	}
	return hinted(fmt.Errorf("%s is at the public address %s", host, addr),
		"hammer does not fire at public addresses unless told to: if it is yours to test, add --allow "+host)
}
