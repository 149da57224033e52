// Package traffic reads what other programs recorded of requests: load
// generators, browsers and web servers. It stands beside the run folder, as a
// second source of hits for a judge.
//
// None of them records what a judge needs, which is a moment before the
// request can have reached the limiter and a moment after it was answered. So
// each reader knows what the times of its source mean, and widens them until
// that is true; what it had to assume, and what cannot be asked of its source
// at all, it says.
package traffic
