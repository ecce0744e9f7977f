//go:build !cgo

// Command launch measures what a launch costs on the host; it needs cgo.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the launch benchmark compares with C: build it with cgo")
	os.Exit(1)
}
