package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What was done to a process that may be another one's store accuses nobody and praises
// nobody; that more is admitted than promised needs no store.
func TestDoubtedStore(t *testing.T) {
	const doubt = "it is not proven that it is the store"
	mark := func(at time.Duration, kind results.MarkKind, act scenarios.Act, size time.Duration, want scenarios.Expect, doubt string) results.Mark {
		m := markAt(at, kind, act, size, want)
		m.On, m.Doubt = scenarios.OnStore, doubt
		return m
	}
	for _, want := range []scenarios.Expect{"closed", "open", ""} {
		for _, why := range []string{"", doubt} {
			v := judgeMarked(t, promised(4, 4, time.Second), failing(3*time.Second, 5*time.Second),
				mark(3*time.Second, results.MarkFault, scenarios.ProcessPause, 0, want, why), mark(5*time.Second, results.MarkFault, scenarios.ProcessContinue, 0, want, why))
			for _, check := range []string{CheckOutage, CheckRecovery, CheckCarried} {
				f, ok := foundOf(v, check)
				if said := strings.Contains(f.Text, doubt); !ok || said != (why != "") || said && f.Status != results.Inconclusive {
					t.Errorf("%s, declared %q, doubt %q: got %v: %s", check, want, why, f.Status, f.Text)
				}
			}
			if why != "" && v.Status == results.Broken {
				t.Errorf("declared %q: accused: %s", want, v.Headline)
			}
		}
	}
	for why, status := range map[string]results.Status{"": results.Kept, doubt: results.Inconclusive} {
		v := judgeMarked(t, promised(4, 4, time.Second), failing(0, 0), mark(3*time.Second, results.MarkClock, scenarios.ClockStep, -2*time.Second, "", why))
		if f, _ := foundOf(v, CheckLockout); f.Status != status {
			t.Errorf("a step, doubt %q: got %v: %s", why, f.Status, f.Text)
		}
	}
}
