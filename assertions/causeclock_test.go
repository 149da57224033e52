package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
)

// wallBucket is a token bucket of ten at five a second on a wall clock, which never
// takes back what it has refilled. A refusal may count or block.
type wallBucket struct {
	clock   func(at int64) int64
	dated   bool
	charges bool          // refusals take a token too, on credit
	blocks  time.Duration // that a refusal lasts, from the first one on
	keys    map[string]*wallKey
}

type wallKey struct {
	level     float64
	at, until int64
}

func (s *wallBucket) Answer(r virtual.Request) (a virtual.Answer) {
	now := r.At
	if s.clock != nil {
		now = s.clock(r.At)
	}
	k := s.keys[r.Key]
	if k == nil {
		k = &wallKey{level: 10, at: now}
		s.keys[r.Key] = k
	}
	k.level = min(10, k.level+float64(max(0, now-k.at))*5/1e9)
	k.at = max(k.at, now)
	a.Status = 429
	switch {
	case now < k.until:
	case k.level >= 1-1e-9:
		k.level--
		a.Status = 200
	case s.charges:
		k.level = max(k.level-1, -10)
	case s.blocks > 0:
		k.until = now + int64(s.blocks)
	}
	if s.dated {
		a.Date = time.Unix(1_800_000_000, now).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	}
	return a
}

// What comes of a wall clock that is set back, and of refusals that count or block,
// is called by its name, and not taken for the other.
func TestWhatKeepsKeysShut(t *testing.T) {
	back := func(at int64) int64 {
		if at > int64(2500*time.Millisecond) {
			return at - int64(5*time.Second)
		}
		return at
	}
	tests := []struct {
		name   string
		server func() *wallBucket
		want   string
		says   string
	}{
		{"a clock that is set back, told by Date", func() *wallBucket { return &wallBucket{clock: back, dated: true} }, CauseClock, "set back by about 5s"},
		{"a clock that is set back, not told", func() *wallBucket { return &wallBucket{clock: back} }, CauseClock, "all admissions ended in the same instant"},
		{"refusals count", func() *wallBucket { return &wallBucket{charges: true} }, CauseProlong, "refusals seem to count"},
		{"refusals count, with Date", func() *wallBucket { return &wallBucket{charges: true, dated: true} }, CauseProlong, "refusals seem to count"},
		{"refusals block", func() *wallBucket { return &wallBucket{blocks: 1500 * time.Millisecond} }, CauseBlock, "for about 1.5"},
	}
	for _, tt := range tests {
		right, seeds := 0, uint64(3)
		if raced {
			seeds = 1
		}
		for seed := range seeds {
			s := tt.server()
			s.keys = map[string]*wallKey{}
			v := suspected(t, s, asBucket(10, 2*time.Second), virtual.LAN(), seed)
			switch {
			case v.Status != results.Broken:
				t.Errorf("%s, seed %d: %v", tt.name, seed, v.Status)
			case len(v.Causes) > 0 && v.Causes[0].ID == tt.want && strings.Contains(v.Causes[0].Text, tt.says):
				right++
			case len(v.Causes) > 0:
				t.Logf("%s, seed %d: %s: %s", tt.name, seed, v.Causes[0].ID, v.Causes[0].Text)
			default:
				t.Logf("%s, seed %d: no cause of %q", tt.name, seed, broken(v))
			}
		}
		t.Logf("%s: %s named in %d of %d runs", tt.name, tt.want, right, seeds)
		if uint64(right)*100 < seeds*80 {
			t.Errorf("%s: got %s in %d of %d runs", tt.name, tt.want, right, seeds)
		}
	}
}
