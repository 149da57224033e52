package assertions

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/scenarios"
)

// heldBack says that requests were held back instead of refused, where nothing was
// refused and a bucket was promised; empty: nothing looks like it. It is a hint for
// who declared the wrong contract, and no status rests on it.
func (s *sample) heldBack(l scenarios.Limit) string {
	switch l.Contract {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx:
	default:
		return ""
	}
	if l.Rate.Count == 0 {
		return ""
	}
	token := s.ticks(l.Token())
	queued, spaced := s.inRow(l, token)
	if queued < fewestHeld || spaced*10 < queued*9 {
		return ""
	}
	return fmt.Sprintf("; requests that were under way together were answered %s apart (%d of %d), as by a limiter that holds back instead of refusing: if that is what it promises, say --contract queue",
		duration(int64(l.Token())), spaced, queued)
}

// fewestHeld is how many answers must come behind another one that their requests
// did not wait for.
const fewestHeld = 5

// inRow counts the answers whose requests had left when the answer before them on
// their key came, and those of them that came a token's time behind it.
func (s *sample) inRow(l scenarios.Limit, token int64) (queued, spaced int) {
	ends := map[int32][]*brief{}
	for i := range s.hits {
		h := &s.hits[i]
		if k := slot(l, h.key); h.certain() > 0 {
			ends[k] = append(ends[k], &h.brief)
		}
	}
	for _, key := range ends {
		slices.SortFunc(key, func(a, b *brief) int { return cmp.Compare(a.to, b.to) })
		for i := 1; i < len(key); i++ {
			if key[i].from > key[i-1].to {
				continue
			}
			queued++
			if key[i].to-key[i-1].to > token*8/10 {
				spaced++
			}
		}
	}
	return queued, spaced
}
