// Package fields reads what the header fields of an answer tell of limits, in
// the many dialects that are in use. It stands beside the record that it reads,
// below whoever judges it, and owns the reading of structured fields.
//
// There is no standard for most of them, so that a reader has to guess what a
// number counts. Every guess is said, and what else it might have meant.
package fields
