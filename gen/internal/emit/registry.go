package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/kerngen/kerngen/gen/internal/generated"
	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/gen/internal/names"
)

// Registry writes the file of package pkg that lists its kernels, in the order
// given: a function, so that the linker still drops what a program that does not
// call it does not use.
func Registry(pkg string, kernels []model.Kernel, named []*names.Kernel) (File, error) {
	f := jen.NewFile(pkg)
	f.NoFormat = true
	f.ImportAlias(runtimePath, "kernrt")
	f.HeaderComment(generated.Marker)
	var all []jen.Code
	for i := range kernels {
		for _, d := range described(kernel{Kernel: &kernels[i], names: named[i]}) {
			all = append(all, jen.Op("&").Id(d.names.Var))
		}
	}
	list := jen.Index().Op("*").Qual(runtimePath, "Kernel")
	doc := fmt.Sprintf("%s lists the kernels of this package, for programs that choose one at run time; see kernrt.Args. A program that calls it holds the code of all.", names.Registry)
	f.Add(comment(doc)).Func().Id(names.Registry).Params().Add(list).Block(jen.Return(list.Clone().Add(lines(all...))))
	content, err := render(f, names.RegistryFile)
	return File{names.RegistryFile, content}, err
}
