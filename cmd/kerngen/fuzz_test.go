package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

// FuzzRequest reads command lines of generate, one argument a line, as far as to
// the package in memory. The paths are always the same: what a file system holds
// is no matter of options.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"--package=p",
		"--package\nvec\n--out\nvec\n--name=add_kernel=sum\n--rename\nadd_kernel.n_elements=count\n--rename=x_ptr=x",
		"--package=p\n--fold=add_kernel.n_elements=1\n--fold\nadd_kernel.x_ptr=null\n--on-duplicate=suffix\n--depfile=p.d",
		"--package=p\n--signature\nadd_kernel=x_ptr: *fp32:16, y_ptr: *fp32:16, out_ptr: *fp32:16, n_elements: i32",
		"--on-duplicate\n\n--name==\n--depfile=.d\n--package=a b",
	} {
		f.Add(seed)
	}
	paths := []string{"../../gen/testdata/triton-3.6.0/aot/add.sm80"}
	f.Fuzz(func(t *testing.T, lines string) {
		var r request
		c := &cobra.Command{Use: "generate", SilenceErrors: true, SilenceUsage: true}
		r.flags(c)
		c.Args = nil
		c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{c.CommandPath(), err} })
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		c.RunE = func(c *cobra.Command, _ []string) error {
			config, err := r.config(c, paths)
			if err != nil {
				return err
			}
			config.Dir = t.TempDir()
			result, err := gen.Generate(config)
			if err == nil && len(result.Files) != 3 { // Go, image, list of kernels
				t.Errorf("%d files", len(result.Files))
			}
			return err
		}
		c.SetArgs(strings.Split(lines, "\n"))
		err := c.Execute()
		var asUsage usageError
		if err != nil && !errors.As(err, &asUsage) && !gen.IsUserError(err) {
			t.Errorf("neither usage nor a fault of the input: %v", err)
		}
	})
}
