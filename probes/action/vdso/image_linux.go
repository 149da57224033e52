package vdso

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// image is the vDSO of a process.
type image struct {
	base  uint64
	bytes []byte
}

// readImage finds and reads it.
func readImage(pid int, mem *os.File) (i image, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return i, err
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil || to-from > 1<<20 {
			return i, fmt.Errorf("the mapping %q is not understood", strings.TrimSpace(line))
		}
		i = image{from, make([]byte, to-from)}
		_, err := mem.ReadAt(i.bytes, int64(from))
		return i, err
	}
	return i, errors.New("it has no vDSO, so that it asks the kernel for the time by system calls, which are not reached")
}

// names are those of the functions that show the wall clock, in the order of the
// routine's entries; a processor has one of each or none.
var names = [][]string{
	{"__vdso_clock_gettime", "__kernel_clock_gettime"},
	{"__vdso_gettimeofday", "__kernel_gettimeofday"},
	{"__vdso_time"},
}

// functions are their places in the image; zero: there is none of the name.
func (i image) functions() (at []elf.Symbol, err error) {
	f, err := elf.NewFile(bytes.NewReader(i.bytes))
	if err != nil {
		return nil, fmt.Errorf("its vDSO is no library: %w", err)
	}
	if f.Class != elf.ELFCLASS64 || f.Machine != machine() {
		return nil, fmt.Errorf("it runs %v code of %v, and hammer is of %s", f.Machine, f.Class, runtime.GOARCH)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("its vDSO names no functions: %w", err)
	}
	at = make([]elf.Symbol, len(names))
	for _, s := range symbols {
		for n, known := range names {
			for _, name := range known {
				if s.Name == name && s.Value+s.Size <= uint64(len(i.bytes)) {
					at[n] = s
				}
			}
		}
	}
	if at[0].Size == 0 {
		return nil, errors.New("its vDSO has no clock_gettime")
	}
	return at, nil
}

func machine() elf.Machine {
	if runtime.GOARCH == "arm64" {
		return elf.EM_AARCH64
	}
	return elf.EM_X86_64
}

// room is a free place for so many bytes: the zeros behind the library, which fill
// its last page up.
func (i image) room(size int) (at uint64, err error) {
	end := len(bytes.TrimRight(i.bytes, "\x00"))
	at = (uint64(end) + 64) &^ 15
	if at+uint64(size) > uint64(len(i.bytes)) {
		return 0, fmt.Errorf("its vDSO has %d bytes to spare, and %d are needed", len(i.bytes)-end, size)
	}
	return at, nil
}

// leaves reports whether a function begins with a jump to what is behind the library.
func (i image) leaves(at uint64) bool {
	var to uint64
	word := binary.LittleEndian.Uint32(i.bytes[at:])
	switch {
	case runtime.GOARCH == "arm64" && word>>26 == 0x14000000>>26:
		to = at + uint64(int64(int32(word<<6))>>4)
	case runtime.GOARCH == "amd64" && i.bytes[at] == 0xe9:
		to = at + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(i.bytes[at+1:]))))
	}
	table := binary.LittleEndian.Uint64(i.bytes[0x28:]) // the section headers come last
	return to > table && to < uint64(len(i.bytes))
}

// jump is the instruction that goes from one place to another.
func jump(from, to uint64) []byte {
	if runtime.GOARCH == "arm64" {
		return binary.LittleEndian.AppendUint32(nil, 0x14000000|uint32(int64(to-from)>>2)&0x03ffffff)
	}
	return binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(int32(int64(to-from)-5)))
}
