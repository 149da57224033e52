package defect

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func leftmost() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "xff-leftmost",
			Example: "xff-leftmost",
			Text:    "The client is the first address in X-Forwarded-For, which anybody may write there: fresh budgets for who makes up addresses, and none for whose address somebody else writes.",
		},
		rows:    []string{"D52"},
		on:      On{Key: "xff{trusted=1}"},
		reports: []string{"migadu/alps PR 18", "forgekeep/nebula-mesh PR 232", "avahowell/reqlimit issue 2"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			if err := r.Done(); err != nil {
				return err
			}
			if !byAddress(p.Key.String()) {
				return errors.New("xff-leftmost: no address tells clients apart here, give a key such as xff{trusted=1}")
			}
			p.asks(func(r *http.Request, a *store.Ask) bool {
				first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
				if address, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
					a.Key = network(address)
				}
				return true
			})
			return nil
		},
	}
}

// byAddress reports whether a key has a part that is an address.
func byAddress(key string) bool {
	for part := range strings.SplitSeq(key, "+") {
		name, _, _ := strings.Cut(part, "{")
		if name == "ip" || name == "xff" || name == "forwarded" {
			return true
		}
	}
	return false
}

// network is what an address is known by: of IPv6 the first 64 bits.
func network(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, _ := a.Prefix(64) // which an IPv6 address has
	return p.String()
}
