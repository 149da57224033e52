package probes

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Target is what is fired at, and how.
type Target struct {
	URL      string
	Request  scenarios.Request
	Key      scenarios.Key
	Answers  scenarios.Answers
	Timeout  time.Duration     // after which a request is given up; 0: scenarios.DefaultTimeout
	Insecure bool              // the server's certificate is not verified
	Cost     string            // name of the header that says how many tokens a request asks for; empty: none does
	CostBody string            // how the body says it: scenarios.CostArray; empty: it does not
	Guard    Guard             // which addresses may be reached
	Nonce    string            // what invented keys are made of; the same nonce makes the same keys
	Path     Path              // how requests travel; the zero Path is the best there is
	Values   map[string]string // by key label: the value that the server knows; a label without one is invented
}

// Gun is a target that is ready to be fired at. Close frees its connections.
type Gun struct {
	target  Target
	url     *url.URL
	to      *addresses
	ids     atomic.Int32
	cancel  context.CancelFunc
	doubt   string   // why what is done to the store may be done to another one's; empty: it is proven
	actor   Actor    // does what plans say is done to the server; nil: nobody
	meeting *meeting // where a run waits for others before it begins; nil: it does not

	chutes []*chute // one for each source address, the system's choice first; of the goroutine that sets up a run

	inventing sync.Mutex
	invented  map[string]uint32 // by label: the number of its address
}

// Aim checks the target's URL, looks its host up, and keeps to the guard. Its
// errors carry hints.
func Aim(ctx context.Context, t Target) (*Gun, error) {
	u, err := parseURL(t.URL)
	if err != nil {
		return nil, err
	}
	if t.Timeout == 0 {
		t.Timeout = scenarios.DefaultTimeout
	}
	if (t.Path == PathFast || t.Path == PathPortable) && u.Scheme != "http" {
		return nil, hinted(fmt.Errorf("the fast path speaks HTTP/1.1 over plain TCP, and the URL is %s", u.Scheme), "leave --path out, or write --path full")
	}
	if t.Path == PathH2C && u.Scheme != "http" {
		return nil, hinted(fmt.Errorf("h2c is HTTP/2 over plain TCP, and the URL is %s", u.Scheme), "leave --path out: over TLS the server says whether it speaks HTTP/2")
	}
	to, err := resolve(ctx, u.Hostname(), t.Guard)
	if err != nil {
		return nil, err
	}
	background, cancel := context.WithCancel(context.Background())
	g := &Gun{target: t, url: u, to: to, cancel: cancel, invented: map[string]uint32{}}
	g.chutes = []*chute{g.newChute(netip.Addr{})}
	go to.refresh(background)
	return g, nil
}

// Close frees what the gun holds.
func (g *Gun) Close() {
	g.cancel()
	for _, c := range g.chutes {
		c.close()
	}
}

func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	var bad *url.Error
	switch {
	case errors.As(err, &bad):
		return nil, hinted(fmt.Errorf("the URL %q cannot be read: %w", s, bad.Err), "write it in full, such as http://127.0.0.1:8080/")
	case err != nil:
		return nil, err
	case u.Host == "" && (u.Scheme == "http" || u.Scheme == "https"):
		return nil, hinted(fmt.Errorf("the URL %q names no host", s), "write it in full, such as http://127.0.0.1:8080/")
	case u.Scheme == "" || u.Host == "":
		return nil, hinted(fmt.Errorf("%q is not a full URL", s), "write it with its scheme: http://"+s+" or https://"+s)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, hinted(fmt.Errorf("the URL %q has the scheme %s", s, u.Scheme), "hammer speaks http and https")
	case u.User != nil:
		return nil, hinted(fmt.Errorf("the URL holds a user name"), "leave it out, and add --header 'Authorization: Basic ...' instead")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return u, nil
}

// Invents reports whether any number of fresh keys can be made up: a header,
// parameter or cookie can be; an address only where all of 127.0.0.0/8 is ours.
func (g *Gun) Invents() bool {
	switch g.target.Key.Kind {
	case scenarios.KeyHeader, scenarios.KeyQuery, scenarios.KeyCookie:
		return true
	case scenarios.KeyIP:
		return g.to.local() && (runtime.GOOS == "linux" || runtime.GOOS == "windows")
	}
	return false
}

// source is the address to connect from for a key; invalid: the system's choice.
func (g *Gun) source(label string) (netip.Addr, error) {
	if g.target.Key.Kind != scenarios.KeyIP {
		return netip.Addr{}, nil
	}
	given, ok := g.target.Values[label]
	switch {
	case ok:
		a, err := netip.ParseAddr(given)
		if err != nil {
			return a, hinted(fmt.Errorf("%s: %w", label, err), "with --key ip, the keys are this machine's own addresses")
		}
		return a, nil
	case !g.Invents():
		return netip.Addr{}, nil
	}
	return g.invent(label), nil
}

// invent gives each label an address of 127.0.0.0/8 that no other label has,
// beginning somewhere that depends on the nonce.
func (g *Gun) invent(label string) netip.Addr {
	// 127.1.0.1 to 127.250.255.250: neither 127.0.0.0/24, where servers
	// listen, nor an address that ends in 0 or 255.
	const low, middle, high = 250, 256, 250
	n := g.number(label, low*middle*high)
	return netip.AddrFrom4([4]byte{127, byte(1 + n/(low*middle)), byte(n / low % middle), byte(1 + n%low)})
}

// inventClient gives each label an address of 198.18.0.0/15 that no other label
// has: the addresses of nobody, set apart for tests of networks (RFC 2544). Those
// of 10.0.0.0/8 and the like a server may take for proxies, and pass over. Where
// the key says how many bits of an IPv6 address tell clients apart, it is one of
// 2001:db8::/32, which is set apart for documentation (RFC 3849): no two labels
// have those bits in common, and neighbours differ in the last of them alone.
func (g *Gun) inventClient(label string) netip.Addr {
	if bits := g.target.Key.IPv6; bits > 0 {
		return network6(g.number(label, 1<<min(bits-32, 24)), bits)
	}
	const low, middle, high = 250, 256, 2
	n := g.number(label, low*middle*high)
	return netip.AddrFrom4([4]byte{198, byte(18 + n/(low*middle)), byte(n / low % middle), byte(1 + n%low)})
}

// network6 is an address in the n-th network of so many bits.
func network6(n uint32, bits int) netip.Addr {
	b := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	for i := bits - 1; n > 0; i, n = i-1, n>>1 {
		b[i/8] |= byte(n&1) << (7 - i%8)
	}
	return netip.AddrFrom16(b)
}

// number gives each label one that no other has, of so many, which begin
// somewhere that depends on the nonce.
func (g *Gun) number(label string, most uint32) uint32 {
	g.inventing.Lock()
	defer g.inventing.Unlock()
	n, ok := g.invented[label]
	if !ok {
		n = uint32(len(g.invented))
		g.invented[label] = n
	}
	h := fnv.New32a()
	h.Write([]byte(g.target.Nonce))
	return (h.Sum32()%most + n) % most
}

// chuteFor is the chute of a source address, made when it is first asked for.
func (g *Gun) chuteFor(source netip.Addr) *chute {
	for _, c := range g.chutes {
		if c.lines.source == source {
			return c
		}
	}
	c := g.newChute(source)
	g.chutes = append(g.chutes, c)
	return c
}

func (g *Gun) tls() *tls.Config {
	if g.url.Scheme != "https" {
		return nil
	}
	return &tls.Config{ServerName: g.url.Hostname(), InsecureSkipVerify: g.target.Insecure,
		NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
}
