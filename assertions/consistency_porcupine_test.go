package assertions

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// porcupineModel tells a general checker of histories what a bucket is: its state
// is a curve. The checker has its own search for an order.
func porcupineModel(k driftingBucket, start curve) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(state, input, _ any) (bool, any) {
			b, t := k, input.(porcupineInput)
			f := b.settle(nil, state.(curve), math.MaxInt64/4)
			var next curve
			switch {
			case t.refused:
				next = b.refuse(nil, f, t.from, t.to, t.cost)
			case t.maybe:
				next = curve(nil).lesser(b.admit(nil, f, t.from, t.to, t.cost), state.(curve))
			default:
				next = b.admit(nil, f, t.from, t.to, t.cost)
			}
			return len(next) > 0, next
		},
		Equal: func(a, b any) bool { return slices.Equal(a.(curve), b.(curve)) },
	}
}

type porcupineInput struct {
	task
	maybe bool
}

func TestOrderingAgainstPorcupine(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	histories, refuted := 4000, 0
	if raced {
		histories = 300
	}
	histories = historiesOr(histories)
	for n := range histories {
		h, p := randomHistory(rng, 9), randomTempo(rng)
		burst, full := int64(1+rng.IntN(4)), rng.IntN(3) > 0
		units, bucket := inUnits(h, p, burst, full)
		var ops []porcupine.Operation
		for i, t := range slices.Concat(units.sure, units.maybe) {
			ops = append(ops, porcupine.Operation{ClientId: i, Input: porcupineInput{t, i >= len(units.sure)}, Call: t.from, Return: t.to})
		}
		want := impossible
		switch porcupine.CheckOperationsTimeout(porcupineModel(bucket, units.start), ops, 5*time.Second) {
		case porcupine.Ok:
			want = possible
		case porcupine.Illegal:
			refuted++
		default:
			continue
		}
		o := ordering{driftingBucket: bucket, budget: 1_000_000}
		if got := o.solve(units); got != want {
			t.Fatalf("history %d %+v at %+v burst %d full %v: got %d, porcupine %d", n, h, p, burst, full, got, want)
		}
	}
	t.Logf("%d of %d histories are impossible", refuted, histories)
	if refuted < histories/10 || refuted > histories*9/10 {
		t.Errorf("%d of %d are impossible: the histories do not try both sides", refuted, histories)
	}
}
