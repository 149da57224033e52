package assertions

import (
	"hash/fnv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
)

// apart is a server whose windows lie on a grid of their own for each key, whose
// phase is a hash of the key, so that the windows of all keys do not end at once.
type apart struct {
	algorithm limiter.Algorithm
	seed      uint64
	keys      map[string]*virtual.Limited
}

func (a *apart) Answer(r virtual.Request) virtual.Answer {
	k := a.keys[r.Key]
	if k == nil {
		h := fnv.New64a()
		h.Write([]byte(r.Key))
		phase := int64((h.Sum64() + a.seed) % uint64(time.Hour))
		k = &virtual.Limited{Algorithm: a.algorithm, Now: func(at int64) int64 {
			now := phase + at
			return now - now%int64(time.Millisecond)
		}}
		a.keys[r.Key] = k
	}
	return k.Answer(r)
}

// A promise that leaves open where windows begin is kept by one whose windows
// begin elsewhere for each key.
func TestGridsOfEachKeysOwnAreNotAccused(t *testing.T) {
	for _, text := range []string{"fixed-window{rate=20/2s,align=epoch}", "lumps{burst=20,rate=10/1s,align=epoch}", "sliding-counter{rate=20/2s}"} {
		kept, all := uint64(0), seeds(4)
		for seed := range all {
			a := algorithm(t, text)
			v := trialOf(t, &apart{algorithm: a, seed: seed, keys: map[string]*virtual.Limited{}}, declared(a.Promise()), virtual.LAN(), seed)
			switch v.Status {
			case results.Broken:
				t.Errorf("%s, seed %d: %q", text, seed, broken(v))
			case results.Kept:
				kept++
			}
		}
		t.Logf("%-40s %d of %d kept", text, kept, all)
		if kept*2 < all {
			t.Errorf("%s: %d of %d kept", text, kept, all)
		}
	}
}
