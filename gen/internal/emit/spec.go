package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/kerngen/kerngen/gen/internal/model"
	"github.com/kerngen/kerngen/gen/internal/names"
)

// kernelVar declares the kernel as static data: no call, so that the linker can
// drop what a program does not use. Fields that are zero are left out.
func kernelVar(k kernel) *jen.Statement {
	fields := []jen.Code{field("Name", jen.Lit(k.ID()))}
	if len(k.Params) > 0 {
		var params []jen.Code
		for _, p := range k.Params {
			spec := []jen.Code{field("Name", jen.Lit(p.Name)), field("Type", jen.Lit(specType(p.Type)))}
			if p.Nullable {
				spec = append(spec, field("Nullable", jen.True()))
			}
			params = append(params, jen.Values(spec...))
		}
		fields = append(fields, field("Params", slice("Param").Add(lines(params...))))
	}
	if len(k.Configs) > 0 {
		var configs []jen.Code
		for _, c := range k.Configs {
			configs = append(configs, configSpec(c))
		}
		fields = append(fields, field("Configs", slice("Config").Add(lines(configs...))))
	}
	var variants []jen.Code
	for i, v := range k.Variants {
		variants = append(variants, variantNote(k, i).Add(variantSpec(k, v, k.names.Variants[i])))
	}
	fields = append(fields, field("Variants", slice("Variant").Add(lines(variants...))))
	return jen.Var().Id(k.names.Var).Op("=").Qual(runtimePath, "Kernel").Add(lines(fields...))
}

// configSpec describes a configuration.
func configSpec(c model.Config) jen.Code {
	var fields []jen.Code
	if c.Name != "" {
		fields = append(fields, field("Name", jen.Lit(c.Name)))
	}
	if c.Grid != nil {
		var dims []jen.Code
		for _, dim := range c.Grid {
			dims = append(dims, jen.Lit(dim))
		}
		fields = append(fields, field("Grid", jen.Index().String().Values(dims...)))
	}
	return jen.Values(fields...)
}

// variantNote tells variants apart: by number, as their images' names do, by
// their configuration or their own constants, and by what they ask of the
// arguments.
func variantNote(k kernel, i int) *jen.Statement {
	if len(k.Variants) == 1 {
		return &jen.Statement{}
	}
	var parts []string
	if len(k.Configs) > 1 {
		parts = append(parts, k.Configs[k.Variants[i].Config].Name)
	}
	for _, c := range k.Variants[i].Constants {
		if len(k.Configs) < 2 && !slices.ContainsFunc(k.Constants, func(agreed model.Constant) bool { return agreed.Name == c.Name }) {
			parts = append(parts, constantText(c))
		}
	}
	parts = append(parts, promises(k, k.Variants[i]))
	return comment(fmt.Sprintf("Variant %d: %s.", i+1, strings.Join(parts, "; ")))
}

func variantSpec(k kernel, v model.Variant, n names.Variant) jen.Code {
	var fields []jen.Code
	if v.Config > 0 {
		fields = append(fields, field("Config", jen.Lit(v.Config)))
	}
	if len(v.Guards) > 0 {
		var guards []jen.Code
		for _, g := range v.Guards {
			guard := jen.Values(field("Param", jen.Lit(g.Param)), field("Is", jen.Qual(runtimePath, guardName(g.Is))))
			guards = append(guards, guard.Op(",").Comment("// "+printable(k.Params[g.Param].Name)))
		}
		commented := jen.Options{Open: "{", Close: "}", Multi: true}
		fields = append(fields, field("Guards", slice("Guard").Custom(commented, guards...)))
	}
	var images []jen.Code
	for i, image := range v.Images {
		images = append(images, imageSpec(image, n.Images[i].Var))
	}
	fields = append(fields, field("Images", slice("Image").Add(lines(images...))))
	return lines(fields...)
}

func guardName(kind model.GuardKind) string {
	return map[model.GuardKind]string{
		model.DivisibleBy16: "DivisibleBy16",
		model.EqualTo1:      "EqualTo1",
		model.Null:          "Null",
		model.Fits32:        "Fits32",
	}[kind]
}

// slice is the type of a slice of the runtime's type name.
func slice(name string) *jen.Statement { return jen.Index().Qual(runtimePath, name) }

// field is one field of a composite literal.
func field(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }

// lines is the body of a composite literal, one element a line, in order.
func lines(elements ...jen.Code) jen.Code {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, elements...)
}
