package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestPackedLines: a record in JSON Lines is read when it is packed too, and not when
// the pack is cut.
func TestPackedLines(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "{\"burst\":1,\"rate\":\"1/s\"}\n{\"at\":\"0s\",\"rtt\":\"2ms\",\"status\":200}\n")
	z.Close()
	name := filepath.Join(t.TempDir(), "run.jsonl.gz")
	if err := os.WriteFile(name, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, hits, err := loadLines(name); err != nil || len(hits) != 1 {
		t.Errorf("got %d hits and %v, want one", len(hits), err)
	}
	if err := os.Truncate(name, int64(packed.Len()-9)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := loadLines(name); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut pack: got %v, want an unexpected end", err)
	}
}
