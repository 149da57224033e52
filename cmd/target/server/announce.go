package server

import (
	"fmt"
	"math/bits"
	"net/http"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/ratehammer/ratehammer/scenarios"
)

// policyName is the name of the only quota policy.
const policyName = "default"

// fields writes the header fields of draft-ietf-httpapi-ratelimit-headers,
// which are structured fields after RFC 9651.
type fields struct{ policyText string }

// newFields prepares the policy: q is the burst, and w the seconds in which the
// burst refills, so that q/w is the rate. If these are not whole seconds no w
// would give the rate, and w is left out.
func newFields(p scenarios.Limit) (fields, error) {
	item := httpsfv.NewItem(policyName)
	item.Params.Add("q", p.Burst)
	if w, whole := refillSeconds(p); whole {
		item.Params.Add("w", w)
	}
	text, err := httpsfv.Marshal(httpsfv.List{item})
	if err != nil {
		return fields{}, fmt.Errorf("writing RateLimit-Policy for %v: %w", p, err)
	}
	return fields{policyText: text}, nil
}

// refillSeconds is the time in which the whole burst refills, if that is an
// exact number of seconds.
func refillSeconds(p scenarios.Limit) (w int64, whole bool) {
	num, den := p.Rate.Units()
	hi, units := bits.Mul64(uint64(p.Burst), uint64(den))
	second := uint64(time.Second)
	if hi > 0 || units%uint64(num) != 0 || units/uint64(num)%second != 0 {
		return 0, false
	}
	return int64(units / uint64(num) / second), true
}

// policy sets RateLimit-Policy, which is the same for everybody.
func (f fields) policy(h http.Header) { h.Set("RateLimit-Policy", f.policyText) }

// left sets RateLimit. Answers that were given without asking the limiter do
// not have it: they do not know what is left.
func (f fields) left(h http.Header, remaining int64) {
	item := httpsfv.NewItem(policyName)
	item.Params.Add("r", remaining)
	// A bucket holds far less than the 10^15 from which on this fails.
	if text, err := httpsfv.Marshal(httpsfv.List{item}); err == nil {
		h.Set("RateLimit", text)
	}
}
