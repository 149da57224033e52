// Package probes fires a plan at a limiter and records what came back. It
// stands between scenarios, whose Plan it takes, and results, whose Blocks it
// makes; it knows nothing of how a record is judged.
//
// Firing is open loop: a shot leaves at its moment whether or not earlier
// answers are there. What cannot leave in time is missed and counted, and is
// never sent in a bunch later. Only an attack reacts to answers, and what it
// fires is due at a moment as well. A request's interval starts before its first
// byte can leave and ends after the answer's first byte has come, so that the
// limiter's decision lies inside it whatever the delays.
package probes
