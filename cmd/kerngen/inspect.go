package main

import (
	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

func inspectCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		DisableFlagsInUseLine: true,

		Use:   "inspect [--json] PATH...",
		Short: "Show what artefacts and generated packages hold",
		Long: `Inspect shows what the paths hold: for each compiled image its arguments, where
the code takes them, what a launch needs, and the files that can be loaded. A
PATH is a file or a folder as for generate, or a package that generate wrote.

It reports facts, also of what generate would refuse, and then says why that
would. --json prints them for programs, as docs/inspect.md describes.`,
		Example: `  kerngen inspect ~/.triton/cache
  kerngen inspect --json internal/vec`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(c, "a PATH is needed: an artefact file such as add_kernel.json, a folder of them, or a generated package")
			}
			return noneEmpty(c, args)
		},
		RunE: func(c *cobra.Command, paths []string) error {
			report, err := gen.Inspect(paths)
			if err != nil {
				return err
			}
			if asJSON {
				return report.WriteJSON(c.OutOrStdout())
			}
			return report.WriteTable(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
