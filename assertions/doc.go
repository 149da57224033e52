// Package assertions judges the record of a run against what the limiter
// promises. It stands between results, which it reads and writes, and the
// commands; it is pure, and it decides in integers only.
//
// A request was decided at an unknown moment of the closed interval from its
// Sent to its First. A promise counts as broken only when no choice of moments
// explains the record; so network delay costs sharpness and never truth.
//
// Every assertion hears the same events, the starts and ends of those
// intervals in the order of time, in one pass: the same code judges while a
// run goes on and when its folder is read again.
package assertions
