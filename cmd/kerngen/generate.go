package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

func generateCommand() *cobra.Command {
	var pkg, out string
	var names, renames []string
	c := &cobra.Command{
		DisableFlagsInUseLine: true,

		Use:   "generate [--package NAME] [--out DIR] [--name KERNEL=NAME]... [--rename [KERNEL.]PARAM=NAME]... PATH...",
		Short: "Make a Go package of compiled kernels",
		Long: `Generate makes a Go package of the compiled kernels that the paths hold. A PATH
is a file that Triton wrote, such as add_kernel.json, or a folder, which is
searched with all below it. NAME.ttir, NAME.ptx and NAME.cubin are read beside
NAME.json, and NAME.kerngen.json where there is one. Compilations of one kernel
for several architectures, or with different promises about its arguments,
become one Launch function that chooses among them.

Each kernel becomes NAME_kern.go and its images, which that file embeds. All of
them belong in version control. A file is written only when it changes; files
of earlier runs that are no longer made are removed, so one command must name
all kernels of a package. No other file in the folder is touched, and after an
error nothing is.

Go names follow from Python's by rule: add_kernel becomes LaunchAddKernel, its
parameter n_elements becomes nElements. Where two names would become one, such
as those of parameters M and m, --name and --rename settle it.

The exit status is 0, or 1 for a fault of the input, or 2 for one of the command
line.`,
		Example: `  kerngen generate --package vec --out internal/vec kernels/artefacts
  kerngen generate --package mm --out mm --rename matmul_kernel.m=rows matmul/

  In a Go file of the package, for "go generate":
  //go:generate go tool kerngen generate ../kernels/add_kernel.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(c, "a PATH is needed: an artefact file such as add_kernel.json, or a folder of them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			config := gen.Config{Dir: out, Paths: args}
			var err error
			if config.Package, err = packageName(c, pkg, out); err != nil {
				return err
			}
			if config.Names, err = assignments(c, "name", "KERNEL=NAME", names); err != nil {
				return err
			}
			if config.Renames, err = assignments(c, "rename", "[KERNEL.]PARAM=NAME", renames); err != nil {
				return err
			}
			result, err := gen.Generate(config)
			for _, w := range result.Warnings {
				fmt.Fprintf(c.ErrOrStderr(), "kerngen: warning: %s\n", w)
			}
			if err != nil {
				return err
			}
			return gen.Write(out, result.Files)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&pkg, "package", "", "package `NAME` (default $GOPACKAGE, in the working folder)")
	f.StringVar(&out, "out", ".", "folder to write to, `DIR`; made where there is none")
	f.StringArrayVar(&names, "name", nil, "settle a kernel's name in Go, `KERNEL=NAME`; repeatable")
	f.StringArrayVar(&renames, "rename", nil, "settle that of a parameter or constant, `[KERNEL.]PARAM=NAME`; repeatable")
	return c
}

// packageName is what --package says, else, in the working folder, the package
// that go generate runs for.
func packageName(c *cobra.Command, pkg, out string) (string, error) {
	if pkg != "" {
		return pkg, nil
	}
	here, err := isWorkingFolder(out)
	if err != nil {
		return "", err
	}
	if name := os.Getenv("GOPACKAGE"); here && name != "" {
		return name, nil
	}
	if !here {
		return "", usage(c, "--package is needed: $GOPACKAGE names the working folder's package, not that of --out %s", out)
	}
	return "", usage(c, "--package is needed: $GOPACKAGE is not set, as go generate would")
}

func isWorkingFolder(dir string) (bool, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	working, err := os.Getwd()
	return dir == working, err
}

// assignments reads the values of a flag of the form FROM=TO.
func assignments(c *cobra.Command, flag, form string, values []string) (map[string]string, error) {
	to := map[string]string{}
	for _, v := range values {
		from, name, ok := strings.Cut(v, "=")
		if !ok || from == "" {
			return nil, usage(c, "--%s %q: want %s", flag, v, form)
		}
		if old, ok := to[from]; ok && old != name {
			return nil, usage(c, "--%s gives %s two names, %q and %q", flag, from, old, name)
		}
		to[from] = name
	}
	return to, nil
}
