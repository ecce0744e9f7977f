// Foreign launches kernels that others wrote, as trace.py found them, on a
// simulated device or a GPU, and compares what two devices make of them.
//
//	foreign run [-only PATTERN] CASES RESULTS.tar.gz
//	foreign compare CASES RESULTS.tar.gz RESULTS.tar.gz
//
// CASES is the folder that trace.py wrote. The device is the first GPU, or a
// simulated one with KERNGEN_DEVICE=sim; both get each kernel's sm_80 PTX. What
// the launches left in memory goes to RESULTS. The comparison is a table.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

var errUsage = errors.New("usage: foreign run [-only PATTERN] CASES RESULTS.tar.gz, or foreign compare CASES RESULTS.tar.gz RESULTS.tar.gz")

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "foreign:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	only := flags.String("only", "", "launch the cases whose names this regular `expression` matches")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch rest := flags.Args(); {
	case args[0] == "run" && len(rest) == 2:
		return run(rest[0], rest[1], *only)
	case args[0] == "compare" && len(rest) == 3:
		return compare(os.Stdout, rest[0], rest[1], rest[2])
	}
	return errUsage
}
