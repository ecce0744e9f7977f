package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

// errDiffers is the outcome of a check that has printed what differs.
var errDiffers = errors.New("the package differs")

func checkCommand() *cobra.Command {
	var r request
	var fromFile configured
	c := &cobra.Command{
		Use:   "check " + requestUse,
		Short: "Say what generate would change, and change nothing",
		Long: `Check takes the arguments of generate and does all that it does but write. It
prints a unified diff of the Go files that generate would change, and a line for
each image. Another version of kerngen that would write the same is no
difference.

Without a PATH it checks what kerngen.yaml lists: that no Python source, type,
option or target has changed since the kernels were compiled, that the artefacts
are those that were compiled, and that the packages are what they give. None of
that needs Python. --recompile compiles all kernels elsewhere, with the Triton
that made the artefacts, and says which of them are not, byte for byte, what the
sources give.

The exit status is 0 where the package is just what generate would leave, 1
where it differs or for a fault of the input, or 2 for one of the command line.`,
		Example: `  kerngen check --package vec --out internal/vec kernels/artefacts
  kerngen check --recompile`,
		RunE: func(c *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return fromFile.check(c)
			}
			result, err := r.generate(c, paths)
			if err != nil {
				return err
			}
			diff, err := gen.Check(r.out, result.Files)
			if err != nil {
				return err
			}
			depfile, err := openDepfile(r.depfile, result.Inputs)
			if err != nil {
				return err
			}
			if err := depfile.write(result); err != nil {
				return err
			}
			if diff == "" {
				return nil
			}
			if _, err := io.WriteString(c.OutOrStdout(), diff); err != nil {
				return err
			}
			return errDiffers
		},
	}
	r.flags(c)
	fromFile.checkFlags(c)
	r.orConfigured(c, &fromFile)
	return c
}
