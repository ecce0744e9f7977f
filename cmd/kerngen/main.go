// Command kerngen makes typed Go packages of compiled Triton kernels. Run
// "kerngen help generate" for its use.
package main

import (
	"os"
	"runtime/debug"
)

// A run is over before collecting garbage often would pay: the heap may grow to
// five times what is in use, or to memoryLimit bytes, beyond which it is
// collected as need be. GOGC and GOMEMLIMIT have their usual say.
const (
	gcPercent   = 400
	memoryLimit = 512 << 20
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
