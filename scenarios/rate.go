package scenarios

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Rate is an exact rate: Count tokens in every Per. It is kept as the two
// numbers that were promised and never as a quotient, because 100 a minute has
// no exact value in tokens per nanosecond. The zero Rate refills nothing.
type Rate struct {
	Count int64         // tokens; 0 means none
	Per   time.Duration // nanoseconds; 0 only in the zero Rate
}

// unitNames are the period names a rate may end with, the first of each
// duration being the one that String prints.
var unitNames = []struct {
	name string
	per  time.Duration
}{
	{"d", 24 * time.Hour}, {"day", 24 * time.Hour},
	{"h", time.Hour}, {"hour", time.Hour},
	{"m", time.Minute}, {"min", time.Minute}, {"minute", time.Minute},
	{"s", time.Second}, {"sec", time.Second}, {"second", time.Second},
	{"ms", time.Millisecond},
	{"us", time.Microsecond}, {"µs", time.Microsecond},
	{"ns", time.Nanosecond},
}

// ParseRate reads a rate such as 5/s, 5/1s, 100/m, 1/10s, 0.5/s or 1000/day.
// A decimal count is kept exactly: 0.5/s becomes 5 per 10 s. The error names
// what is wrong and shows a correct form.
func ParseRate(s string) (Rate, error) {
	count, per, ok := strings.Cut(s, "/")
	if !ok {
		return Rate{}, fmt.Errorf("rate %q has no period: write tokens per time, for example %s/s or 100/m", s, orFive(s))
	}
	n, scale, err := parseCount(count)
	if err != nil {
		return Rate{}, fmt.Errorf("rate %q: %w", s, err)
	}
	p, err := parsePeriod(per)
	if err != nil {
		return Rate{}, fmt.Errorf("rate %q: %w", s, err)
	}
	if scale > 1 && int64(p) > math.MaxInt64/scale {
		return Rate{}, fmt.Errorf("rate %q: too many decimals for so long a period", s)
	}
	return Rate{Count: n, Per: p * time.Duration(scale)}, nil
}

func orFive(s string) string {
	if _, _, err := parseCount(s); err == nil {
		return s
	}
	return "5"
}

// parseCount reads a positive decimal as n/scale, scale a power of ten.
func parseCount(s string) (n, scale int64, err error) {
	whole, frac, dotted := strings.Cut(s, ".")
	if strings.HasSuffix(s, "r") {
		return 0, 0, fmt.Errorf("%q is nginx's spelling: write %s/s", s+"/s", strings.TrimSuffix(s, "r"))
	}
	if whole == "" || dotted && frac == "" || len(frac) > 9 || !digits(whole) || !digits(frac) {
		return 0, 0, fmt.Errorf("%q is not a count of tokens (digits, at most nine decimals)", s)
	}
	frac = strings.TrimRight(frac, "0")
	scale = 1
	for range frac {
		scale *= 10
	}
	n, err = strconv.ParseInt(whole+frac, 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%q tokens are more than can be counted", s)
	}
	if n == 0 {
		return 0, 0, fmt.Errorf("a rate of zero never refills: give at least one token per period, such as 1/h")
	}
	return n, scale, nil
}

func digits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// parsePeriod reads a duration of Go's form, or a bare unit that stands for one of it.
func parsePeriod(s string) (time.Duration, error) {
	for _, u := range unitNames {
		if s == u.name {
			return u.per, nil
		}
		num, ok := strings.CutSuffix(s, u.name)
		if !ok || num == "" || !digits(num) {
			continue
		}
		n, err := strconv.ParseInt(num, 10, 64)
		if err != nil || n > math.MaxInt64/int64(u.per) {
			return 0, fmt.Errorf("the period %q is longer than 292 years", s)
		}
		if n == 0 {
			return 0, fmt.Errorf("the period %q is zero", s)
		}
		return time.Duration(n) * u.per, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a period: write s, m, h, d or a duration such as 10s or 250ms", s)
	}
	return d, nil
}

// String gives the shortest form that ParseRate reads back to the same Rate.
func (r Rate) String() string {
	if r.Per <= 0 {
		return "0"
	}
	return strconv.FormatInt(r.Count, 10) + "/" + formatPeriod(r.Per)
}

func formatPeriod(d time.Duration) string {
	for _, u := range unitNames {
		if d == u.per {
			return u.name
		}
		if d%u.per == 0 {
			return strconv.FormatInt(int64(d/u.per), 10) + u.name
		}
	}
	return d.String()
}

// Units is the rate in lowest terms, num tokens in den nanoseconds. The zero
// Rate gives 0 in 1.
func (r Rate) Units() (num, den int64) {
	if r.Count == 0 || r.Per <= 0 {
		return 0, 1
	}
	g := gcd(r.Count, int64(r.Per))
	return r.Count / g, int64(r.Per) / g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Times is the rate multiplied by num/den, exactly where that fits in 64 bits,
// else with the period rounded to a nanosecond of a count kept at 18 digits or less.
func (r Rate) Times(num, den int64) Rate {
	n, d := r.Units()
	top := new(big.Int).Mul(big.NewInt(n), big.NewInt(num))
	bot := new(big.Int).Mul(big.NewInt(d), big.NewInt(den))
	q := new(big.Rat).SetFrac(top, bot)
	for !q.Num().IsInt64() || !q.Denom().IsInt64() {
		top.Rsh(top, 1)
		bot.Rsh(bot, 1)
		q.SetFrac(top, bot)
	}
	return Rate{Count: q.Num().Int64(), Per: time.Duration(q.Denom().Int64())}
}

// Cmp compares two rates exactly: -1 when r is slower than s, 0 when they are
// the same rate in whatever form, +1 when r is faster.
func (r Rate) Cmp(s Rate) int {
	rn, rd := r.Units()
	sn, sd := s.Units()
	a := new(big.Int).Mul(big.NewInt(rn), big.NewInt(sd))
	b := new(big.Int).Mul(big.NewInt(sn), big.NewInt(rd))
	return a.Cmp(b)
}

// Time is how long n tokens take to refill, rounded up to a nanosecond. It
// saturates at the longest Duration, which is also the answer of a zero Rate.
func (r Rate) Time(n int64) time.Duration {
	num, den := r.Units()
	if num == 0 {
		return math.MaxInt64
	}
	t := new(big.Int).Mul(big.NewInt(n), big.NewInt(den))
	t.Add(t, big.NewInt(num-1)).Quo(t, big.NewInt(num))
	if !t.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(t.Int64())
}

// Tokens is how many whole tokens refill within d, rounded down, saturating.
func (r Rate) Tokens(d time.Duration) int64 {
	num, den := r.Units()
	t := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(num))
	t.Quo(t, big.NewInt(den))
	if !t.IsInt64() {
		return math.MaxInt64
	}
	return t.Int64()
}

// PerSecond is the rate in tokens a second, for people: rounded, and never
// used for a verdict.
func (r Rate) PerSecond() float64 {
	if r.Per <= 0 {
		return 0
	}
	return float64(r.Count) / r.Per.Seconds()
}
