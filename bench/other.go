//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: the kernel's stamps of arrivals are asked for as Linux gives them: run it there")
	os.Exit(3)
}
