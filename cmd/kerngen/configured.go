package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

// configured is the command line of a generate that reads kerngen.yaml.
type configured struct {
	path, mode, python string
}

func (r *configured) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.path, "config", "", "without PATH: the configuration, `FILE` (default the nearest kerngen.yaml, up to the module's root)")
	f.StringVar(&r.mode, "compile", "auto", "without PATH: when to compile the kernels, `auto|never|always`")
	f.StringVar(&r.python, "python", "", "without PATH: the interpreter that has Triton, `FILE` (default $KERNGEN_PYTHON, the active environment's, or python3)")
}

// generate compiles what has changed and writes all packages, or none where one
// has a fault.
func (r *configured) generate(c *cobra.Command) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	packages, err := gen.Compile(ctx, gen.CompileConfig{Path: r.path, Mode: r.mode, Python: r.python, Progress: progress{c.ErrOrStderr()}})
	if errors.Is(err, context.Canceled) {
		return &gen.Error{Fault: "interrupted; what was compiled by then is kept"}
	}
	if err != nil {
		return err
	}
	results := make([]gen.Result, len(packages))
	for i, p := range packages {
		results[i], err = gen.Generate(p)
		for _, w := range results[i].Warnings {
			fmt.Fprintf(c.ErrOrStderr(), "kerngen: warning: %s\n", w)
		}
		if err != nil {
			return err
		}
	}
	for i, p := range packages {
		if err := gen.Write(p.Dir, results[i].Files); err != nil {
			return err
		}
	}
	return nil
}

// progress prints a line for each image.
type progress struct{ to io.Writer }

// Plan shows the cross product before it is compiled.
func (p progress) Plan(products []gen.CompileProduct, images int) {
	if images == 0 {
		return
	}
	for _, k := range products {
		fmt.Fprintf(p.to, "kerngen: %s.%s: %s, for %d targets\n", k.Package, k.Kernel, k.Factors, k.Targets)
	}
}

func (p progress) Done(image string, done, all int, err error) {
	state := "compiled"
	if err != nil {
		state = "NOT compiled"
	}
	fmt.Fprintf(p.to, "kerngen: %d of %d: %s %s\n", done, all, image, state)
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of kerngen.yaml, for editors",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(gen.Schema())
			return err
		},
	}
}
