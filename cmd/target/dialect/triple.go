package dialect

import (
	"net/http"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func tripleKind() familyKind {
	return familyKind{
		Doc: mode.Doc{
			Name:    "ratelimit",
			Example: "ratelimit",
			Text:    "RateLimit-Limit, -Remaining and -Reset, of drafts -03 to -06; Reset counts seconds.",
		},
		uses:  "RateLimit-Limit",
		build: func([]Policy) (family, error) { return newTriple("Ratelimit", delta), nil },
	}
}

func xDeltaKind() familyKind {
	return xKind("x-ratelimit", "Reset counts seconds.", delta)
}

func xEpochKind() familyKind {
	return xKind("x-ratelimit-epoch", "Reset is a moment in seconds since 1970, on the server's wall clock.", func(d limiter.Decision, wall int64) int64 {
		return ceil(wall+int64(d.Reset), int64(time.Second))
	})
}

func xEpochMSKind() familyKind {
	return xKind("x-ratelimit-epoch-ms", "Reset is a moment in milliseconds since 1970, on the server's wall clock.", func(d limiter.Decision, wall int64) int64 {
		return ceil(wall+int64(d.Reset), int64(time.Millisecond))
	})
}

func xKind(name, text string, reset resetForm) familyKind {
	return familyKind{
		Doc: mode.Doc{
			Name:    name,
			Example: name,
			Text:    "X-RateLimit-Limit, -Remaining and -Reset; " + text,
		},
		uses:  "X-RateLimit-Limit",
		build: func([]Policy) (family, error) { return newTriple("X-Ratelimit", reset), nil },
	}
}

// resetForm is how the moment is told at which a limit is as if it had never
// been used. All forms are rounded up.
type resetForm func(d limiter.Decision, wall int64) int64

func delta(d limiter.Decision, _ int64) int64 { return seconds(d.Reset) }

// triple are three fields, about the limit that binds. Where no clock tells the
// reset, its field is left out.
type triple struct {
	limit, remaining, reset string // names of the fields
	form                    resetForm
}

func newTriple(prefix string, form resetForm) triple {
	return triple{prefix + "-Limit", prefix + "-Remaining", prefix + "-Reset", form}
}

func (t triple) policy(http.Header) {}

func (t triple) standing(h http.Header, s Standing) {
	if len(s.Decisions) == 0 {
		return
	}
	d := binding(s)
	h[t.limit] = number(d.Limit)
	h[t.remaining] = number(d.Remaining)
	if d.Reset != limiter.Unknown {
		h[t.reset] = []string{strconv.FormatInt(t.form(d, s.Wall), 10)}
	}
}
