// Package gen turns compiled Triton kernels into a Go package: for each kernel
// one file with a typed Launch function, and its images beside it to embed.
//
//	result, err := gen.Generate(gen.Config{
//		Package: "vec",
//		Dir:     "internal/vec",
//		Paths:   []string{"kernels/artefacts"},
//	})
//	if err == nil {
//		err = gen.Write("internal/vec", result.Files)
//	}
//
// Generate reads and decides; only Write changes anything, so a fault of the
// input leaves the package as it was. The same artefacts give the same bytes, on
// any machine and in any folder.
package gen

import (
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/emit"
	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/gen/internal/names"
)

// Config says what to generate. Generate does not change it.
type Config struct {
	Package string            // name of the generated package
	Dir     string            // its folder, searched for names already taken; need not exist
	Paths   []string          // artefact files, or folders searched with all below them
	Names   map[string]string // kernel -> the name to go by instead in Go
	Renames map[string]string // PARAM or KERNEL.PARAM -> likewise, constants too

	// What images of one name leave open, where they came from a cache.
	Folds      map[string]string // KERNEL.PARAM -> "1" or "null": what it was where the code lacks it
	Signatures map[string]string // KERNEL -> "x_ptr: *fp32:16, n: i32": its arguments, where no file tells them; NAME alone where TTIR tells the type
	Suffix     bool              // make a function of each image that a launch could not tell from others; else they are an error
}

// Result is a generated package.
type Result struct {
	Files    []File   // sorted by kernel, the list of all last; the images share no memory with other results
	Warnings []string // what is right but probably not meant
	Inputs   []string // the files that it was made of and the folders searched for them
}

// File is one file of a generated package.
type File struct {
	Name    string // within the package's folder
	Content []byte
}

// Generate makes the package that c describes and writes nothing. Its error
// lists all faults of the input that it can find in one run, one a line; see
// [IsUserError]. Safe for concurrent use.
func Generate(c Config) (Result, error) {
	if err := c.Validate(); err != nil {
		return Result{}, err
	}
	options, err := c.modelOptions()
	if err != nil {
		return Result{}, err
	}
	images, inputs, err := artefact.ReadFrom(c.Paths)
	if err != nil {
		return Result{}, err
	}
	kernels, warnings, err := model.Build(images, options)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	taken, err := declared(c.Dir, c.Package)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	named, err := names.Assign(kernels, c.nameOptions(taken))
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	for _, im := range images {
		inputs = append(inputs, im.Files()...)
	}
	emitted := make([][]emit.File, len(kernels))
	err = inParallel(len(kernels), func(i int) (err error) {
		emitted[i], err = emit.Files(c.Package, &kernels[i], named[i])
		return err
	})
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	registry, err := emit.Registry(c.Package, kernels, named)
	if err != nil {
		return Result{Warnings: warnings}, err
	}
	emitted = append(emitted, []emit.File{registry})
	result := Result{Warnings: warnings, Inputs: inputs}
	for _, files := range emitted {
		for _, f := range files {
			result.Files = append(result.Files, File(f))
		}
	}
	return result, nil
}

// Validate refuses what c itself says wrongly, whatever the artefacts hold; it
// reads no file. Generate begins with it.
func (c Config) Validate() error {
	var faults diag.List
	faults.Add(checkPackageName(c.Package))
	if len(c.Paths) == 0 {
		faults.Add(diag.Errorf("", "no path").Fix("name a folder, or a file of a kernel"))
	}
	if slices.Contains(c.Paths, "") {
		faults.Add(diag.Errorf("", "an empty path").Fix("name a folder, or a file of a kernel"))
	}
	faults.Add(c.nameOptions(nil).Validate())
	_, err := c.modelOptions()
	faults.Add(err)
	return faults.Err()
}

func (c Config) nameOptions(taken map[string]string) names.Options {
	return names.Options{Names: c.Names, Renames: c.Renames, Taken: taken}
}

// inParallel calls do for 0 to n-1 on all processors and returns the first error.
func inParallel(n int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// modelOptions reads the options about images.
func (c Config) modelOptions() (model.Options, error) {
	o := model.Options{Folds: map[string]model.Fold{}, Signatures: map[string]model.Signature{}, Suffix: c.Suffix}
	var faults diag.List
	for param, value := range c.Folds {
		o.Folds[param] = model.Fold(value)
		if kernel, name, ok := strings.Cut(param, "."); !ok || kernel == "" || name == "" {
			faults.Add(diag.Errorf("", "--fold %s=%s: %q is not KERNEL.PARAM", param, value, param))
		}
		if f := o.Folds[param]; f != model.FoldOne && f != model.FoldNull {
			faults.Add(diag.Errorf("", "--fold %s=%s: an argument is folded away for being %s or %s", param, value, model.FoldOne, model.FoldNull))
		}
	}
	for kernel, text := range c.Signatures {
		s, err := model.ParseSignature(text)
		if err != nil {
			faults.Add(diag.Errorf("", "--signature %q: %v", kernel+"="+text, err))
		}
		o.Signatures[kernel] = s
	}
	return o, faults.Err()
}

// Error is one fault that the caller can mend, of the input, the options or the
// file system: where it is, what it is and what to do. An error of this package
// is one, or joins several.
type Error = diag.Error

// IsUserError reports whether err is made of such faults only. Any other error
// is a fault of this package's own.
func IsUserError(err error) bool { return diag.IsUser(err) }
