package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

// Exit statuses.
const (
	exitOK    = 0
	exitFault = 1 // of the input, or of kerngen; what check found to differ
	exitUsage = 2
)

// run is the whole command. It prints errors to stderr, one a line, and returns
// the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDiffers):
		return exitFault
	case errors.As(err, &usage):
		for line := range strings.Lines(usage.Error() + "\n") {
			fmt.Fprintf(stderr, "kerngen: %s", line)
		}
		fmt.Fprintf(stderr, "Run \"%s --help\" for its use.\n", usage.command)
		return exitUsage
	default:
		printError(stderr, err)
		return exitFault
	}
}

// usageError is a command line that says nothing that kerngen could do, whatever
// the files hold. What only files show to be wrong is a fault of the input.
type usageError struct {
	command string
	err     error
}

func (e usageError) Error() string { return e.err.Error() }

func usage(c *cobra.Command, format string, args ...any) error {
	return usageError{c.CommandPath(), fmt.Errorf(format, args...)}
}

// printError prints the faults of err, one a line: with their own position, or
// with the command's name.
func printError(w io.Writer, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			printError(w, e)
		}
		return
	}
	var fault *gen.Error
	switch {
	case !errors.As(err, &fault):
		fmt.Fprintf(w, "kerngen: this is a fault of kerngen's own, please report it: %v\n", err)
	case fault.Pos == "":
		fmt.Fprintf(w, "kerngen: %v\n", err)
	default:
		fmt.Fprintf(w, "%v\n", err)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "kerngen",
		Short: "kerngen makes typed Go packages of compiled Triton kernels",
		Long: `kerngen reads what Triton's compiler wrote and makes a Go package of it, with
one typed Launch function for each kernel. The package needs no Python and no
CUDA toolkit; it builds on any machine and launches where there is a GPU.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(c, "there is no command %q", args[0])
			}
			return usage(c, "a command is needed: init, generate, check, inspect, schema or version")
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{c.CommandPath(), err} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(initCommand(), generateCommand(), checkCommand(), inspectCommand(), schemaCommand(), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of kerngen and of Go",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			version := "(devel)"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				version = info.Main.Version
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "kerngen %s %s\n", version, runtime.Version())
			return err
		},
	}
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(c, "%s takes no arguments, not %q", c.Name(), args[0])
	}
	return nil
}
