package key

import (
	"fmt"
	"net/http"
	"path"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

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
