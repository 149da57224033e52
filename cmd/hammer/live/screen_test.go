package live

import (
	"io"
	"os"
	"strings"
	"testing"
)

// Each frame begins where the one before began, also when the terminal has become
// so narrow since that its lines were broken.
func TestScreenDrawsInPlace(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &Screen{file: w}
	s.Draw([]string{"one", "\x1b[31m" + strings.Repeat("x", 79) + "\x1b[0m"})
	s.Draw([]string{"three"})
	s.drawn = []int{170, 3} // 80 columns: three rows and one
	s.Clear()
	w.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	want := "one\x1b[K\r\n\x1b[31m" + strings.Repeat("x", 79) + "\x1b[0m\x1b[K\r\n\x1b[J" + "\r\x1b[2Athree\x1b[K\r\n\x1b[J" + "\r\x1b[4A\x1b[J"
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, ok := Open(w); ok {
		t.Error("a pipe was taken for a terminal")
	}
}
