package dialect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ratehammer/ratehammer/scenarios"
)

// The problem types of draft-ietf-httpapi-ratelimit-headers that tell a client
// which has used up its own limit from one that is turned away because the
// server has too much to do. All other problems are about:blank, which is to
// say their status.
const (
	QuotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	ReducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
	NoSpecialType   = "about:blank"
)

// problem is a refusal or error after RFC 9457.
type problem struct {
	Type     string   `json:"type"`
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Detail   string   `json:"detail"`
	Violated []string `json:"violated-policies,omitempty"`
}

func (p problem) answer() *Answer {
	// Strings and a number always marshal.
	body, _ := json.Marshal(p)
	return NewAnswer(p.Status, "application/problem+json", append(body, '\n'))
}

// Problem is an error of this status. The detail is for people and must not hold
// what a client sent, which may be secret.
func Problem(status int, detail string) *Answer {
	// The title of an about:blank is that of its status, RFC 9457 section 4.2.1.
	return problem{Type: NoSpecialType, Title: http.StatusText(status), Status: status, Detail: detail}.answer()
}

// Busy is the answer of a server that has too much to do, whoever asks.
func Busy(status int, title, detail string) *Answer {
	return problem{Type: ReducedCapacity, Title: title, Status: status, Detail: detail}.answer()
}

// refusals are the answers for each set of policies that can refuse together.
// The empty set refuses nothing and has none.
func refusals(s Settings, policies []Policy) []*Answer {
	status := s.Status
	if status == 0 {
		status = http.StatusTooManyRequests
	}
	all := make([]*Answer, 1<<len(policies))
	for set := 1; set < len(all); set++ {
		p := problem{Type: QuotaExceeded, Title: "Limit used up", Status: status}
		var details []string
		for i, policy := range policies {
			if set&(1<<i) != 0 {
				p.Violated = append(p.Violated, policy.Name)
				details = append(details, policy.inWords())
			}
		}
		p.Detail = strings.Join(details, ", ") + advice(s.RetryAfter)
		all[set] = p.answer()
	}
	return all
}

// inWords says what is promised to whom.
func (p Policy) inWords() string {
	who := "this client"
	if p.Shared {
		who = "all clients together"
	}
	l, of := p.Promise, fmt.Sprintf("the limit %s of %s is ", p.Name, who)
	switch {
	case l.Contract == scenarios.Concurrency:
		return of + fmt.Sprintf("%d at the same time", l.Burst)
	case l.Burst == 0:
		return of + l.Rate.String()
	default:
		return of + fmt.Sprintf("%d at once and %v", l.Burst, l.Rate)
	}
}

func advice(retryAfter string) string {
	switch retryAfter {
	case "date":
		return "; wait until the date that Retry-After says"
	case "absent":
		return "; come back later"
	default:
		return "; wait as many seconds as Retry-After says"
	}
}
