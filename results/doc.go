// Package results is the record of a run and what was concluded from it: Hit,
// Mark and Block come from probes, Finding and Verdict from assertions. It
// stands between the two, so that neither knows the other, and it depends on
// the standard library alone.
//
// Inside a run every moment is nanoseconds since the run's start on one
// monotonic clock. The wall clock appears once, in the manifest, for people.
package results
