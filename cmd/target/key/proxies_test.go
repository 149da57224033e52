package key

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// client is the value of a key whose peer is 10.0.0.1.
func client(t testing.TB, key, header string, lines ...string) string {
	t.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "10.0.0.1:4000"
	r.Header[header] = lines
	v, ok := parse(t, key).Of(r)
	if !ok {
		t.Fatalf("%s has no value for %q", key, lines)
	}
	return v
}

const peerAddress = "10.0.0.1"

func TestXForwardedFor(t *testing.T) {
	tests := []struct {
		name, key string
		lines     []string
		want      string
	}{
		{"one proxy", "xff", []string{"192.0.2.1"}, "192.0.2.1"},
		{"the first element is the client's own invention", "xff", []string{"203.0.113.9, 192.0.2.1"}, "192.0.2.1"},
		{"two proxies", "xff{trusted=2}", []string{"203.0.113.9, 192.0.2.1, 10.0.0.2"}, "192.0.2.1"},
		{"several lines are one list", "xff{trusted=2}", []string{"203.0.113.9", "192.0.2.1,10.0.0.2"}, "192.0.2.1"},
		{"a line for each", "xff{trusted=3}", []string{"192.0.2.1", "10.0.0.3", "10.0.0.2"}, "192.0.2.1"},
		{"white space", "xff", []string{"203.0.113.9 ,\t192.0.2.1 "}, "192.0.2.1"},
		{"a port", "xff", []string{"192.0.2.1:4711"}, "192.0.2.1"},
		{"IPv6", "xff{ipv6=128}", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 with a port", "xff{ipv6=128}", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"IPv6 in brackets", "xff{ipv6=128}", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"a mapped address is the IPv4 client", "xff", []string{"::ffff:192.0.2.1"}, "192.0.2.1"},

		{"no header", "xff", nil, peerAddress},
		{"an empty line", "xff", []string{""}, peerAddress},
		{"fewer than the proxies", "xff{trusted=2}", []string{"192.0.2.1"}, peerAddress},
		{"not an address", "xff", []string{"192.0.2.1, unknown"}, peerAddress},
		{"never further left", "xff{trusted=2}", []string{"203.0.113.9, nonsense, 10.0.0.2"}, peerAddress},
		{"an empty element counts", "xff", []string{"203.0.113.9,"}, peerAddress},
		{"a zone", "xff", []string{"fe80::1%eth0"}, peerAddress},
		{"IPv4 in brackets", "xff", []string{"[192.0.2.1]"}, peerAddress},
		{"an open bracket", "xff", []string{"[2001:db8::1"}, peerAddress},
		{"two addresses in one", "xff", []string{"192.0.2.1 192.0.2.2"}, peerAddress},
	}
	for _, tt := range tests {
		if got := client(t, tt.key, "X-Forwarded-For", tt.lines...); got != tt.want {
			t.Errorf("%s: %q: got %s, want %s", tt.name, tt.lines, got, tt.want)
		}
	}
}

func TestForwarded(t *testing.T) {
	tests := []struct {
		name, key string
		lines     []string
		want      string
	}{
		{"one proxy", "forwarded", []string{"for=192.0.2.1"}, "192.0.2.1"},
		{"names in any case", "forwarded", []string{"FOR=192.0.2.1;Proto=https"}, "192.0.2.1"},
		{"for comes last", "forwarded", []string{"proto=http;by=203.0.113.43;for=192.0.2.1"}, "192.0.2.1"},
		{"a port needs quotation marks", "forwarded", []string{`for="192.0.2.1:4711"`}, "192.0.2.1"},
		{"a made-up port", "forwarded", []string{`for="192.0.2.1:_http"`}, "192.0.2.1"},
		{"IPv6", "forwarded{ipv6=128}", []string{`for="[2001:db8::1]"`}, "2001:db8::1"},
		{"IPv6 with a port", "forwarded{ipv6=128}", []string{`for="[2001:db8::1]:4711"`}, "2001:db8::1"},
		{"the first element is the client's own invention", "forwarded", []string{"for=203.0.113.9, for=192.0.2.1"}, "192.0.2.1"},
		{"two proxies", "forwarded{trusted=2}", []string{"for=203.0.113.9, for=192.0.2.1, for=10.0.0.2"}, "192.0.2.1"},
		{"commas and semicolons in quotation marks", "forwarded", []string{`for=203.0.113.9;x="a,b;c\"", for=192.0.2.1`}, "192.0.2.1"},
		{"several lines are one list", "forwarded{trusted=2}", []string{"for=203.0.113.9", "for=192.0.2.1", "for=10.0.0.2"}, "192.0.2.1"},
		{"a bad line further left is not looked at", "forwarded", []string{`for="`, "for=192.0.2.1"}, "192.0.2.1"},
		{"empty pairs", "forwarded", []string{";for=192.0.2.1;;proto=http;"}, "192.0.2.1"},
		{"white space", "forwarded", []string{"for=192.0.2.1 ; proto=http\t"}, "192.0.2.1"},

		{"no header", "forwarded", nil, peerAddress},
		{"an empty line", "forwarded", []string{""}, peerAddress},
		{"fewer than the proxies", "forwarded{trusted=2}", []string{"for=192.0.2.1"}, peerAddress},
		{"unknown", "forwarded", []string{"for=unknown"}, peerAddress},
		{"a made-up name", "forwarded", []string{"for=_gazonk"}, peerAddress},
		{"no for", "forwarded", []string{"for=203.0.113.9, proto=http"}, peerAddress},
		{"for twice", "forwarded", []string{"for=192.0.2.1;for=192.0.2.2"}, peerAddress},
		{"an open quotation mark", "forwarded", []string{`for=203.0.113.9;x=", for=192.0.2.1`}, peerAddress},
		{"a quotation mark that swallows a proxy", "forwarded{trusted=2}", []string{`for=203.0.113.9;x=", for="[2001:db8::1]", for="[2001:db8::2]"`}, peerAddress},
		{"a backslash at the end", "forwarded", []string{`for="192.0.2.1\`}, peerAddress},
		{"a port without quotation marks", "forwarded", []string{"for=192.0.2.1:4711"}, peerAddress},
		{"IPv6 without brackets", "forwarded", []string{`for="2001:db8::1"`}, peerAddress},
		{"IPv4 in brackets", "forwarded", []string{`for="[192.0.2.1]"`}, peerAddress},
		{"a mapped address in brackets", "forwarded", []string{`for="[::ffff:192.0.2.1]"`}, "192.0.2.1"},
		{"a zone", "forwarded", []string{`for="[fe80::1%eth0]"`}, peerAddress},
		{"no value", "forwarded", []string{"for="}, peerAddress},
		{"no name", "forwarded", []string{"=192.0.2.1"}, peerAddress},
		{"a space before =", "forwarded", []string{"for =192.0.2.1"}, peerAddress},
		{"an empty port", "forwarded", []string{`for="192.0.2.1:"`}, peerAddress},
		{"a port of six digits", "forwarded", []string{`for="192.0.2.1:123456"`}, peerAddress},
		{"the list syntax of X-Forwarded-For", "forwarded", []string{"192.0.2.1"}, peerAddress},
	}
	for _, tt := range tests {
		if got := client(t, tt.key, "Forwarded", tt.lines...); got != tt.want {
			t.Errorf("%s: %q: got %s, want %s", tt.name, tt.lines, got, tt.want)
		}
	}
}

// Whatever a client writes, in the same line or in one of its own, it is known
// by the address that the trusted proxy has seen.
func FuzzXForwardedFor(f *testing.F) {
	for _, s := range []string{"", "203.0.113.9", "203.0.113.9,", ",,,", "[::1", strings.Repeat(",", 100), "203.0.113.9:1, x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, written string) {
		for _, lines := range [][]string{{written + ", 192.0.2.1"}, {written, "192.0.2.1"}, {written, written + ",192.0.2.1:7"}} {
			if got := client(t, "xff", "X-Forwarded-For", lines...); got != "192.0.2.1" {
				t.Errorf("%q: got %s, want 192.0.2.1", lines, got)
			}
			if got := client(t, "xff{trusted=2}", "X-Forwarded-For", append(lines, "10.0.0.2")...); got != "192.0.2.1" {
				t.Errorf("%q behind two: got %s, want 192.0.2.1", lines, got)
			}
		}
	})
}

// The same for Forwarded, where a client can spoil the line that a proxy adds
// to: then it is known by the address of that proxy, and by nothing it wrote.
func FuzzForwarded(f *testing.F) {
	for _, s := range []string{"", "for=203.0.113.9", `for=203.0.113.9;x="`, `for="\`, `x="a"`, ";;;", ",", `for="[::1]:_a"`, "for=203.0.113.9;"} {
		f.Add(s)
	}
	proxies := []string{"for=192.0.2.1", `for="192.0.2.1:4711";proto=https`, `proto="http";for="192.0.2.1"`, `by="[2001:db8::9]";for=192.0.2.1;host="a,b"`}
	f.Fuzz(func(t *testing.T, written string) {
		for _, added := range proxies {
			if got := client(t, "forwarded", "Forwarded", written, added); got != "192.0.2.1" {
				t.Errorf("%q in a line of its own before %s: got %s, want 192.0.2.1", written, added, got)
			}
			for _, lines := range [][]string{{written + ", " + added}, {written, written + "," + added}} {
				if got := client(t, "forwarded", "Forwarded", lines...); got != "192.0.2.1" && got != peerAddress {
					t.Errorf("%q: got %s, want 192.0.2.1 or %s", lines, got, peerAddress)
				}
				got := client(t, "forwarded{trusted=2}", "Forwarded", lines[len(lines)-1]+", for=10.0.0.2")
				if got != "192.0.2.1" && got != peerAddress {
					t.Errorf("%q behind two: got %s, want 192.0.2.1 or %s", lines, got, peerAddress)
				}
			}
		}
	})
}

// The longest header that a server takes, 16 KiB, filled with what is most work.
func BenchmarkLongHeaders(b *testing.B) {
	for _, tt := range []struct{ name, key, header, line string }{
		{"xff", "xff", "X-Forwarded-For", strings.Repeat("203.0.113.9,", 1300)},
		{"forwarded-commas", "forwarded", "Forwarded", strings.Repeat(",", 16_000)},
		{"forwarded-pairs", "forwarded", "Forwarded", strings.Repeat("for=203.0.113.9;by=x,", 760)},
		{"forwarded-semicolons", "forwarded", "Forwarded", strings.Repeat(";", 16_000)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			k := parse(b, tt.key)
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header[tt.header] = []string{tt.line}
			b.ReportAllocs()
			for b.Loop() {
				k.Of(r)
			}
		})
	}
}
