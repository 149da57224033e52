package assertions

import "github.com/ratehammer/ratehammer/scenarios"

// maxShards is how many limiters side by side are looked for.
const maxShards = 16

// sideBySide looks for several limiters that each keep the promise, and between
// which requests are divided in whatever way: instances that count on their own.
// Together they admit at most a multiple of the promise, and none refuses what
// it has itself; a new key finds all of them full. It takes the smallest multiple, and only where what was
// admitted comes near to it; so a rate that is half as high again is none.
func (d *diagnosis) sideBySide() (x explanation, ok bool) {
	l := d.limit()
	if len(d.limits) > 1 || l.Rate.Count == 0 || d.wronged(l) || !d.exceeds() {
		return x, false
	}
	for m := int64(2); m <= maxShards; m++ {
		if d.over(combined(l, m, 1)) {
			continue
		}
		if !d.nearly(l, m, 1) {
			if !d.nearly(l, m, 0) {
				return x, false
			}
			if _, race := d.race(); race {
				return x, false
			}
		}
		f := d.order()[0]
		return explanation{family: f, limit: multiplied(l, m, 1), by: account{theory: "limiters side by side"}, kept: 2, waits: unforetold, factor: float64(m), apart: true}, true
	}
	return x, false
}

// nearly reports whether more was admitted than m limiters side by side would at
// half of one's rate less, beside so many that a volley may have had more than
// its due.
func (d *diagnosis) nearly(l scenarios.Limit, m, more int64) bool {
	less := combined(l, 2*m, 2)
	if periodic(l.Contract) {
		less = combined(l, 2*m-1, 2)
	} else {
		less.Rate = l.Rate.Times(2*m-1, 2)
		less.Burst += more
	}
	return d.over(less)
}

// combined is a limit on what so many limiters admit. A queue lets one through at
// once and the others later, and as many queues as many.
func combined(l scenarios.Limit, num, den int64) scenarios.Limit {
	if l.Contract != scenarios.Queue {
		return multiplied(l, num, den)
	}
	l.Contract, l.Burst = scenarios.TokenBucket, 1
	return multiplied(l, num, den)
}

// multiplied is a limit with num/den of its budget.
func multiplied(l scenarios.Limit, num, den int64) scenarios.Limit {
	l.Burst = l.Burst * num / den
	if has, _ := l.Contract.Numbers(); has.Burst && !periodic(l.Contract) {
		l.Rate = scaled(l.Rate, num, den)
	} else {
		l.Rate.Count = l.Rate.Count * num / den
	}
	return l
}

// scaled is num/den of a rate, in the period that people know it by where that
// gives a whole number.
func scaled(r scenarios.Rate, num, den int64) scenarios.Rate {
	if r.Count*num%den == 0 {
		return scenarios.Rate{Count: r.Count * num / den, Per: r.Per}
	}
	return r.Times(num, den)
}
