package live

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen is the lower end of a terminal, on which a frame replaces the one before
// in place: what stands above stays, and nothing of it is left at the end.
type Screen struct {
	file  *os.File
	drawn []int // columns of each line that stands there
}

// Open is the screen behind a file; ok is false where frames cannot be drawn on it.
func Open(f *os.File) (s *Screen, ok bool) {
	if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" || !understands(f) {
		return nil, false
	}
	return &Screen{file: f}, true
}

// Style is what the screen can show now: it may have been resized.
func (s *Screen) Style() Style {
	style := Style{Width: 80, Height: 24, Unicode: unicode(), Colour: os.Getenv("NO_COLOR") == ""}
	if w, h, err := term.GetSize(int(s.file.Fd())); err == nil && w > 0 && h > 0 {
		style.Width, style.Height = w, h
	}
	return style
}

// unicode reports whether the terminal is told to show more than ASCII. Windows
// consoles are, and say nothing.
func unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return consoles
}

// Draw puts a frame in the place of the one before. It is written at once, so
// that nothing flickers.
func (s *Screen) Draw(lines []string) {
	var out strings.Builder
	s.back(&out, s.Style().Width)
	s.drawn = s.drawn[:0]
	for _, line := range lines {
		out.WriteString(line + "\x1b[K\r\n")
		s.drawn = append(s.drawn, columns(line))
	}
	out.WriteString("\x1b[J")
	_, _ = s.file.WriteString(out.String())
}

// Clear takes the frame away.
func (s *Screen) Clear() {
	var out strings.Builder
	s.back(&out, s.Style().Width)
	out.WriteString("\x1b[J")
	s.drawn = nil
	_, _ = s.file.WriteString(out.String())
}

// back goes to where the last frame began. A terminal that has become narrower
// has broken its lines.
func (s *Screen) back(out *strings.Builder, width int) {
	rows := 0
	for _, n := range s.drawn {
		rows += max(1, (n+width-1)/width)
	}
	if rows > 0 {
		fmt.Fprintf(out, "\r\x1b[%dA", rows)
	}
}

// columns is how many a line takes, colours left out.
func columns(line string) int {
	n := utf8.RuneCountInString(line)
	for {
		i := strings.IndexByte(line, '\x1b')
		if i < 0 {
			return n
		}
		end := i + strings.IndexByte(line[i:], 'm') + 1
		n -= end - i
		line = line[end:]
	}
}
