package key

import (
	"net/http"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// Of a header, parameter or cookie that is sent several times the first one
// counts.

func headerKind() kind {
	return kind{
		Doc:   mode.Doc{Name: "header:NAME", Example: "header:X-Api-Key", Text: "The value of a request header."},
		named: true,
		build: func(name string, _ *mode.Reader) (part, error) {
			of := func(r *http.Request) string { return r.Header.Get(name) }
			if strings.EqualFold(name, "Host") { // net/http takes it out of the headers
				of = func(r *http.Request) string { return r.Host }
			}
			return part{"header:" + name, "header " + name, of}, nil
		},
	}
}

func queryKind() kind {
	return kind{
		Doc:   mode.Doc{Name: "query:NAME", Example: "query:token", Text: "The value of a query parameter."},
		named: true,
		build: func(name string, _ *mode.Reader) (part, error) {
			return part{"query:" + name, "query parameter " + name, func(r *http.Request) string { return r.URL.Query().Get(name) }}, nil
		},
	}
}

func cookieKind() kind {
	return kind{
		Doc:   mode.Doc{Name: "cookie:NAME", Example: "cookie:sid", Text: "The value of a cookie."},
		named: true,
		build: func(name string, _ *mode.Reader) (part, error) {
			return part{"cookie:" + name, "cookie " + name, func(r *http.Request) string {
				c, err := r.Cookie(name)
				if err != nil {
					return ""
				}
				return c.Value
			}}, nil
		},
	}
}
