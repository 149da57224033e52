package defect_test

import (
	"strings"
	"testing"
)

// What is wrong with a setting is told, with what to write.
func TestSettings(t *testing.T) {
	tests := []struct{ limit, defect, says string }{
		{"", "no-ttl", "p: is missing"},
		{"", "no-ttl{p=0}", "0 is no defect"},
		{"", "no-ttl{p=1.5}", "p: "},
		{"", "race{gap=-1ms}", "give 0s to 1m"},
		{"", "instances{n=1}", "give 2 to 1000"},
		{"", "instances{route=conn}", "n: is missing"},
		{"", "instances{n=2,route=path}", "none of conn, rr, random"},
		{"nginx{rate=5/s,burst=10}", "share{n=2}", "cannot be divided"},
		{"", "outage{policy=local}", "none of open, closed"},
		{"", "charge{mult=11}", "give 2 to 10"},
		{"token-bucket{burst=1,rate=1/s}", "charge", "which is what a key has at most"},
		{"", "charge{every=0}", "give at least 1"},
		{"", "cost-ignored{x}", "no settings are taken"},
		{"", "evict", "max-keys: goes with form=lru or clear-all, which need it"},
		{"", "evict{form=idle}", "after: goes with form=idle, which needs it"},
		{"", "evict{form=lru,max-keys=1,after=1s}", "and with no other"},
		{"", "evict{max-keys=0}", "give 1 to"},
		{"", "leak{bytes=-1}", "give 0 to"},
		{"", "multi{atomic=true}", "true is no defect"},
		{"", "oversize-drains{x}", "no settings are taken"},
		{"", "parse-first{x}", "no settings are taken"},
		{"", "ra{form=late}", "none of utc-zone, floor, exclusive"},
		{"", "ra{form=zero,late=1s}", "goes with form=exclusive"},
		{"", "ra{form=window,penalty=1s}", "goes with form=floor or exclusive"},
		{"", "ra{form=exclusive,late=0s}", "more than 0"},
		{"concurrency{burst=1}", "ra{form=full-interval}", "has no window"},
		{"concurrency{burst=1}", "ra{form=common-deadline}", "has no window"},
		{"", "remaining", "form: is missing"},
		{"", "reset{form=late}", "none of epoch, seconds, zero"},
		{"", "policy-told", "give it, or a rate"},
		{"", "policy-told{quota=0}", "give at least 1"},
		{"", "v6-per-address", "has no address"}, // the key is a header
		{"", "v6-per-address{bits=64}", "give 65 to 128"},
		{"", "chosen-key", "part: is missing"},
		{"", "chosen-key{part=sid}", "give path, query:NAME"},
		{"", "batch{charge=0}", "give at least 1"},
		{"", "conn-bucket{n=1}", "no settings are taken"},
		{"", "attach", "give it, or form=report-only"},
		{"", "attach{path=other}", "give one such as /other"},
		{"", "attach{path=/x,form=report-only}", "give it, or form=report-only"},
	}
	for _, tt := range tests {
		if _, err := build(t, site{limit: tt.limit, defects: []string{tt.defect}}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want an error that says %q", tt.defect, err, tt.says)
		}
	}
}
