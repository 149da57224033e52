package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// around is an algorithm that has another one's states and changes its decisions.
type around struct{ limiter.Algorithm }

func (a around) under() limiter.Algorithm { return a.Algorithm }

// deciding is the algorithm at the bottom of all that defects have put around it.
func deciding(a limiter.Algorithm) limiter.Algorithm {
	for {
		switch outer := a.(type) {
		case limiter.Wrapper:
			a = outer.Unwrap()
		case interface{ under() limiter.Algorithm }:
			a = outer.under()
		default:
			return a
		}
	}
}

// bucket is the arithmetic of a token bucket.
type bucket struct {
	num  int64 // units gained in a nanosecond
	unit int64 // units in a token
	full int64 // units in all tokens
}

// bucketOf is that of the bucket that decides, which may be another one than is
// promised. The error, of a defect of this name, says that none does.
func bucketOf(name string, a limiter.Algorithm) (bucket, error) {
	if err := wantBucket(name, a); err != nil {
		return bucket{}, err
	}
	b, ok := deciding(a).(*limiter.TokenBucket)
	if !ok {
		return bucket{}, fmt.Errorf("%s: cannot be combined with what another defect has put around the bucket", name)
	}
	num, unit := b.Promise().Rate.Units()
	return bucket{num: num, unit: unit, full: b.Fresh(0).(*limiter.Bucket).Level}, nil
}
