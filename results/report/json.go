package report

import (
	"encoding/json"
	"io"
)

// JSON writes a report, or a failure, as one indented JSON object.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
