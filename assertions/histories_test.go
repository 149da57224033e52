package assertions

import (
	"os"
	"strconv"
)

// manyHistories is the environment variable that says how many histories the exact
// stage is held against brute force and porcupine on, such as 100000.
const manyHistories = "HAMMER_HISTORIES"

// historiesOr is how many are tried: so many as a rule.
func historiesOr(usual int) int {
	if n, err := strconv.Atoi(os.Getenv(manyHistories)); err == nil && n > 0 {
		return n
	}
	return usual
}
