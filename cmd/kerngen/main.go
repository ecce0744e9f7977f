// Command kerngen makes typed Go packages of compiled Triton kernels. Run
// "kerngen help generate" for its use.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
