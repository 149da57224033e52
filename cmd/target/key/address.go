package key

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

const (
	defaultPrefix = 64 // bits: what one host or household is given of IPv6
	maxTrusted    = 16 // proxies in front of a server
)

// unixPeer is the address of everybody who comes over a unix socket.
const unixPeer = "unix"

func peerKind() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "ip",
			Settings: "ipv6=BITS",
			Example:  "ip{ipv6=64}",
			Text:     "The address of the peer, of an IPv6 one its first 64 bits unless ipv6 says otherwise; everybody on a unix socket is one client.",
		},
		build: func(_ string, r *mode.Reader) (part, error) {
			bits, text, err := readPrefix("ip", r)
			return part{text, "peer address", func(r *http.Request) string { return peer(r.RemoteAddr, bits) }}, err
		},
	}
}

func xffKind() kind {
	return proxied("xff", "X-Forwarded-For", func(h http.Header, n int) (netip.Addr, bool) {
		element, ok := fromEnd(h["X-Forwarded-For"], n)
		if !ok {
			return netip.Addr{}, false
		}
		return parseAddress(element)
	})
}

func forwardedKind() kind {
	return proxied("forwarded", "Forwarded", func(h http.Header, n int) (netip.Addr, bool) {
		return forwardedFor(h["Forwarded"], n)
	})
}

// proxied is a client's address as n trusted proxies have written it down: the
// n-th from the end of the list, since each proxy adds at the end the address
// that it was asked from, and the one nearest to us is our peer. Everything
// further left is whatever the client wrote. Where that element is missing or
// is no address, the peer's own address counts, and never one further left.
func proxied(name, header string, client func(h http.Header, n int) (netip.Addr, bool)) kind {
	return kind{
		Doc: mode.Doc{
			Name:     name,
			Settings: "trusted=PROXIES,ipv6=BITS",
			Example:  name + "{trusted=1,ipv6=64}",
			Text:     "The address that the farthest of so many trusted proxies wrote into " + header + ": with trusted=n the n-th from the end. If it is missing or no address the peer's counts. The example shows the defaults.",
		},
		build: func(_ string, r *mode.Reader) (part, error) {
			n := r.IntOr("trusted", 1)
			r.Require(n >= 1 && n <= maxTrusted, "trusted", fmt.Sprintf("give 1 to %d proxies", maxTrusted))
			bits, _, err := readPrefix(name, r)
			p := part{
				text:  fmt.Sprintf("%s{trusted=%d,ipv6=%d}", name, n, bits),
				words: "client address in " + header,
				of: func(r *http.Request) string {
					if a, ok := client(r.Header, int(n)); ok {
						return prefix(a, bits)
					}
					return peer(r.RemoteAddr, bits)
				},
			}
			return p, err
		},
	}
}

// readPrefix reads the last of the settings and ends the reading.
func readPrefix(name string, r *mode.Reader) (bits int, text string, err error) {
	n := r.IntOr("ipv6", defaultPrefix)
	r.Require(n >= 1 && n <= 128, "ipv6", "give 1 to 128 bits")
	text = name
	if n != defaultPrefix {
		text += "{ipv6=" + strconv.FormatInt(n, 10) + "}"
	}
	return int(n), text, r.Done()
}

// peer is the address at the other end of the connection, without the port.
func peer(remote string, bits int) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return unixPeer
	}
	return prefix(ap.Addr(), bits)
}

// prefix is the address of an IPv4 client, also if an IPv6 listener shows it as
// a mapped one, and the first bits of that of an IPv6 client.
func prefix(a netip.Addr, bits int) string {
	a = a.Unmap().WithZone("")
	if a.Is4() || bits == 128 {
		return a.String()
	}
	// bits are 1 to 128, so this cannot fail.
	p, _ := a.Prefix(bits)
	return p.String()
}
