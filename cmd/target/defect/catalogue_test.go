package defect_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// on is the server that the catalogue says a defect can be seen on.
func on(o defect.On, defects ...string) site {
	s := site{
		limit: o.Limit, beside: o.Beside, key: o.Key, costHeader: o.CostHeader, costBody: o.CostBody, mode: o.Mode, store: o.Store,
		defects: defects, answers: dialect.Settings{RetryAfter: o.RetryAfter},
	}
	if o.Fields != "" {
		s.answers.Fields = []string{o.Fields}
	}
	return s
}

// both is the first server with what only the second one has.
func both(a, b defect.On) defect.On {
	a.Limit, a.Key, a.Mode, a.Fields = cmp.Or(a.Limit, b.Limit), cmp.Or(a.Key, b.Key), cmp.Or(a.Mode, b.Mode), cmp.Or(a.Fields, b.Fields)
	a.Beside, a.Store = cmp.Or(a.Beside, b.Beside), cmp.Or(a.Store, b.Store)
	if a.CostBody == "" {
		a.CostHeader = cmp.Or(a.CostHeader, b.CostHeader)
	}
	return a
}

// answers are the statuses, and what is told, of an odd load of two clients.
func answers(s *sim) (all []string) {
	for i := range 60 {
		r := post("/verify/"+fmt.Sprint(i%3), []string{"", "[1, 2]", "{"}[i%3], "X-Cost", fmt.Sprint(1+i%2), "X-Api-Key", fmt.Sprint(i%2), "X-Forwarded-For", fmt.Sprintf("203.0.113.%d, 2001:db8::%d", i%5, i%2))
		r.RemoteAddr = fmt.Sprintf("192.0.2.1:%d", 1000+i%4)
		s.Arrive(time.Duration(i*i)*3*time.Millisecond, r, func(at time.Duration, w *http.Response) {
			all = append(all, fmt.Sprint(i, at, w.StatusCode, w.Header.Get("Retry-After"), w.Header.Get("X-Ratelimit-Remaining")))
		})
	}
	s.Advance(time.Hour)
	return all
}

// Any two defects go together, in either order alike, or one of them says in a
// sentence why not.
func TestPairsOverHTTP(t *testing.T) {
	all := defect.Catalogue()
	together, apart := 0, 0
	for i, a := range all {
		for _, b := range all[i+1:] {
			where := both(a.On, b.On)
			one, err := build(t, on(where, a.Example, b.Example))
			if err != nil {
				if text := err.Error(); !strings.Contains(text, "defect "+a.Name+": ") && !strings.Contains(text, "defect "+b.Name+": ") {
					t.Errorf("%s and %s: got %v", a.Name, b.Name, err)
				}
				apart++
				continue
			}
			together++
			other, err := build(t, on(where, b.Example, a.Example))
			if err != nil {
				t.Errorf("%s and %s: apply in one order only: %v", a.Name, b.Name, err)
				continue
			}
			if got, want := answers(other), answers(one); len(want) != 60 || !slices.Equal(got, want) {
				t.Errorf("%s and %s: the order matters: got %d and %d answers,\n%v\n%v", a.Name, b.Name, len(got), len(want), got, want)
			}
		}
	}
	t.Logf("%d pairs go together, %d do not", together, apart)
}
