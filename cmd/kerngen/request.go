package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kerngen/kerngen/gen"
)

// request is the command line of generate and of check: which package to make
// of what.
type request struct {
	pkg, out          string
	names, renames    []string
	folds, signatures []string
	onDuplicate       choice
	depfile           string
}

// requestUse is a request's part of a command's use.
const requestUse = "[--package NAME] [--out DIR] [OPTION]... PATH..."

// flags declares the options. They are the same for both commands, so that one
// can be turned into the other.
func (r *request) flags(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&r.pkg, "package", "", "package `NAME` (default $GOPACKAGE, in the working folder)")
	f.StringVar(&r.out, "out", ".", "folder of the package, `DIR`; made where there is none")
	f.StringArrayVar(&r.names, "name", nil, "settle a kernel's name in Go, `KERNEL=NAME`; repeatable")
	f.StringArrayVar(&r.renames, "rename", nil, "settle that of a parameter or constant, `[KERNEL.]PARAM=NAME`; repeatable")
	f.StringArrayVar(&r.folds, "fold", nil, "say what an argument was that the code of some images lacks, `KERNEL.PARAM=1` or =null; repeatable")
	f.StringArrayVar(&r.signatures, "signature", nil, "tell the arguments that no file tells, `'KERNEL=NAME[: TYPE[:16]], ...'`; repeatable")
	r.onDuplicate = choice{duplicateError, []string{duplicateError, duplicateSuffix}}
	f.Var(&r.onDuplicate, "on-duplicate", "what to do with images that a launch cannot tell apart, `error|suffix`")
	f.StringVar(&r.depfile, "depfile", "", "write what the package is made of to `FILE.d`, for make and ninja")
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(c, "a PATH is needed: an artefact file such as add_kernel.json, or a folder of them")
		}
		return noneEmpty(c, args)
	}
}

// orConfigured lets the command do without a PATH, and without an option that
// goes with one: kerngen.yaml says what to make.
func (r *request) orConfigured(c *cobra.Command, fromFile *configured) {
	withPath := c.Args
	c.Args = func(c *cobra.Command, paths []string) error {
		if len(paths) == 0 && !r.given(c) {
			return noneEmpty(c, nil)
		}
		if err := withPath(c, paths); err != nil {
			return err
		}
		return fromFile.refuse(c)
	}
}

// given reports whether an option of a request is.
func (r *request) given(c *cobra.Command) bool {
	for _, name := range []string{"package", "out", "name", "rename", "fold", "signature", "on-duplicate", "depfile"} {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// The values of --on-duplicate.
const (
	duplicateError  = "error"
	duplicateSuffix = "suffix"
)

// generate makes the package and prints warnings.
func (r *request) generate(c *cobra.Command, paths []string) (gen.Result, error) {
	config, err := r.config(c, paths)
	if err != nil {
		return gen.Result{}, err
	}
	result, err := gen.Generate(config)
	for _, w := range result.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "kerngen: warning: %s\n", w)
	}
	return result, err
}

func (r *request) config(c *cobra.Command, paths []string) (gen.Config, error) {
	config := gen.Config{Dir: r.out, Paths: paths, Suffix: r.onDuplicate.value == duplicateSuffix}
	if r.depfile != "" && depfileTarget(r.depfile) == "" {
		return config, usage(c, "--depfile %q: want FILE.d, where FILE is the target that depends on the inputs", r.depfile)
	}
	var err error
	if config.Package, err = packageName(c, r.pkg, r.out); err != nil {
		return config, err
	}
	for _, o := range []struct {
		to         *map[string]string
		flag, form string
		values     []string
	}{
		{&config.Names, "name", "KERNEL=NAME", r.names},
		{&config.Renames, "rename", "[KERNEL.]PARAM=NAME", r.renames},
		{&config.Folds, "fold", "KERNEL.PARAM=1", r.folds},
		{&config.Signatures, "signature", "KERNEL=NAME[: TYPE], ...", r.signatures},
	} {
		if *o.to, err = assignments(c, o.flag, o.form, o.values); err != nil {
			return config, err
		}
	}
	if err := config.Validate(); err != nil {
		return config, usageError{c.CommandPath(), err}
	}
	return config, nil
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
			return nil, usage(c, "--%s gives %s two values, %q and %q", flag, from, old, name)
		}
		to[from] = name
	}
	return to, nil
}
