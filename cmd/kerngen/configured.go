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

// configured is the command line of a generate or check that reads kerngen.yaml.
type configured struct {
	path, python string
	mode         choice
	recompile    bool
}

// generateFlags declares the options of generate.
func (r *configured) generateFlags(c *cobra.Command) {
	r.flags(c, "without PATH")
	r.mode = choice{"auto", []string{"auto", "never", "always"}}
	c.Flags().Var(&r.mode, "compile", "without PATH: when to compile the kernels, `auto|never|always`")
}

// checkFlags declares those of check.
func (r *configured) checkFlags(c *cobra.Command) {
	r.flags(c, "with --recompile")
	c.Flags().BoolVar(&r.recompile, "recompile", false, "without PATH: compile everything elsewhere, and say which artefacts differ from that")
}

// flags declares those of both; compiles is when they compile.
func (r *configured) flags(c *cobra.Command, compiles string) {
	f := c.Flags()
	f.StringVar(&r.path, "config", "", "without PATH: the configuration, `FILE` (default the nearest kerngen.yaml, up to the module's root)")
	f.StringVar(&r.python, "python", "", compiles+": the interpreter that has Triton, `FILE` (default $KERNGEN_PYTHON, the active environment's, or python3)")
}

// refuse is the fault of an option that goes without a PATH beside one.
func (r *configured) refuse(c *cobra.Command) error {
	for _, name := range []string{"config", "python", "compile", "recompile"} {
		if c.Flags().Changed(name) {
			return usage(c, "--%s goes with a configuration, not with a PATH", name)
		}
	}
	return nil
}

// checkPython refuses an interpreter where nothing would run it.
func (r *configured) checkPython(c *cobra.Command, compiles bool, remedy string) error {
	if r.python != "" && !compiles {
		return usage(c, "--python names an interpreter, but nothing is to be compiled; %s", remedy)
	}
	return nil
}

// config is what the options say.
func (r *configured) config(p *progress) gen.CompileConfig {
	return gen.CompileConfig{Path: r.path, Mode: r.mode.value, Python: r.python, Progress: p}
}

// interruptible is a context that ends when the user or the system asks the
// process to.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// generate compiles what has changed and writes all packages, or none where one
// has a fault.
func (r *configured) generate(c *cobra.Command) error {
	if err := r.checkPython(c, r.mode.value != "never", "leave it out, or --compile=never"); err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	shown := newProgress(c.ErrOrStderr())
	packages, err := gen.Compile(ctx, r.config(shown))
	shown.end()
	if errors.Is(err, context.Canceled) {
		return &gen.Error{Fault: "interrupted; what was compiled by then is kept"}
	}
	if err != nil {
		return err
	}
	results := make([]gen.Result, len(packages))
	stamps := make([]gen.Stamp, len(packages))
	done := make([]bool, len(packages))
	for i, p := range packages {
		stamps[i] = gen.TakeStamp(p)
		if done[i] = stamps[i].Valid() && r.mode.value != "always"; done[i] {
			continue
		}
		results[i], err = gen.Generate(p)
		for _, w := range results[i].Warnings {
			fmt.Fprintf(c.ErrOrStderr(), "kerngen: warning: %s\n", w)
		}
		if err != nil {
			return err
		}
	}
	for i, p := range packages {
		if done[i] {
			continue
		}
		if err := gen.Write(p.Dir, results[i].Files); err != nil {
			return err
		}
		if len(results[i].Warnings) == 0 { // which the next run is to repeat
			stamps[i].Keep()
		}
	}
	return nil
}

// check says what is not up to date and what generate would write, and compiles
// everything elsewhere if it is to.
func (r *configured) check(c *cobra.Command) error {
	if err := r.checkPython(c, r.recompile, "leave it out, or add --recompile"); err != nil {
		return err
	}
	var faults []error
	differs := false
	print := func(text string) error {
		differs = differs || text != ""
		_, err := io.WriteString(c.OutOrStdout(), text)
		return err
	}
	shown := newProgress(c.ErrOrStderr())
	packages, err := gen.CheckCompiled(r.config(shown))
	if err != nil {
		faults = append(faults, err)
	}
	for _, p := range packages {
		result, err := gen.Generate(p)
		for _, w := range result.Warnings {
			fmt.Fprintf(c.ErrOrStderr(), "kerngen: warning: %s\n", w)
		}
		diff := ""
		if err == nil {
			diff, err = gen.Check(p.Dir, result.Files)
		}
		if err != nil {
			faults = append(faults, err)
		}
		if err := print(diff); err != nil {
			return err
		}
	}
	if r.recompile {
		ctx, stop := interruptible()
		defer stop()
		text, err := gen.Recompile(ctx, r.config(shown))
		shown.end()
		if errors.Is(err, context.Canceled) {
			err = &gen.Error{Fault: "interrupted before everything was compiled"}
		}
		if err != nil {
			faults = append(faults, err)
		}
		if err := print(text); err != nil {
			return err
		}
	}
	if err := errors.Join(faults...); err != nil || !differs {
		return err
	}
	return errDiffers
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
