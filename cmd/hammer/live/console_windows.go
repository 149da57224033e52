package live

import (
	"os"

	"golang.org/x/sys/windows"
)

// consoles is that a Windows console shows Unicode without being told to.
const consoles = true

// understands makes a Windows console move its cursor as it is told to, as other
// terminals do; one before Windows 10 cannot.
func understands(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
