package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

func initCommand() *cobra.Command {
	return &cobra.Command{
		DisableFlagsInUseLine: true,

		Use:   "init FILE.py",
		Short: "Begin a kerngen.yaml for the kernels of a Python file",
		Long: `Init writes a kerngen.yaml beside the file. It lists the @triton.jit functions
that the file defines, with their parameters and what the text says of them:
tl.constexpr, types that are annotated, defaults, @triton.autotune. What only you
know has a "?" for its place; with those filled in, "kerngen generate" compiles
the kernels and makes a Go package of them.

It reads the text and runs nothing, so it needs no Python. A kerngen.yaml that
is there already is left alone.`,
		Example: `  kerngen init kernels/vec.py`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(c, "one FILE.py is needed, which defines @triton.jit functions")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			path, err := gen.Init(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.ErrOrStderr(), "kerngen: %s is for you to fill in; then run kerngen generate\n", filepath.ToSlash(path))
			return err
		},
	}
}
