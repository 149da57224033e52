// Command bench fires hammer's generator, wrk and vegeta at a server that stamps
// arrivals from outside, side by side and in turns, and prints what each costs and how
// even its load is. It is for whoever works on the generator; make bench-peers runs it.
package main
