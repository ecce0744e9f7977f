// Package emit writes the Go file of a kernel. It decides nothing: the model
// says what a kernel is and names what things are called. A generated file holds
// no algorithm; its function hands its arguments to the runtime.
package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/gen/internal/names"
	"github.com/kerngen/kerngen/internal/packed"
)

// runtimePath is the package that generated code calls, under the name kernrt.
const runtimePath = "github.com/kerngen/kerngen/runtime"

// A File is one file of the generated package.
type File struct {
	Name    string // within the package's folder
	Content []byte
}

// kernel is what the functions of this package write about.
type kernel struct {
	*model.Kernel
	names   *names.Kernel
	choices []choice
}

// described are the kernels that the runtime is given a description of: k, or its
// instances.
func described(k kernel) []kernel {
	if k.TypeVars == nil {
		return []kernel{k}
	}
	var all []kernel
	for i := range k.Instances {
		n := k.names.Instances[i]
		all = append(all, kernel{&k.Instances[i], &names.Kernel{Var: n.Var, Variants: n.Variants}, choices(&k.Instances[i])})
	}
	return all
}

// Files writes k for package pkg: its Go file and the images it embeds. The
// images share their bytes with k. An error is a fault of kerngen's.
func Files(pkg string, k *model.Kernel, n *names.Kernel) ([]File, error) {
	content, err := goFile(pkg, kernel{k, n, choices(k)})
	if err != nil {
		return nil, err
	}
	files := []File{{n.File, content}}
	for _, d := range described(kernel{Kernel: k, names: n}) {
		for v, variant := range d.Variants {
			for i, image := range variant.Images {
				code := image.Code
				if image.Kind == model.PTX {
					code = packed.Pack(code)
				}
				files = append(files, File{d.names.Variants[v].Images[i].File, code})
			}
		}
	}
	return files, nil
}

func goFile(pkg string, k kernel) ([]byte, error) {
	f := jen.NewFile(pkg)
	f.NoFormat = true
	f.ImportAlias(runtimePath, "kernrt")
	f.HeaderComment(generated.Marker)
	if source := sourceLine(k); source != "" {
		f.HeaderComment("//")
		f.HeaderComment(source)
	}
	f.Add(comment("The oldest runtime this file works with; if it does not compile, raise kerngen's version in go.mod.")).
		Const().Id("_").Op("=").Qual(runtimePath, "ABI1").Line()
	for i, name := range k.names.Constants {
		if name != "" {
			f.Add(constant(k, i)).Line()
		}
	}
	args, err := argsStruct(k)
	if err != nil {
		return nil, err
	}
	f.Add(args).Line()
	launch, err := launchFunc(k)
	if err != nil {
		return nil, err
	}
	f.Add(launch).Line()
	if k.names.Config != "" {
		f.Add(configNames(k)).Line()
		launch, err := configFunc(k)
		if err != nil {
			return nil, err
		}
		f.Add(launch).Line()
	}
	if k.TypeVars != nil {
		selector, err := selectFunc(k)
		if err != nil {
			return nil, err
		}
		f.Add(selector).Line()
	}
	all := described(k)
	for i, d := range all {
		if i > 0 {
			f.Line()
		}
		f.Add(kernelVar(d))
	}
	for _, d := range all {
		for _, variant := range d.names.Variants {
			for _, image := range variant.Images {
				f.Anon("embed")
				f.Line().Comment(generated.EmbedPrefix + image.File).Line().Var().Id(image.Var).String()
			}
		}
	}
	return render(f, k.names.File)
}

// render formats f as gofmt does, its imports in groups.
func render(f *jen.File, name string) ([]byte, error) {
	var raw bytes.Buffer
	if err := f.Render(&raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	content := groupImports(raw.Bytes())
	formatted, err := format.Source(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, numbered(content))
	}
	return formatted, nil
}

// groupImports puts the standard library's imports before all others, which
// jennifer sorts among each other.
func groupImports(source []byte) []byte {
	const open, end = "\nimport (\n", ")\n"
	before, rest, ok := bytes.Cut(source, []byte(open))
	if !ok {
		return source
	}
	specs, after, _ := bytes.Cut(rest, []byte(end))
	var standard, others []byte
	for line := range bytes.Lines(specs) {
		path := line[bytes.IndexByte(line, '"')+1:]
		first, _, _ := bytes.Cut(path, []byte("/"))
		if bytes.ContainsRune(first, '.') {
			others = append(others, line...)
		} else {
			standard = append(standard, line...)
		}
	}
	if standard != nil && others != nil {
		standard = append(standard, '\n')
	}
	return slices.Concat(before, []byte(open), standard, others, []byte(end), after)
}

func numbered(source []byte) string {
	var b strings.Builder
	for i, line := range strings.Split(string(source), "\n") {
		fmt.Fprintf(&b, "%5d\t%s\n", i+1, line)
	}
	return b.String()
}

// sourceLine says what the kernel was compiled from, as far as that is known.
func sourceLine(k kernel) string {
	text := ""
	switch {
	case k.Source != "" && k.Triton != "":
		text = fmt.Sprintf("Source: %s, Triton %s.", k.Source, k.Triton)
	case k.Source != "":
		text = fmt.Sprintf("Source: %s.", k.Source)
	case k.Triton != "":
		text = fmt.Sprintf("Compiled by Triton %s.", k.Triton)
	default:
		return ""
	}
	return "// " + printable(text)
}
