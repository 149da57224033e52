package key

import (
	"net/netip"
	"strings"
)

// fromEnd is the n-th element from the end of a list field, all of whose lines
// are one list. Each place between commas counts, an empty one too: it belongs
// to whoever wrote the commas. It reads from the right, so that what a client
// has written in front costs nothing and changes nothing.
func fromEnd(lines []string, n int) (element string, ok bool) {
	for i := len(lines) - 1; i >= 0; i-- {
		rest := lines[i]
		for {
			comma := strings.LastIndexByte(rest, ',')
			if n--; n == 0 {
				return strings.Trim(rest[comma+1:], " \t"), true
			}
			if comma < 0 {
				break
			}
			rest = rest[:comma]
		}
	}
	return "", false
}

// parseAddress reads what proxies write: an IPv4 or IPv6 address, with or
// without a port, an IPv6 one with or without brackets. One with a zone is an
// address of the proxy's own network card and of no client.
func parseAddress(s string) (a netip.Addr, ok bool) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		var ap netip.AddrPort
		ap, err = netip.ParseAddrPort(s)
		a = ap.Addr()
	}
	if inner, bracketed := strings.CutPrefix(s, "["); err != nil && bracketed {
		inner, bracketed = strings.CutSuffix(inner, "]")
		if a, err = netip.ParseAddr(inner); !bracketed || a.Is4() {
			return netip.Addr{}, false
		}
	}
	return a, err == nil && a.Zone() == ""
}
