package server

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ratehammer/ratehammer/scenarios"
)

// keyOf is what the client of a request is told apart by. A request whose key
// is absent or empty has none: it is the client's mistake and is answered 400,
// since a budget that all such clients share would be spent by strangers. Of a
// header, parameter or cookie that is sent several times the first one counts.
func keyOf(k scenarios.Key, r *http.Request) (key string, ok bool) {
	switch k.Kind {
	case scenarios.KeyNone:
		return "", true
	case scenarios.KeyIP:
		key = peer(r.RemoteAddr)
	case scenarios.KeyHeader:
		key = header(r, k.Name)
	case scenarios.KeyQuery:
		key = r.URL.Query().Get(k.Name)
	case scenarios.KeyCookie:
		if c, err := r.Cookie(k.Name); err == nil {
			key = c.Value
		}
	}
	return key, key != ""
}

// peer is the address without the port. An IPv4 client of an IPv6 listener is
// the same client as on an IPv4 one.
func peer(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return ""
	}
	return ap.Addr().Unmap().String()
}

// header is the first value of a header. net/http takes Host out of them.
func header(r *http.Request, name string) string {
	if strings.EqualFold(name, "Host") {
		return r.Host
	}
	return r.Header.Get(name)
}

func keyInWords(k scenarios.Key) string {
	switch k.Kind {
	case scenarios.KeyHeader:
		return "header " + k.Name
	case scenarios.KeyQuery:
		return "query parameter " + k.Name
	case scenarios.KeyCookie:
		return "cookie " + k.Name
	default:
		return "peer address"
	}
}

// costOf is how many tokens a request asks for: 1 unless the header says
// otherwise. It is not ok if the header does not hold a number.
func costOf(name string, r *http.Request) (cost int64, ok bool) {
	text := ""
	if name != "" {
		text = r.Header.Get(name)
	}
	if text == "" {
		return 1, true
	}
	cost, err := strconv.ParseInt(text, 10, 64)
	return cost, err == nil
}
