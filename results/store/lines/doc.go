// Package lines is a record in JSON Lines, for small ones that people write by
// hand and tests keep: a header that says what is promised and what verdict is
// expected, then a hit a line.
//
//	{"expect":"broken bound.upper","contract":"token-bucket","burst":1,"rate":"1/s"}
//	{"at":"0s","rtt":"2ms","status":200}
//	{"at":"100ms","rtt":"2ms","status":200}
//
// It stands beside the run folder and knows nothing of it.
package lines
