package assertions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// said is one request with what its answer told. Moments are in milliseconds; the
// answer comes a millisecond after the request leaves.
type said struct {
	at      int64
	limited bool
	retry   string
	fields  string // lines of the header
	key     string
	cost    int64
}

// conclude judges the requests and gives the finding of a check.
func conclude(t *testing.T, l scenarios.Limit, opts Options, check string, all []said) results.Finding {
	t.Helper()
	opts.Fresh, opts.NoCauses = true, true
	j, err := New([]scenarios.Limit{l}, opts)
	if err != nil {
		t.Fatal(err)
	}
	var hits []results.Hit
	for i, s := range all {
		sent := s.at * int64(time.Millisecond)
		h := results.Hit{Seq: int64(i + 1), Key: "k" + s.key, Cost: max(s.cost, 1), Planned: sent, Sent: sent, First: sent + int64(time.Millisecond), Status: 200,
			Outcome: results.Admitted, RetryAfter: s.retry, Headers: s.fields, Date: day.Add(time.Duration(sent)).Format("Mon, 02 Jan 2006 15:04:05 GMT")}
		if h.Done = h.First; s.limited {
			h.Outcome, h.Status = results.Limited, 429
		}
		hits = append(hits, h)
	}
	for _, b := range results.Blocks(hits) {
		j.Block(b)
	}
	for _, f := range j.Verdict(&results.Run{Planned: 1, Sent: 1}).Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("no finding of %s", check)
	return results.Finding{}
}

// Each check of what answers tell, on answers that keep it and answers that do
// not. The limit is a bucket of 4 at 1 in 2 s, on an exact clock, unless another
// is given.
func TestWhatAnswersTell(t *testing.T) {
	bucket := promised(4, 1, 2*time.Second)
	window := scenarios.Limit{Contract: scenarios.FixedWindow, Rate: scenarios.Rate{Count: 4, Per: 2 * time.Second}, Key: bucket.Key}
	quota := window
	quota.Contract = scenarios.Quota
	log := window
	log.Contract = scenarios.SlidingLog
	counter := window
	counter.Contract = scenarios.SlidingCounter
	left := func(n int) string { return fmt.Sprintf("x-ratelimit-limit: 4\nx-ratelimit-remaining: %d", n) }
	ends := func(n int, reset string) string { return left(n) + "\nx-ratelimit-reset: " + reset }
	draft := func(r, t int) string {
		return fmt.Sprintf("ratelimit-policy: \"a\";q=4;w=8\nratelimit: \"a\";r=%d;t=%d", r, t)
	}
	full := func(n ...int) (all []said) { // asked one after the other, 10 ms apart, told so many left
		for i, x := range n {
			all = append(all, said{at: int64(10 * i), fields: left(x)})
		}
		return all
	}
	const must, should, info = results.Must, results.Should, results.Info
	const kept, broken, unknown = results.Kept, results.Broken, results.Inconclusive
	tests := []struct {
		name   string
		limit  scenarios.Limit
		draft  int
		check  string
		hits   []said
		status results.Status
		level  results.Level
	}{
		{"falls by the cost", bucket, 0, CheckRemaining, full(3, 2, 1, 0), kept, must},
		{"does not count itself", bucket, 0, CheckRemaining, full(4, 3, 2, 1), broken, must},
		{"stands still", bucket, 0, CheckRemaining, full(3, 3), broken, must},
		{"rises without a refill", bucket, 0, CheckRemaining, full(3, 2, 3), broken, must},
		{"rises by a token in its time", bucket, 0, CheckRemaining, append(full(3, 2, 1), said{at: 2020, fields: left(1)}), kept, must},
		{"rises a moment early", bucket, 0, CheckRemaining, append(full(3, 2, 1), said{at: 1990, fields: left(1)}), broken, must},
		{"negative", bucket, 0, CheckRemaining, append(full(3, 2, 1, 0), said{at: 50, limited: true, retry: "2", fields: left(-1)}), broken, must},
		{"falls by two", bucket, 0, CheckRemaining, full(3, 1, 0, 0), kept, must}, // one is granted
		{"falls by three", bucket, 0, CheckRemaining, full(3, 0), broken, should},
		{"of another limit", bucket, 0, CheckRemaining, []said{{fields: "x-ratelimit-limit: 5000\nx-ratelimit-remaining: 4999"}}, unknown, info},
		{"not told", bucket, 0, CheckRemaining, []said{{fields: "ratelimit-policy: 4;w=8"}}, unknown, info},
		{"out of a cache", bucket, 0, CheckRemaining, []said{{fields: left(3)}, {at: 10, fields: left(3) + "\nage: 7"}}, kept, must},
		{"of a cost of 3", bucket, 0, CheckRemaining, []said{{cost: 3, fields: left(1)}}, kept, must},
		{"of a cost of 3 that counts as 1", bucket, 0, CheckRemaining, []said{{cost: 3, fields: left(3)}}, broken, must},
		{"refused with enough left", bucket, 0, CheckRemaining, []said{{fields: left(2)}, {at: 10, limited: true, retry: "2", fields: left(0)}}, broken, must},
		{"refused by another limit", bucket, 0, CheckRemaining, []said{{fields: left(3)}, {at: 10, limited: true, retry: "2", fields: left(3)}}, kept, must},
		{"a window begins anew once", window, 0, CheckRemaining, append(full(3, 2), said{at: 30, fields: left(3)}), kept, must},
		{"and again within it", window, 0, CheckRemaining, append(full(3, 2), said{at: 30, fields: left(3)}, said{at: 60, fields: left(2)}, said{at: 90, fields: left(3)}), broken, must},
		{"and again behind it", window, 0, CheckRemaining, append(full(3, 2), said{at: 30, fields: left(3)}, said{at: 60, fields: left(2)}, said{at: 2090, fields: left(3)}), kept, must},
		{"a window that is always full", window, 0, CheckRemaining, full(4), broken, must},
		{"a log forgets nothing early", log, 0, CheckRemaining, append(full(3, 2), said{at: 1900, fields: left(2)}), broken, must},
		{"and all in time", log, 0, CheckRemaining, append(full(3, 2), said{at: 2015, fields: left(3)}), kept, must},
		{"a counter fades", counter, 0, CheckRemaining, append(full(3, 2, 1, 0), said{at: 1500, fields: left(2)}), kept, must},
		{"but not so fast", counter, 0, CheckRemaining, append(full(3, 2, 1, 0), said{at: 500, fields: left(2)}), broken, must},
		{"a quota is explained by a window", quota, 0, CheckRemaining, append(full(3, 2), said{at: 30, fields: left(3)}), kept, must},
		{"and not by anything", quota, 0, CheckRemaining, full(3, 3, 3), broken, must},

		{"a reset to come", bucket, 0, CheckReset, []said{{fields: ends(3, "2")}, {at: 10, limited: true, retry: "2", fields: ends(0, "8")}}, kept, must},
		{"a reset of 0", bucket, 0, CheckReset, []said{{limited: true, retry: "2", fields: ends(0, "0")}}, broken, must},
		{"a reset of -1 where nothing is left", bucket, 0, CheckReset, []said{{limited: true, retry: "2", fields: ends(0, "-1")}}, broken, must},
		{"a reset in milliseconds", bucket, 0, CheckReset, []said{{fields: ends(3, "2000")}}, broken, should},
		{"the same by a standard", bucket, 0, CheckReset, []said{{fields: "ratelimit-limit: 4\nratelimit-remaining: 3\nratelimit-reset: 2000"}}, broken, must},
		{"a moment", bucket, 0, CheckReset, []said{{fields: ends(3, "1772366403")}}, kept, must},
		{"a moment in milliseconds", bucket, 0, CheckReset, []said{{fields: ends(3, "1772366402500")}}, kept, must},
		{"a moment that is an hour off", bucket, 0, CheckReset, []said{{fields: ends(3, "1772370003")}}, broken, must},
		{"an hour as a length", bucket, 0, CheckReset, []said{{fields: ends(3, "1h0m0s")}}, broken, must},
		{"too early for a token", bucket, 0, CheckReset, append(full(3, 2, 1, 0), said{at: 40, limited: true, retry: "2", fields: ends(0, "1")}), broken, must},
		{"waited for and refused again", window, 0, CheckReset, append(full(3, 2, 1, 0), said{at: 40, limited: true, fields: ends(0, "1")}, said{at: 1050, limited: true, fields: ends(0, "1")}), broken, must},
		{"waited for and let in", window, 0, CheckReset, append(full(3, 2, 1, 0), said{at: 40, limited: true, fields: ends(0, "2")}, said{at: 2050, fields: ends(3, "2")}), kept, must},
		{"t of draft -10 is kept", window, 10, CheckReset, []said{{limited: true, fields: strings.ReplaceAll(draft(0, 1), "w=8", "w=2")}, {at: 1010, limited: true, fields: draft(0, 1)}}, broken, must},
		{"t of draft -11 promises nothing", window, 11, CheckReset, []said{{limited: true, fields: draft(0, 1)}, {at: 1010, limited: true, fields: draft(0, 1)}}, kept, must},
		{"t in milliseconds", bucket, 0, CheckReset, []said{{limited: true, fields: draft(0, 2000)}}, broken, should},
		{"t in milliseconds, of draft -10", bucket, 10, CheckReset, []said{{limited: true, fields: draft(0, 2000)}}, broken, must},

		{"a policy as declared", bucket, 0, CheckPolicy, []said{{fields: draft(3, 1)}}, kept, should},
		{"another quota", bucket, 0, CheckPolicy, []said{{fields: `ratelimit-policy: "a";q=5;w=10`}}, broken, should},
		{"another rate", bucket, 0, CheckPolicy, []said{{fields: `ratelimit-policy: "a";q=4;w=2`}}, broken, should},
		{"among others", bucket, 0, CheckPolicy, []said{{fields: `ratelimit-policy: "b";q=100;w=60, "a";q=4;w=8`}}, kept, should},
		{"one of bytes", bucket, 0, CheckPolicy, []said{{fields: `ratelimit-policy: "a";q=4;w=8;qu="content-bytes"`}}, broken, should},

		{"one wait, one moment", bucket, 0, CheckConsistent, []said{{at: 0, limited: true, retry: "2"}, {at: 900, limited: true, retry: "2"}, {at: 1100, limited: true, retry: "1"}}, kept, should},
		{"a constant", bucket, 0, CheckConsistent, []said{{at: 0, limited: true, retry: "8"}, {at: 1100, limited: true, retry: "8"}}, broken, should},
		{"another wait", bucket, 0, CheckConsistent, []said{{at: 0, limited: true, retry: "8"}, {at: 500}, {at: 1100, limited: true, retry: "8"}}, unknown, info},
		{"another key", bucket, 0, CheckConsistent, []said{{at: 0, limited: true, retry: "8"}, {at: 1100, key: "2", limited: true, retry: "8"}}, unknown, info},
		{"another cost", bucket, 0, CheckConsistent, []said{{at: 0, limited: true, retry: "8"}, {at: 1100, cost: 2, limited: true, retry: "8"}}, unknown, info},

		{"a stored refusal", bucket, 0, CheckCached, []said{{limited: true, retry: "2", fields: "age: 3"}}, broken, must},
		{"passed on by a proxy", bucket, 0, CheckCached, []said{{limited: true, retry: "2", fields: "age: 0"}}, kept, must},
		{"a stored admission", bucket, 0, CheckCached, []said{{fields: "age: 3"}}, unknown, info},
		{"not to be stored", bucket, 0, CheckStorable, []said{{limited: true, retry: "2", fields: "cache-control: no-store, max-age=60"}}, kept, should},
		{"nothing is said", bucket, 0, CheckStorable, []said{{limited: true, retry: "2"}}, kept, should},
		{"to be stored", bucket, 0, CheckStorable, []said{{limited: true, retry: "2", fields: "cache-control: public, max-age=60"}}, broken, should},
		{"for no time", bucket, 0, CheckStorable, []said{{limited: true, retry: "2", fields: "cache-control: max-age=0"}}, kept, should},

		{"fields that can be read", bucket, 0, CheckFields, []said{{fields: draft(3, 1)}}, kept, should},
		{"a token for a name", bucket, 0, CheckFields, []said{{fields: "ratelimit: a;r=1"}}, broken, should},
		{"a moment where a draft has seconds", bucket, 0, CheckFields, []said{{fields: "ratelimit-limit: 4\nratelimit-remaining: 1\nratelimit-reset: 1772366402"}}, broken, should},
		{"nothing is told at all", bucket, 0, CheckFields, []said{{}}, unknown, info},
		{"what a refusal costs", bucket, 0, CheckPrice, []said{{}, {at: 10, limited: true, retry: "2"}}, unknown, info},
	}
	for _, tt := range tests {
		f := conclude(t, tt.limit, Options{Draft: tt.draft}, tt.check, tt.hits)
		if f.Status != tt.status || f.Level != tt.level {
			t.Errorf("%s: got %v (%v), want %v (%v): %s", tt.name, f.Status, f.Level, tt.status, tt.level, f.Text)
		}
	}
}
