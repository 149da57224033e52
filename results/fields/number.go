package fields

import (
	"math"
	"strconv"
	"strings"
)

// number reads a whole number, of which the fraction may be written: 10, -1, 2.0.
func number(text string) (n Number, ok bool) {
	text = strings.TrimSpace(text)
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Trim(fraction, "0123456789") != "" {
		return Number{}, false
	}
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || v == math.MinInt64 {
		return Number{}, false
	}
	if v <= 0 && strings.HasPrefix(whole, "-") && strings.Trim(fraction, "0") != "" {
		v-- // rounded down, as one that is not negative is
	}
	return Number{v, true}, true
}

// isInteger reports whether the text is digits, with or without a sign.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isDecimal reports whether it is digits with a point between them.
func isDecimal(text string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return point && isInteger(whole) && !strings.HasPrefix(whole, "-") && isInteger(fraction) && !strings.HasPrefix(fraction, "-")
}
