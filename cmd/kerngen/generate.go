package main

import (
	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

func generateCommand() *cobra.Command {
	var r request
	var fromFile configured
	c := &cobra.Command{
		Use:   "generate " + requestUse,
		Short: "Make a Go package of compiled kernels",
		Long: `Generate makes a Go package of the compiled kernels that the paths hold. A PATH
is a file that Triton wrote, such as add_kernel.json, or a folder, which is
searched with all below it: one of artefacts compiled ahead of time, Triton's
cache, or that of PyTorch's compiler. NAME.ttir, NAME.ptx and NAME.cubin are
read beside NAME.json, and NAME.kerngen.json or NAME.launch_metadata where there
is one.

Compilations of one kernel for several architectures, with different promises
about its arguments, or with integers of 32 and 64 bits, become one Launch
function that chooses among them. Compilations for other element types become
one each, with the types that differ in its name: LaunchAddKernelFp16.

Each kernel becomes NAME_kern.go and its images, which that file embeds. All of
them belong in version control. A file is written only when it changes; files
of earlier runs that are no longer made are removed, so one command must name
all kernels of a package. No other file in the folder is touched, and after an
error nothing is.

Go names follow from Python's by rule: add_kernel becomes LaunchAddKernel, its
parameter n_elements becomes nElements. Where two names would become one, such
as those of parameters M and m, --name and --rename settle it.

What the files do not tell is asked for, never guessed. Triton compiles an
argument away where it is 1 or None: --fold add_kernel.n=1 says that it was 1
in the images that lack it. Images that a launch could not tell apart, such as
candidates of tuning, are listed; --on-duplicate=suffix makes a function of
each, named by the SHA-256 of its code. Where there is no TTIR, --signature
tells the arguments, and where that has no names, those:

  --signature 'add_kernel=x_ptr: *fp32:16, y_ptr: *fp32:16, n: i32'
  --signature 'add_kernel=x_ptr, y_ptr, n'

where :16 says that the code may rely on a multiple of 16.

Without a PATH, kerngen.yaml here or in a folder above, up to the module's root,
lists kernels in Python files and packages to make of them. Those that have
changed are compiled first, with Triton 3.3 or later from the environment that
is active; where nothing has changed no Python is needed. It runs those Python
files. "kerngen schema" prints a schema of kerngen.yaml for editors.

With --depfile FILE.d a rule is written by which FILE depends on all inputs:

  vec.stamp:
  	kerngen generate --depfile vec.stamp.d --package vec --out vec cache
  	touch vec.stamp
  -include vec.stamp.d

The exit status is 0, or 1 for a fault of the input, or 2 for one of the command
line: of what it says, whatever the files hold.`,
		Example: `  kerngen generate --package vec --out internal/vec kernels/artefacts
  kerngen generate --package mm --out mm --rename matmul_kernel.m=rows matmul/
  kerngen generate --package vec --out vec --fold add_kernel.n=1 ~/.triton/cache

  In a Go file of the package, for "go generate":
  //go:generate go tool kerngen generate ../kernels/add_kernel.json`,
		RunE: func(c *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return fromFile.generate(c)
			}
			result, err := r.generate(c, paths)
			if err != nil {
				return err
			}
			depfile, err := openDepfile(r.depfile, result.Inputs)
			if err != nil {
				return err
			}
			defer depfile.drop()
			if err := gen.Write(r.out, result.Files); err != nil {
				return err
			}
			return depfile.write(result)
		},
	}
	r.flags(c)
	fromFile.generateFlags(c)
	r.orConfigured(c, &fromFile)
	return c
}
