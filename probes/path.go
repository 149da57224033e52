package probes

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/ratehammer/ratehammer/probes/wire"
)

// Path is how requests travel.
type Path uint8

// The paths.
const (
	PathBest     Path = iota // the fast one wherever it can be taken
	PathFast                 // the one of probes/wire: HTTP/1.1 over plain TCP, in a loop of our own
	PathFull                 // net/http, which speaks TLS and HTTP/2 as well
	PathH2C                  // net/http, and HTTP/2 over plain TCP: the server must speak it
	PathPortable             // the fast one in the form that all systems have, for comparison
)

var pathNames = []string{"best", "fast", "full", "h2c", "portable"}

func (p Path) String() string { return pathNames[p] }

// ParsePath reads what String prints.
func ParsePath(s string) (Path, error) {
	for i, name := range pathNames {
		if s == name {
			return Path(i), nil
		}
	}
	return PathBest, fmt.Errorf("%q is no path: fast is HTTP/1.1 over plain TCP in a loop of our own, full is net/http, h2c is HTTP/2 over plain TCP, best chooses", s)
}

// fast reports whether the fast path is taken. It has no TLS, and a server behind TLS may
// speak HTTP/2.
func (g *Gun) fast() bool {
	return g.target.Path != PathFull && g.target.Path != PathH2C && g.url.Scheme == "http"
}

// path is the one that a run took, for people.
func (r *run) path() string {
	if r.fast != nil {
		return "fast (" + r.fast.loop.Name() + ")"
	}
	text := "full (net/http)"
	if r.gun.target.Path == PathH2C {
		text = "full (net/http, h2c)"
	}
	if r.packed.Load() {
		text += ", volleys over HTTP/2 in one write each"
	}
	return text
}

// take sets up the path that the run takes.
func (r *run) take() error {
	if r.fast != nil || !r.gun.fast() {
		return nil
	}
	var err error
	r.fast, err = r.newFast(0)
	return err
}

// newFast makes the n-th loop of a run.
func (r *run) newFast(n int) (*fast, error) {
	f := &fast{run: r, n: n, read: newReadings(r.gun), grounds: map[*chute]*ground{}, prepared: map[preparedFor]*prepared{}}
	var err error
	f.loop, err = wire.New(wire.Options{
		Now: r.clk.now, To: r.gun.to.endpoint(r.gun.url), Number: func() int32 { return r.gun.ids.Add(1) },
		Timeout: r.gun.target.Timeout, Portable: r.gun.target.Path == PathPortable,
	})
	return f, err
}

// endpoint gives where the next connection goes.
func (a *addresses) endpoint(u *url.URL) func() netip.AddrPort {
	port, _ := strconv.ParseUint(portOf(u.Scheme, u.Port()), 10, 16) // 0, which nothing listens at, where it is none
	return func() netip.AddrPort { return netip.AddrPortFrom(a.next(), uint16(port)) }
}

// leave frees what the path holds.
func (r *run) leave() {
	if r.fast != nil {
		r.fast.loop.Close()
	}
}
