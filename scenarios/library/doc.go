// Package library holds the traps that limiters are led into, one a file: what
// each fires, what it proves, and which kinds of fault it is for. The standard
// scenario and the thorough one are drawn from them, fitted to what is promised.
package library
