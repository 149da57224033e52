package key

import (
	"fmt"
	"net/http"
	"path"
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

func pathKind() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "path",
			Settings: "segments=NUMBER",
			Example:  "path{segments=1}",
			Text:     "The path, or only its first segments: of /verify/1234 with segments=1 it is /verify. A path part that callers may invent makes a fresh budget for each.",
		},
		build: func(_ string, r *mode.Reader) (part, error) {
			n := r.IntOr("segments", 0)
			r.Require(!r.Has("segments") || n >= 1 && n <= 32, "segments", "give 1 to 32")
			text := "path"
			if n > 0 {
				text = fmt.Sprintf("path{segments=%d}", n)
			}
			return part{text, "path", func(r *http.Request) string { return firstSegments(r.URL.Path, int(n)) }}, r.Done()
		},
	}
}

// firstSegments looks at the path as a file server would: /a/../b is /b, and
// not a way to a fresh budget. With 0 it is the whole path.
func firstSegments(p string, n int) string {
	p = path.Clean("/" + p)
	for i := range len(p) {
		if p[i] != '/' || i == 0 {
			continue
		}
		if n--; n == 0 {
			return p[:i]
		}
	}
	return p
}
