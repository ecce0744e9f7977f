// Package names turns the names of a kernel's Python source into those of the
// generated Go package: every identifier and every file, in one place. What two
// sides would share is refused here, before any text is made.
package names

import (
	"fmt"
	"math"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/internal/packed"
)

// Options settle clashes and say what is already taken.
type Options struct {
	Names   map[string]string // KERNEL -> the name to go by instead
	Renames map[string]string // PARAM or KERNEL.PARAM -> likewise, constants too
	Taken   map[string]string // identifiers of the target package -> position
}

// Kernel holds the names one kernel has in Go. Its slices run parallel to the
// model's.
type Kernel struct {
	File      string   // "add_kernel_kern.go"
	Launch    string   // "LaunchAddKernel"
	Config    string   // the function that launches a chosen configuration: "LaunchAddKernelConfig"; "" where there is one only
	Configs   string   // the configurations' names: "AddKernelConfigs"; likewise
	Args      string   // "AddKernelArgs"
	Var       string   // "addKernel"
	Constants []string // "AddKernelBlockSize"; "" for a value that no Go constant has
	TypeVars  []string // "T"
	Params    []Param
	Variants  []Variant
	Instances []Instance // of a kernel with type variables
}

// Instance holds the names of a kernel for one combination of element types.
type Instance struct {
	Var      string // "addKernelFp16"
	Variants []Variant
}

// Param holds the names of a run-time parameter.
type Param struct {
	Field string // in the args struct: "NElements"
	Arg   string // of the Launch function: "nElements"
}

// Variant holds the names of a variant's images.
type Variant struct{ Images []Image }

// Image holds the names of one embedded image.
type Image struct {
	Var  string // "addKernelSM80"
	File string // "add_kernel_sm80.cubin"
}

// Assign names kernels; o must be valid. All faults of the input are in the
// error: names that two sides would share, options that match nothing.
func Assign(kernels []model.Kernel, o Options) ([]*Kernel, error) {
	var faults diag.List
	stems := &stems{names: o.Names, renames: o.Renames, used: map[string]bool{}}
	named := make([]*Kernel, len(kernels))
	for i, k := range kernels {
		named[i] = assign(&k, stems)
	}
	stems.reportUnused(kernels, &faults)
	refuseClashes(kernels, named, o.Taken, &faults)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return named, nil
}

// assign names one kernel by the rules alone.
func assign(k *model.Kernel, stems *stems) *Kernel {
	stem := stems.kernel(k)
	exported := camel(stem)
	file := fileStem(stem)
	n := &Kernel{
		File:   file + "_kern.go",
		Launch: "Launch" + exported,
		Args:   exported + "Args",
		Var:    unreserved(lower(exported), "init", "main", "kernrt"),
	}
	if len(k.Configs) > 1 {
		n.Config, n.Configs = n.Launch+"Config", exported+"Configs"
	}
	for _, c := range k.Constants {
		name := exported + camel(stems.param(k, c.Name))
		if !hasGoForm(c.Value) {
			name = ""
		}
		n.Constants = append(n.Constants, name)
	}
	for _, p := range k.Params {
		field := camel(stems.param(k, p.Name))
		arg := unreserved(lower(field), "stream", "grid", "args", "kernrt", n.Var)
		n.Params = append(n.Params, Param{Field: field, Arg: arg})
	}
	for _, v := range k.TypeVars {
		n.TypeVars = append(n.TypeVars, unreserved(camel(v.Name), n.Launch, n.Args, n.Config))
	}
	n.Variants = images(k, stem)
	for i := range k.Instances {
		in := &k.Instances[i]
		named := stem + "_" + in.Suffix
		n.Instances = append(n.Instances, Instance{Var: lower(camel(named)), Variants: images(in, named)})
	}
	return n
}

// images names the images of all variants of k.
func images(k *model.Kernel, stem string) []Variant {
	prefix, file := lower(camel(stem)), fileStem(stem)
	var variants []Variant
	for v, variant := range k.Variants {
		goPart, filePart := "", ""
		if len(k.Variants) > 1 {
			goPart, filePart = fmt.Sprintf("V%d", v+1), fmt.Sprintf("_v%d", v+1)
		}
		var names Variant
		for _, image := range variant.Images {
			target := fmt.Sprint(image.Target.SM, image.Target.Suffix)
			kind, ext := "", ".cubin"
			if image.Kind == model.PTX {
				kind, ext = "PTX", ".ptx"+packed.Extension
			}
			names.Images = append(names.Images, Image{
				Var:  prefix + goPart + "SM" + target + kind,
				File: file + filePart + "_sm" + target + ext,
			})
		}
		variants = append(variants, names)
	}
	return variants
}

// hasGoForm reports whether a Go constant can hold value: None, infinities, NaN
// and the negative zero have none.
func hasGoForm(value any) bool {
	f, isFloat := value.(float64)
	return value != nil && !(isFloat && (math.IsInf(f, 0) || math.IsNaN(f) || f == 0 && math.Signbit(f)))
}
