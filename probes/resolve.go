package probes

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/dnscache"
)

// addresses are where a host can be reached. They are looked up before the run,
// refreshed in the background while it lasts, and used in turn.
type addresses struct {
	host  string
	guard Guard
	dns   *dnscache.Resolver
	known atomic.Pointer[[]netip.Addr]
	turn  atomic.Uint32
}

// resolve looks the host up and checks that all its addresses may be fired at.
func resolve(ctx context.Context, host string, guard Guard) (*addresses, error) {
	a := &addresses{host: host, guard: guard}
	if ip, err := netip.ParseAddr(host); err == nil {
		if err := guard.check(host, ip); err != nil {
			return nil, err
		}
		a.known.Store(&[]netip.Addr{ip})
		return a, nil
	}
	a.dns = &dnscache.Resolver{Timeout: 5 * time.Second}
	return a, a.find(ctx)
}

// find looks the host up for the first time.
func (a *addresses) find(ctx context.Context) (err error) {
	for try := range 3 {
		if try > 0 {
			// The cache keeps a failed look-up until it is refreshed.
			a.dns.Refresh(false)
		}
		if err = a.look(ctx); err == nil || Hint(err) != "" {
			return err
		}
	}
	return hinted(fmt.Errorf("looking up %s: %w", a.host, err), "check the host name in the URL, and that this machine can resolve it")
}

// look takes the addresses that the cache has.
func (a *addresses) look(ctx context.Context) error {
	texts, err := a.dns.LookupHost(ctx, a.host)
	if err != nil {
		return err
	}
	var found []netip.Addr
	for _, t := range slices.Clone(texts) { // the slice is the cache's own
		ip, err := netip.ParseAddr(t)
		if err != nil {
			continue
		}
		if err := a.guard.check(a.host, ip); err != nil {
			return err
		}
		found = append(found, ip)
	}
	if len(found) == 0 {
		return fmt.Errorf("%s has no address", a.host)
	}
	a.known.Store(&found)
	return nil
}

// refresh looks the host up again and again until ctx ends. A look-up that
// fails keeps the addresses of the one before.
func (a *addresses) refresh(ctx context.Context) {
	if a.dns == nil {
		return
	}
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.dns.RefreshWithOptions(dnscache.ResolverRefreshOptions{PersistOnFailure: true})
			_ = a.look(ctx) // the known ones stay
		}
	}
}

// next is the address whose turn it is.
func (a *addresses) next() netip.Addr {
	known := *a.known.Load()
	return known[int(a.turn.Add(1)-1)%len(known)]
}

// local reports whether every address is one of 127.0.0.0/8 on this machine, which
// any other of them can connect to.
func (a *addresses) local() bool {
	for _, ip := range *a.known.Load() {
		if ip = ip.Unmap(); !ip.Is4() || !ip.IsLoopback() {
			return false
		}
	}
	return true
}
