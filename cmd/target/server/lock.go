package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// lock lets to the admin side who has its token. Where only this machine can
// reach it none is needed, unless one is given; where others can and none is
// given, one is made up.
func (s *Server) lock(h http.Handler, at net.Addr) (http.Handler, error) {
	if s.cfg.AdminToken == "" && !isLocal(at) {
		s.cfg.AdminToken, s.madeUp = rand.Text(), true
	}
	if s.cfg.AdminToken == "" {
		return s.onlyLocalNames(h), nil
	}
	want := sha256.Sum256([]byte(s.cfg.AdminToken))
	closed := dialect.Problem(http.StatusUnauthorized, "the admin side wants its token, as in Authorization: Bearer TOKEN; the server has told it when it started")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// Digests are of one length, so the comparison tells nothing of the token's.
		got := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("Www-Authenticate", `Bearer realm="target"`)
			s.voice.Write(w, closed, s.nodes[0].clock.Read().Wall)
			return
		}
		h.ServeHTTP(w, r)
	}), nil
}

// onlyLocalNames refuses requests for names that are not this machine's own: a
// page from elsewhere can have its name looked up as 127.0.0.1, and would then
// be allowed to read what a browser takes for its own server.
func (s *Server) onlyLocalNames(h http.Handler) http.Handler {
	foreign := dialect.Problem(http.StatusForbidden, "the admin side answers to localhost and to addresses, or with a token to every name")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if host != "localhost" && host != "" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			s.voice.Write(w, foreign, s.nodes[0].clock.Read().Wall)
			return
		}
		h.ServeHTTP(w, r)
	})
}
