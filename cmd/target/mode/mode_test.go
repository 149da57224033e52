package mode

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in   string
		want Mode
		text string
	}{
		{"plain", Mode{Name: "plain"}, "plain"},
		{"plain{}", Mode{Name: "plain"}, "plain"},
		{"token-bucket{burst=10,rate=5/1s}", Mode{"token-bucket", []Setting{{"burst", "10"}, {"rate", "5/1s"}}}, "token-bucket{burst=10,rate=5/1s}"},
		{" off-by-one { delta = -1 } ", Mode{"off-by-one", []Setting{{"delta", "-1"}}}, "off-by-one{delta=-1}"},
		{"idle{uncapped}", Mode{"idle", []Setting{{"uncapped", "true"}}}, "idle{uncapped}"},
		{"idle{uncapped=true}", Mode{"idle", []Setting{{"uncapped", "true"}}}, "idle{uncapped}"},
		{"key{match=header:X=0}", Mode{"key", []Setting{{"match", "header:X=0"}}}, "key{match=header:X=0}"},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Parse(%q): got %#v, %v, want %#v", tt.in, got, err, tt.want)
		}
		if got.String() != tt.text {
			t.Errorf("Parse(%q).String(): got %q, want %q", tt.in, got.String(), tt.text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ in, says string }{
		{"", "not a name"},
		{"Ra", "not a name"},
		{"1x", "not a name"},
		{"ra}", "not a name"},
		{"ra{form=zero", "not closed"},
		{"ra{form=zero}x", "not closed"},
		{"ra{form=}", "must not be empty"},
		{"ra{=zero}", "not a key"},
		{"ra{form=zero,}", "not a key"},
		{"ra{form=a b}", "white space"},
		{"ra{form=a{b}}", "braces"},
		{"ra{form=zero,form=floor}", "form is given twice"},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), anyExample) {
			t.Errorf("Parse(%q): got %v, %v, want an error that says %q and shows an example", tt.in, got, err, tt.says)
		}
	}
}

func TestReader(t *testing.T) {
	m, err := Parse("all{n=+7,flag,off=false,d=-1m30s,r=100/m,c=zero}")
	if err != nil {
		t.Fatal(err)
	}
	r := m.Read("all{n=1}")
	if got := r.Int("n"); got != 7 {
		t.Errorf("Int: got %d, want 7", got)
	}
	if got := r.IntOr("absent", 32); got != 32 {
		t.Errorf("IntOr of an absent key: got %d, want 32", got)
	}
	if !r.Bool("flag") || r.Bool("off") || r.Bool("neither") {
		t.Errorf("Bool: want a flag true, off false, an absent key false")
	}
	if got, want := r.Duration("d"), -90*time.Second; got != want {
		t.Errorf("Duration: got %v, want %v", got, want)
	}
	if got := r.DurationOr("work", time.Second); got != time.Second {
		t.Errorf("DurationOr of an absent key: got %v, want 1s", got)
	}
	if got, want := r.Rate("r"), (scenarios.Rate{Count: 100, Per: time.Minute}); got != want {
		t.Errorf("Rate: got %v, want %v", got, want)
	}
	if got := r.Choice("c", "floor", "floor", "zero"); got != "zero" {
		t.Errorf("Choice: got %q, want zero", got)
	}
	if got := r.Choice("form", "floor", "floor", "zero"); got != "floor" {
		t.Errorf("Choice of an absent key: got %q, want the fallback floor", got)
	}
	if got := r.TextOr("c", "x"); got != "zero" {
		t.Errorf("TextOr: got %q, want zero", got)
	}
	if got := r.TextOr("absent", "x"); got != "x" {
		t.Errorf("TextOr of an absent key: got %q, want the fallback x", got)
	}
	if !r.Has("n") || r.Has("absent") {
		t.Errorf("Has: want n there and absent not")
	}
	if err := r.Done(); err != nil {
		t.Errorf("Done: got %v, want nil", err)
	}
}

// One error names the mode, every fault with its key, and a correct example.
func TestReaderFaults(t *testing.T) {
	const example = "token-bucket{burst=10,rate=5/1s}"
	tests := []struct {
		in   string
		want string
	}{
		{"token-bucket", "token-bucket: burst: is missing; rate: is missing; write for example " + example},
		{"token-bucket{burst=ten,rate=5/s}", `token-bucket: burst: "ten" is not a whole number of at most 18 digits; write for example ` + example},
		{"token-bucket{brust=10,rate=5/s}", "token-bucket: burst: is missing; brust: is not a setting, did you mean burst?; write for example " + example},
		{"token-bucket{burst=0,rate=5/s}", "token-bucket: burst: give at least 1; write for example " + example},
		{"token-bucket{burst=1,rate=5/s,colour=red}", "token-bucket: colour: is not a setting, there are burst, rate; write for example " + example},
	}
	for _, tt := range tests {
		m, err := Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		r := m.Read(example)
		burst := r.Int("burst")
		r.Rate("rate")
		r.Require(burst > 0, "burst", "give at least 1")
		if err := r.Done(); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.in, err, tt.want)
		}
	}
}

func TestReaderFaultsOfEachType(t *testing.T) {
	m, _ := Parse("x{b=yes,d=10,r=5,c=one}")
	r := m.Read("x")
	r.Bool("b")
	r.Duration("d")
	r.Rate("r")
	r.Choice("c", "", "floor", "zero")
	err := r.Done()
	for _, says := range []string{`b: "yes" is neither`, `d: "10" is not a duration`, `r: rate "5" has no period`, `c: "one" is none of floor, zero`} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
	none := Mode{Name: "y", Settings: []Setting{{"a", "1"}}}
	if err := none.Read("y").Done(); err == nil || !strings.Contains(err.Error(), "a: no settings are taken") {
		t.Errorf("a mode without settings: got %v", err)
	}
}

func TestUnknown(t *testing.T) {
	known := []Doc{{Name: "off-by-one", Settings: "delta=+1|-1"}, {Name: "wall-clock"}}
	tests := []struct{ name, want string }{
		{"of-by-one", `defect "of-by-one" is not known, did you mean off-by-one?`},
		{"wallclock", `defect "wallclock" is not known, did you mean wall-clock?`},
		{"zzz", `defect "zzz" is not known: there are off-by-one, wall-clock`},
	}
	for _, tt := range tests {
		if got := Unknown("defect", tt.name, known).Error(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	// In a short word two edits leave nothing of what was meant.
	if got := nearest("form", []string{"n", "to", "step"}); got != "" {
		t.Errorf("nearest to form: got %q, want none", got)
	}
	if got := nearest("x", []string{"n", "to"}); got != "" {
		t.Errorf("nearest to x: got %q, want none", got)
	}
	if got, want := known[0].Grammar(), "off-by-one{delta=+1|-1}"; got != want {
		t.Errorf("Grammar: got %q, want %q", got, want)
	}
}

func TestEdits(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"burst", "brust", 2},    // two letters replaced
		{"kitten", "sitting", 3}, // k-s, e-i, +g
		{"wallclock", "wall-clock", 1},
	}
	for _, tt := range tests {
		if got := edits(tt.a, tt.b); got != tt.want {
			t.Errorf("edits(%q, %q): got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"plain", "a{}", "ra{form=zero}", "wall-clock{step=-10s,every=30s}", "x{flag, k = v=w }", "a{b=µs}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(m.String())
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("Parse(%q) = %#v, printed %q, read back %#v, %v", s, m, m.String(), again, err)
		}
	})
}

func TestShare(t *testing.T) {
	for text, want := range map[string]int64{"0.65": 650_000, "1": 1_000_000, "1.0": 1_000_000, "0": 0, ".5": 500_000, "0.000001": 1, "0.001": 1000,
		"1.000001": -1, "-0.5": -1, "0.0000001": -1, "half": -1, "65%": -1, "+": -1, "0.-1": -1, "0.+5": -1} {
		r := Mode{Name: "x", Settings: []Setting{{"p", text}}}.Read("x{p=0.5}")
		got := r.Share("p")
		if err := r.Done(); want >= 0 && (err != nil || got != want) || want < 0 && err == nil {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
}
