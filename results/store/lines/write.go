package lines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ratehammer/ratehammer/results"
)

// Write writes a record that Read gives back as it was. It refuses a hit that
// Read would refuse, and names it.
func Write(w io.Writer, head Header, hits []results.Hit) error {
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	seqs := make(map[int64]bool, len(hits))
	for i, h := range hits {
		err := check(h)
		if err == nil && seqs[h.Seq] {
			err = fmt.Errorf("there are two of seq %d", h.Seq)
		}
		if err == nil {
			err = enc.Encode(lineOf(h, int64(i+1)))
		}
		if err != nil {
			return fmt.Errorf("writing hit %d: %w", i+1, err)
		}
		seqs[h.Seq] = true
	}
	return buf.Flush()
}
