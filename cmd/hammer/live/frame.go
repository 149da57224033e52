package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// State is how far a run is.
type State struct {
	Phase                             string
	Elapsed                           time.Duration
	Whole                             time.Duration // up to the last request that is planned
	Most                              time.Duration // what answers can make of it at most
	Planned, Sent, Missed             int64
	Admitted, Limited, Other, Unknown int64
	// AtMost is what the promise lets a key have in so long a time; nil, or false:
	// it says nothing of that.
	AtMost func(time.Duration) (float64, bool)
}

// Style is what a terminal can show. The zero value is ASCII without colours.
type Style struct {
	Width, Height   int // columns and lines
	Colour, Unicode bool
}

const (
	reset  = "\x1b[0m"
	faint  = "\x1b[2m"
	red    = "\x1b[1;31m"
	blue   = "\x1b[34m"
	yellow = "\x1b[33m"
)

// Frame is the run as it stands, in lines that fit the terminal.
func (r *Record) Frame(s State, style Style) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &frame{style: style, width: max(style.Width-1, 10), height: max(style.Height-1, 1)}
	f.line("", s.head(f.width, style.Unicode))
	f.line("", s.counts(f.width))
	if r.count > 0 {
		f.line(faint, fmt.Sprintf("late by %s (half), %s (99 %%), %s (worst)", short(r.lateness(0.5)), short(r.lateness(0.99)), short(time.Duration(r.most))))
	}
	if r.proof != "" {
		f.told(red, "BROKEN already "+r.proof)
	} else {
		f.line(faint, "nothing is proven to be broken so far")
	}
	r.strips(f, s)
	return f.lines[:min(len(f.lines), f.height)]
}

// frame is lines of one width.
type frame struct {
	style         Style
	width, height int
	lines         []string
}

func (f *frame) line(colour, text string) {
	text = cut(text, f.width)
	if f.style.Colour && colour != "" {
		text = colour + text + reset
	}
	f.lines = append(f.lines, text)
}

// told is a text in up to two lines, broken between words.
func (f *frame) told(colour, text string) {
	if end := strings.LastIndexByte(cut(text, f.width), ' '); utf8.RuneCountInString(text) > f.width && end > f.width/2 {
		f.line(colour, text[:end])
		text = "  " + strings.TrimLeft(text[end:], " ")
	}
	f.line(colour, text)
}

// head is the phase, a bar, and the time.
func (s State) head(width int, unicode bool) string {
	times := s.times()
	switch {
	case s.Elapsed > s.Most:
		return "all is fired; what is left is answers and the verdict"
	case s.Elapsed > s.Whole:
		times = fmt.Sprintf("%s, as answers direct, %s at most", seconds(s.Elapsed), seconds(s.Most))
	}
	room := width - utf8.RuneCountInString(s.Phase) - len(times) - 6
	if room < 8 {
		return s.Phase + "  " + times
	}
	room = min(room, 40)
	full := room
	if s.Whole > 0 && s.Elapsed < s.Whole {
		full = int(s.Elapsed * time.Duration(room) / s.Whole)
	}
	on, off := "#", "-"
	if unicode {
		on, off = "━", "╌"
	}
	return s.Phase + "  " + strings.Repeat(on, full) + strings.Repeat(off, room-full) + "  " + times
}

// counts is what became of the requests so far.
func (s State) counts(width int) string {
	text := fmt.Sprintf("sent %d of %d%s: %d admitted, %d limited%s%s", s.Sent, s.Planned, some(", %d missed", s.Missed), s.Admitted, s.Limited, some(", %d other", s.Other), some(", %d unknown", s.Unknown))
	if len(text) > width {
		return fmt.Sprintf("%d/%d: %d ok, %d limited%s%s", s.Sent, s.Planned, s.Admitted, s.Limited, some(", %d else", s.Other+s.Unknown), some(", %d missed", s.Missed))
	}
	return text
}

func (s State) times() string {
	t := fmt.Sprintf("%s of %s", seconds(s.Elapsed), seconds(s.Whole))
	if s.Most.Round(time.Second) > s.Whole.Round(time.Second) {
		t += fmt.Sprintf(" (%s at most)", seconds(s.Most))
	}
	return t
}

// strips are the keys over time, as many as fit.
func (r *Record) strips(f *frame, s State) {
	room := f.height - len(f.lines) - 2
	if room < 1 || r.count == 0 {
		return
	}
	names := clamp(f.width/4, 8, 24)
	numbers := 20
	if f.width < 60 {
		numbers = 12
	}
	columns := f.width - names - numbers - 2
	if columns < 10 {
		return
	}
	f.legend(names, columns, numbers)
	f.row(&r.all, r.last, r.width, names, columns, s, fmt.Sprintf("%d", r.all.admitted))
	now := int64(s.Elapsed)
	for _, k := range r.recent(min(room-1, 14)) {
		told := fmt.Sprintf("%d", k.admitted)
		if s.AtMost != nil {
			if most, ok := s.AtMost(time.Duration(max(now-k.began, 0))); ok {
				told = fmt.Sprintf("%d of %.1f", k.admitted, most)
			}
		}
		f.row(k, r.last, r.width, names, columns, s, told)
	}
}

func (f *frame) legend(names, columns, numbers int) {
	up, down := "'", "."
	if f.style.Unicode {
		up, down = "▀", "▄"
	}
	text := pad("key", names) + " " + pad(fmt.Sprintf("%s admitted  %s limited", up, down), columns) + " " + fmt.Sprintf("%*s", numbers, "admitted of most")
	if numbers < 16 {
		text = pad("key", names) + " " + pad(fmt.Sprintf("%s 200 %s 429", up, down), columns)
	}
	f.line(faint, strings.TrimRight(text, " "))
}

// row is one strip: the past fills as much of it as is over of the run.
func (f *frame) row(k *strip, last int, width int64, names, columns int, s State, told string) {
	wide := columns
	if s.Whole > s.Elapsed {
		wide = max(1, int(time.Duration(columns)*s.Elapsed/s.Whole))
	}
	used := max(last+1, int(min(int64(s.Elapsed)/width+1, cells)))
	var out strings.Builder
	for _, saw := range squeezed(k.cells[:used], wide) {
		out.WriteString(f.glyph(saw))
	}
	gap := strings.Repeat(" ", max(0, columns-wide))
	f.lines = append(f.lines, strings.TrimRight(pad(plain(k.name), names)+" "+out.String()+gap+" "+fmt.Sprintf("%*s", f.width-names-columns-2, told), " "))
}

// squeezed is a strip in exactly so many columns.
func squeezed(row []uint8, columns int) []uint8 {
	out := make([]uint8, columns)
	for i, saw := range row {
		out[i*columns/len(row)] |= saw
	}
	if len(row) < columns { // a cell is wider than a column
		for i := range out {
			out[i] = row[i*len(row)/columns]
		}
	}
	return out
}

// glyph is what a cell has seen: above what was admitted, below what was not.
func (f *frame) glyph(saw uint8) string {
	if saw == 0 {
		return " "
	}
	glyphs := [8]string{sawAdmitted: "'", sawLimited: ".", sawAdmitted | sawLimited: ":"}
	if f.style.Unicode {
		glyphs = [8]string{sawAdmitted: "▀", sawLimited: "▄", sawAdmitted | sawLimited: "█"}
	}
	if saw&sawElse != 0 {
		return f.coloured(red, "x")
	}
	if f.style.Colour && f.style.Unicode && saw == sawAdmitted|sawLimited {
		return "\x1b[34;43m▀" + reset
	}
	return f.coloured(map[uint8]string{sawAdmitted: blue, sawLimited: yellow}[saw], glyphs[saw])
}

func (f *frame) coloured(code, text string) string {
	if !f.style.Colour || code == "" {
		return text
	}
	return code + text + reset
}

// some is a number in words, where there is any.
func some(format string, n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// plain is a name without what would steer a terminal.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7F && c < 0xA0 {
			return '?'
		}
		return c
	}, s)
}

// cut is a text in at most so many columns.
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:max(0, width-1)]) + "~"
}

func pad(s string, width int) string {
	s = cut(s, width)
	return s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
}

func clamp(n, low, high int) int { return min(max(n, low), high) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// short is a length in three digits or fewer.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
