package defect

import (
	"cmp"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// In the tables of this package the clean twin is the row without a defect.

// Each example can be applied where the catalogue says that it can be seen, and
// changes nothing of what is promised there.
func TestListedExamplesApply(t *testing.T) {
	for _, e := range Catalogue() {
		limit := cmp.Or(e.On.Limit, "token-bucket{burst=10,rate=5/s}")
		by := cmp.Or(e.On.Key, "header:X-Api-Key")
		right, wrong := newRigBy(t, time.Unix(0, 0), limit, by), newRigBy(t, time.Unix(0, 0), limit, by, e.Example)
		if got := parse(t, e.Example).Name; got != e.Name || e.Text == "" {
			t.Errorf("%s: the example is of %s, the text is %q", e.Name, got, e.Text)
		}
		if got, want := wrong.parts.Algorithm.Promise(), right.parts.Algorithm.Promise(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: promises %v, want %v as the right limiter does", e.Name, got, want)
		}
	}
}

func TestApplyErrors(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		says    string
	}{
		{"token-bucket{burst=10,rate=5/s}", []string{"of-by-one{delta=+1}"}, "did you mean off-by-one?"},
		{"token-bucket{burst=10,rate=5/s}", []string{"off-by-one"}, "delta: is missing"},
		{"token-bucket{burst=10,rate=5/s}", []string{"off-by-one{delta=0}"}, "0 is no defect"},
		{"token-bucket{burst=10,rate=5/s}", []string{"off-by-one{delta=9223372036854775807}"}, "at most 1000000000 either way"},
		{"token-bucket{burst=10,rate=5/s}", []string{"off-by-one{delta=-9223372036854775808}"}, "at most 1000000000 either way"},
		{"token-bucket{burst=10,rate=5/s}", []string{"xff-leftmost"}, "no address tells clients apart"},
		{"token-bucket{burst=1,rate=5/s}", []string{"off-by-one{delta=-1}"}, "burst 0"},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{form=floor}", "ra{form=zero}"}, "given twice"},
		{"token-bucket{burst=10,rate=5/s}", []string{"ra{from=floor}"}, "did you mean form?"},
		{"token-bucket{burst=10,rate=5/s}", []string{"starts-empty{now}"}, "no settings are taken"},
		{"token-bucket{burst=10,rate=5/s}", []string{"loses-refill-on-refusal{p=1}"}, "no settings are taken"},
		{"token-bucket{burst=10,rate=5/s}", []string{"wall-clock{step=-10s}"}, "give both or neither"},
		{"concurrency{burst=1}", []string{"ra{form=window}"}, "has no window"},
		{"gcra{burst=10,rate=5/s}", []string{"starts-empty"}, "defect of token buckets"},
		{"nginx{rate=5/s}", []string{"off-by-one{delta=+1}"}, "cannot be given other room"},
		{"fixed-window{rate=1/s}", []string{"off-by-one{delta=-1}"}, "give tokens per time"},
		{"token-bucket{burst=10,rate=5/s}", []string{"wall-clock{step=0s,every=1s}"}, "other than 0"},
		{"token-bucket{burst=10,rate=5/s}", []string{"wall-clock{step=1s,every=-1s}"}, "above 0"},
	}
	for _, tt := range tests {
		a, err := limiter.New(parse(t, tt.limit))
		if err != nil {
			t.Fatal(err)
		}
		p := Right(a, clock.New(time.Time{}, nil), 1)
		var modes []mode.Mode
		for _, d := range tt.defects {
			modes = append(modes, parse(t, d))
		}
		if err := Apply(&p, modes); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: got %v, want an error that says %q", tt.defects, err, tt.says)
		}
	}
}

// Several defects at once, in any order.
func TestDefectsStack(t *testing.T) {
	for _, defects := range [][]string{
		{"off-by-one{delta=+1}", "wall-clock", "starts-empty", "ra{form=window}"},
		{"ra{form=window}", "starts-empty", "wall-clock", "off-by-one{delta=+1}"},
	} {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", defects...)
		if got := r.volley("a", 30); got != 0 {
			t.Errorf("%v: fresh key: got %d, want 0", defects, got)
		}
		if err := r.parts.Clock.Step(time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := r.volley("a", 30); got != 11 {
			t.Errorf("%v: after a step of a minute: got %d, want 11", defects, got)
		}
		if got := r.parts.RetryAfter(r.ask("a"), 0); got != 2 {
			t.Errorf("%v: got Retry-After %d, want 2", defects, got)
		}
	}
}
