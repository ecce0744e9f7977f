//go:build !cgo

// Command copies measures asynchronous copies of pinned memory; it needs cgo.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "the copies benchmark compares with C: build it with cgo")
	os.Exit(1)
}
