package server

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// What a route can do with requests of the methods that only ask about others.
const (
	methodLimited   = "limited"
	methodFree      = "free"
	methodPreflight = "preflight"
)

// Methods describes what can be done with HEAD and OPTIONS.
func Methods() []mode.Doc {
	return []mode.Doc{
		{Name: methodLimited, Example: methodLimited, Text: "Limited like every other method."},
		{Name: methodFree, Example: methodFree, Text: "Answered without asking a limit: HEAD with 200, OPTIONS with 204 and Allow."},
		{Name: methodPreflight, Example: methodPreflight, Text: "Only for OPTIONS: free if a browser asks whether a page may send a request, which never carries the headers of a key; else limited. The default where --origin is given."},
	}
}

func (r Route) checkMethods() (faults []error) {
	head, options := []string{"", methodLimited, methodFree}, []string{"", methodLimited, methodFree, methodPreflight}
	if !slices.Contains(head, r.Head) {
		faults = append(faults, fmt.Errorf("HEAD %q: give limited or free", r.Head))
	}
	if !slices.Contains(options, r.Options) {
		faults = append(faults, fmt.Errorf("OPTIONS %q: give limited, free or preflight", r.Options))
	}
	for _, o := range r.Origins {
		if o != "*" && (!strings.Contains(o, "://") || strings.HasSuffix(o, "/") || strings.ContainsAny(o, " ,*\r\n")) {
			faults = append(faults, fmt.Errorf("origin %q: give one such as https://app.example, without a path, or *", o))
		}
	}
	return faults
}

// free gives the answer to a request that no limit is asked about, or nil.
func (rt *route) free(h http.Header, r *http.Request) *dialect.Answer {
	switch r.Method {
	case http.MethodHead:
		if rt.Head == methodFree {
			return rt.admitted
		}
		fallthrough
	case http.MethodGet:
		if rt.isExempt(r.URL.Path) {
			return rt.admitted
		}
	case http.MethodOptions:
		asks := isPreflight(r)
		if asks {
			rt.preflight(h)
		}
		policy := rt.Options
		if policy == "" && len(rt.Origins) > 0 {
			policy = methodPreflight
		}
		if policy == methodFree || asks && policy == methodPreflight {
			h.Set("Allow", allowed)
			return rt.noContent
		}
	}
	return nil
}

// isExempt looks at the path as a file server would: /static/../play is the
// page /play, and not a way around the limit.
func (rt *route) isExempt(p string) bool {
	if len(rt.Exempt) == 0 {
		return false
	}
	p = path.Clean("/" + p)
	return slices.ContainsFunc(rt.Exempt, func(e string) bool {
		return p == e || strings.HasSuffix(e, "/") && strings.HasPrefix(p, e)
	})
}

const allowed = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// exposed are the headers that a page in a browser may read of an answer, beside
// those that it always may: without them a page cannot know when to come back.
const exposed = "Date, Retry-After, RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"

// share lets pages of the route's origins read every answer, refusals too: a
// browser shows a page nothing of an answer that does not allow it, and the page
// would take a 429 for a broken network.
func (rt *route) share(h http.Header, r *http.Request) {
	if len(rt.Origins) == 0 {
		return
	}
	if slices.Contains(rt.Origins, "*") {
		h.Set("Access-Control-Allow-Origin", "*")
	} else {
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(rt.Origins, origin) {
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
	}
	h.Set("Access-Control-Expose-Headers", exposed)
}

func isPreflight(r *http.Request) bool {
	return r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight says what a page may send, if its origin may send anything.
func (rt *route) preflight(h http.Header) {
	if h.Get("Access-Control-Allow-Origin") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", allowed)
	h.Set("Access-Control-Allow-Headers", "*, Authorization") // the star does not cover Authorization
	h.Set("Access-Control-Max-Age", "600")
}
