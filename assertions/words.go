package assertions

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// duration is nanoseconds for people: three digits that matter.
func duration(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < 0:
		return "-" + duration(-ns)
	case d < time.Microsecond:
		return strconv.FormatInt(ns, 10) + " ns"
	case d < time.Millisecond:
		return digits3(float64(ns)/1e3) + " us"
	case d < time.Second:
		return digits3(float64(ns)/1e6) + " ms"
	case d < 10*time.Minute:
		return digits3(float64(ns)/1e9) + " s"
	case d < 10*time.Hour:
		return digits3(d.Minutes()) + " min"
	}
	return digits3(d.Hours()) + " h"
}

// digits3 prints three significant digits without trailing zeros.
func digits3(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	places := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	scale := math.Pow10(places)
	return strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
}

// instant is a time of the run, to the microsecond.
func instant(ns int64) string { return fmt.Sprintf("%.6f s", float64(ns)/1e9) }

// number prints a count or level of tokens, three decimals at most.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// plural is n things in words: 1 request, 2 requests.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
