package names

import (
	"fmt"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/model"
)

// refuseClashes adds a fault for each two sides that would share a name.
func refuseClashes(kernels []model.Kernel, named []*Kernel, taken map[string]string, faults *diag.List) {
	pkg := newScope("Go name", faults)
	for name, pos := range taken {
		pkg.owners[name] = owner{what: pos}
	}
	if pos, ok := taken["kernrt"]; ok {
		faults.Add(diag.Errorf(pos, "kernrt is what generated files call the runtime they import").Fix("rename it"))
	}
	for _, name := range relied {
		if pos, ok := taken[name]; ok {
			faults.Add(diag.Errorf(pos, "%s is declared here, but means Go's own in generated files", name).Fix("rename it"))
		}
	}
	files := newScope("file name", faults)
	for i, k := range kernels {
		n := named[i]
		kernel := owner{kernel: i + 1, what: "kernel " + k.ID(), fix: fmt.Sprintf("--name %s=NAME", k.ID())}
		for _, name := range []string{n.Launch, n.Args, n.Var, n.Config, n.Configs} {
			if name != "" {
				pkg.claim(name, kernel)
			}
		}
		files.claim(n.File, kernel)
		claimImages(pkg, files, kernel, &k, n.Variants)
		for m, instance := range n.Instances {
			pkg.claim(instance.Var, kernel)
			claimImages(pkg, files, kernel, &k.Instances[m], instance.Variants)
		}
		for c, name := range n.Constants {
			if name != "" {
				pkg.claim(name, member(i, "constant", k.ID(), k.Constants[c].Name))
			}
		}
		params := newScope("Go name", faults)
		for v, name := range n.TypeVars {
			o := kernel
			o.what = fmt.Sprintf("type variable %s of %s", k.TypeVars[v].Name, k.ID())
			o.fix = "another name for it in the kernel's description"
			params.claim("type "+name, o)
		}
		for p, name := range n.Params {
			o := member(i, "parameter", k.ID(), k.Params[p].Name)
			params.claim(name.Field, o)
			params.claim(name.Arg, o)
		}
	}
	list := owner{kernel: -1, what: "the list of all kernels"}
	pkg.claim(Registry, list)
	files.claim(RegistryFile, list)
}

// The function that lists a package's kernels, and its file.
const (
	Registry     = "Kernels"
	RegistryFile = "kernels_kern.go"
)

// relied are the predeclared names that a generated file may use. A package
// that declares one of them gives it another meaning in all of its files.
var relied = []string{
	"any", "bool", "error", "false", "float32", "float64", "int", "int16", "int32", "int64", "int8",
	"nil", "string", "true", "uint16", "uint32", "uint64", "uint8",
}

func claimImages(pkg, files *scope, kernel owner, k *model.Kernel, variants []Variant) {
	for v, variant := range variants {
		for m, image := range variant.Images {
			o := kernel
			o.what = fmt.Sprintf("image %s of %s", k.Variants[v].Images[m].Origin, k.ID())
			pkg.claim(image.Var, o)
			files.claim(image.File, o)
		}
	}
}

// owner is a side that wants a name.
type owner struct {
	kernel int    // counted from 1; 0 for a declaration of the target package
	what   string // for a declaration its position
	fix    string // the option that makes it want another name; "": none
}

func member(kernel int, kind, kernelName, name string) owner {
	return owner{
		kernel: kernel + 1,
		what:   fmt.Sprintf("%s %s of %s", kind, name, kernelName),
		fix:    fmt.Sprintf("--rename %s.%s=NAME", kernelName, name),
	}
}

// scope knows who owns each name of one kind.
type scope struct {
	kind   string
	owners map[string]owner
	told   map[string]bool // pairs already reported
	faults *diag.List
}

func newScope(kind string, faults *diag.List) *scope {
	return &scope{kind: kind, owners: map[string]owner{}, told: map[string]bool{}, faults: faults}
}

// claim gives name to o, or adds the fault that it has an owner: once for two
// kernels, which share either one name or most. Files are compared without
// case, as some file systems do.
func (s *scope) claim(name string, o owner) {
	key := name
	if s.kind == "file name" {
		key = strings.ToLower(name)
	}
	first, ok := s.owners[key]
	if !ok {
		s.owners[key] = o
		return
	}
	if first.kernel == 0 {
		fault := diag.Errorf(first.what, "%s is declared here and wanted by %s", name, o.what)
		if o.fix == "" {
			s.faults.Add(fault.Fix("rename it"))
			return
		}
		s.faults.Add(fault.Fix("use %s", o.fix))
		return
	}
	pair := fmt.Sprint(first.kernel, " ", o.kernel)
	if first.kernel == o.kernel {
		pair = first.what + " " + o.what
	}
	if s.told[pair] {
		return
	}
	s.told[pair] = true
	fix := "use " + first.fix
	if o.fix != "" && o.fix != first.fix {
		fix += " or " + o.fix
	}
	s.faults.Add(diag.Errorf("", "%s and %s would both have the %s %s", first.what, o.what, s.kind, name).Fix("%s", fix))
}
