// Command kerngen makes typed Go packages of compiled Triton kernels. Run
// "kerngen help generate" for its use.
package main

import (
	"os"
	"runtime/debug"
)

// gcPercent lets the heap grow to five times what is in use: a run is over
// before collecting more often would pay.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
