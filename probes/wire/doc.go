// Package wire speaks HTTP/1.1 over plain TCP, as little of it as a request at a
// limiter needs, and tells when each byte could leave and had come. It is what
// probes fires with where net/http would cost too much, and it knows nothing of
// plans and records. One loop owns its connections and does everything on one
// thread: it waits for the next moment, writes, reads and stamps. Nothing is
// pipelined and nothing is sent twice.
package wire
