package dialect

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// retryForm writes a wait into the header: as so many whole seconds, or as the
// exact moment on the server's wall clock, in nanoseconds since 1970.
type retryForm func(v *Voice, h http.Header, seconds, moment int64)

var retryForms = map[string]retryForm{
	"seconds": func(_ *Voice, h http.Header, seconds, _ int64) { h["Retry-After"] = number(seconds) },
	"date": func(v *Voice, h http.Header, _, moment int64) {
		// Rounded up: a date that lies before the moment is a promise that is not kept.
		h["Retry-After"] = v.later.date(ceil(moment, int64(time.Second)))
	},
	"absent": func(*Voice, http.Header, int64, int64) {},
}

// RetryAfters describes the forms of Retry-After.
func RetryAfters() []mode.Doc {
	return []mode.Doc{
		{Name: "seconds", Example: "seconds", Text: "Whole seconds, rounded up and never 0."},
		{Name: "date", Example: "date", Text: "An HTTP date on the server's wall clock, rounded up."},
		{Name: "absent", Example: "absent", Text: "Clients are not told."},
	}
}

func retryFormOf(name string) retryForm {
	if name == "" {
		name = "seconds"
	}
	return retryForms[name]
}

// RetryAfter sets the header of a refusal: after it every limit that has refused
// would admit.
func (v *Voice) RetryAfter(h http.Header, s Standing) {
	// What a wrong limiter says may be negative.
	seconds, moment, last := int64(math.MinInt64), int64(math.MinInt64), 0
	for i, d := range s.Decisions {
		if d.Admitted {
			continue
		}
		said := v.policies[i].RetryAfter(d, s.Wall)
		seconds = max(seconds, said)
		if m := s.Wall + exact(d, said); m > moment {
			moment, last = m, i
		}
	}
	v.retry(v, h, seconds, moment)
	if write := v.policies[last].RetryDate; write != nil && v.dated {
		h["Retry-After"] = []string{write(moment)}
	}
}

// exact is the wait in nanoseconds, unless what is said of it is not the truth
// or no clock knows it: then what is said.
func exact(d limiter.Decision, said int64) int64 {
	if d.Wait >= 0 && said == d.RetryAfter() {
		return int64(d.Wait)
	}
	return min(said, farthest) * int64(time.Second)
}

// farthest is more seconds than a date can be away, and added to one of this
// century as nanoseconds they fit in 64 bits.
const farthest = 1 << 32

// number is a header value, of which the small ones are there already.
func number(n int64) []string {
	if n >= 0 && n < int64(len(numbers)) {
		return numbers[n]
	}
	return []string{strconv.FormatInt(n, 10)}
}

// numbers are never written to after they are made.
var numbers = func() (all [1024][]string) {
	for i := range all {
		all[i] = []string{strconv.Itoa(i)}
	}
	return all
}()
