//go:build !windows

package live

import "os"

// consoles is that a terminal which says nothing of Unicode is not trusted with it.
const consoles = false

// understands reports whether a terminal can move its cursor: all that are not dumb can.
func understands(*os.File) bool { return true }
