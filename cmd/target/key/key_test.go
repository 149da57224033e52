package key

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func parse(t testing.TB, s string) Key {
	t.Helper()
	k, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestOf(t *testing.T) {
	req := httptest.NewRequest("GET", "/verify/1234?token=q1&token=q2&empty=", nil)
	req.Host = "api.example"
	req.RemoteAddr = "192.0.2.7:41234"
	req.Header.Add("X-Api-Key", "h1")
	req.Header.Add("X-Api-Key", "h2")
	req.Header.Set("X-Empty", "")
	req.AddCookie(&http.Cookie{Name: "sid", Value: "c|1"})
	tests := []struct {
		key, want string
		ok        bool
	}{
		{"none", "", true},
		{"ip", "192.0.2.7", true},
		{"header:X-Api-Key", "h1", true},
		{"header:x-api-key", "h1", true},
		{"header:Host", "api.example", true},
		{"header:X-Empty", "", false},
		{"header:X-Absent", "", false},
		{"query:token", "q1", true},
		{"query:empty", "", false},
		{"query:absent", "", false},
		{"cookie:sid", "c|1", true},
		{"cookie:absent", "", false},
		{"path", "/verify/1234", true},
		{"path{segments=1}", "/verify", true},
		{"path{segments=2}", "/verify/1234", true},
		{"path{segments=3}", "/verify/1234", true},
		{"ip+header:X-Api-Key", "192.0.2.7|h1", true},
		{"header:X-Api-Key+cookie:sid", `h1|c\|1`, true},
		{"ip+header:X-Absent", "", false},
		{"xff", "192.0.2.7", true}, // no header: the peer
		{"forwarded", "192.0.2.7", true},
	}
	for _, tt := range tests {
		if got, ok := parse(t, tt.key).Of(req); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", tt.key, got, ok, tt.want, tt.ok)
		}
	}
}

func TestPath(t *testing.T) {
	tests := []struct {
		path string
		n    int
		want string
	}{
		{"", 0, "/"},
		{"/", 1, "/"},
		{"/a/../b", 0, "/b"},
		{"//a//b", 1, "/a"},
		{"/a/b/", 0, "/a/b"},
		{"/../../a", 1, "/a"},
	}
	for _, tt := range tests {
		if got := firstSegments(tt.path, tt.n); got != tt.want {
			t.Errorf("%q, %d segments: got %q, want %q", tt.path, tt.n, got, tt.want)
		}
	}
}

func TestPeer(t *testing.T) {
	tests := []struct {
		remote string
		bits   int
		want   string
	}{
		{"192.0.2.7:1", 64, "192.0.2.7"},
		{"[::ffff:192.0.2.7]:1", 64, "192.0.2.7"},
		{"[2001:db8::1]:1", 128, "2001:db8::1"},
		{"[2001:db8::1]:1", 64, "2001:db8::/64"},
		{"[2001:db8:0:0:ffff::1]:1", 64, "2001:db8::/64"},
		{"[2001:db8:0:1::1]:1", 64, "2001:db8:0:1::/64"},
		{"[2001:db8:0:1::1]:1", 48, "2001:db8::/48"},
		{"[fe80::1%eth0]:1", 128, "fe80::1"},
		{"@", 64, "unix"},
		{"", 64, "unix"},
	}
	for _, tt := range tests {
		if got := peer(tt.remote, tt.bits); got != tt.want {
			t.Errorf("peer(%q, %d): got %q, want %q", tt.remote, tt.bits, got, tt.want)
		}
	}
}

// A host that goes through its 64 addresses of one /64 is one client, and its
// neighbour is another.
func TestPrefixIsOneClient(t *testing.T) {
	k := parse(t, "xff{trusted=1,ipv6=64}")
	of := func(address string) string {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Forwarded-For", address)
		v, _ := k.Of(r)
		return v
	}
	first := of("2001:db8:1:2::1")
	for _, a := range []string{"2001:db8:1:2::2", "2001:db8:1:2:ffff:ffff:ffff:ffff", "[2001:db8:1:2::3]:443"} {
		if got := of(a); got != first {
			t.Errorf("%s: got %s, want %s", a, got, first)
		}
	}
	if got := of("2001:db8:1:3::1"); got == first {
		t.Errorf("another network: got the same %s", got)
	}
}

// Parts are kept apart, and a long value does not become a short one that
// somebody else can send.
func TestValuesAreDistinct(t *testing.T) {
	k := parse(t, "header:A+header:B")
	long := strings.Repeat("x", 10_000)
	sent := [][2]string{{"a|b", "c"}, {"a", "b|c"}, {`a\`, `|b`}, {`a\|`, `b`}, {"a", "b"}, {long, "b"}, {long + "x", "b"}, {"a", long}}
	seen := map[string][2]string{}
	for _, s := range sent {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("A", s[0])
		r.Header.Set("B", s[1])
		v, ok := k.Of(r)
		if other, twice := seen[v]; twice || !ok {
			t.Errorf("%q and %q have the same value %q, %v", s, other, v, ok)
		}
		if len(v) > Longest {
			t.Errorf("%.20q: got %d bytes, want at most %d", s, len(v), Longest)
		}
		seen[v] = s
	}
	one := parse(t, "header:A")
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("A", long)
	digest, _ := one.Of(r)
	r.Header.Set("A", digest)
	if again, _ := one.Of(r); again == digest {
		t.Errorf("who sends the digest of a long key gets its budget")
	}
}

func TestParseText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"none", "none"},
		{"ip", "ip"},
		{"ip{}", "ip"},
		{"ip{ipv6=64}", "ip"},
		{"ip{ipv6=128}", "ip{ipv6=128}"},
		{"xff", "xff{trusted=1,ipv6=64}"},
		{"forwarded{trusted=2}", "forwarded{trusted=2,ipv6=64}"},
		{" ip + header:X ", "ip+header:X"},
		{"path{segments=2}+cookie:sid+query:t", "path{segments=2}+cookie:sid+query:t"},
	}
	for _, tt := range tests {
		k, err := Parse(tt.in)
		if err != nil || k.String() != tt.want {
			t.Errorf("%q: got %v, %v, want %s", tt.in, k, err, tt.want)
		}
		if again, err := Parse(k.String()); err != nil || again.String() != k.String() {
			t.Errorf("%q: String gives %q, which is read as %v, %v", tt.in, k, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ in, says string }{
		{"", "there are ip, xff"},
		{"head:X", "did you mean header?"},
		{"header", "write header:NAME"},
		{"header:", "write header:NAME"},
		{"header:a b", "cannot be the name of a header"},
		{"header:A+B", "part \"B\" is not known"},
		{"ip:x", "takes no name"},
		{"ip+ip", "given twice"},
		{"ip+", "part \"\" is not known"},
		{"ip+none", "part \"none\" is not known"},
		{"ip{ipv6=129}", "give 1 to 128 bits"},
		{"ip{ipv4=24}", "did you mean ipv6?"},
		{"xff{trusted=0}", "give 1 to 16 proxies"},
		{"xff{trust=1}", "did you mean trusted?"},
		{"xff{trusted=1", "not closed"},
		{"path{segments=0}", "give 1 to 32"},
	}
	for _, tt := range tests {
		if k, err := Parse(tt.in); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: got %v, %v, want an error that says %q", tt.in, k, err, tt.says)
		}
	}
}

func TestExamplesParse(t *testing.T) {
	for _, d := range List() {
		if k, err := Parse(d.Example); err != nil || k.Words() == "" && d.Name != "none" {
			t.Errorf("%s: its example %s gives %v", d.Name, d.Example, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, d := range List() {
		f.Add(d.Example)
	}
	f.Add("ip{ipv6=1}+header:X+path{segments=3}")
	f.Fuzz(func(t *testing.T, s string) {
		k, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(k.String())
		if err != nil || again.String() != k.String() {
			t.Errorf("%q is read as %q, which is read as %v, %v", s, k, again, err)
		}
	})
}
