package emit

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/kerngen/kerngen/gen/internal/model"
)

// typeOf is a parameter's Go type, which may be made of a type variable.
func (k kernel) typeOf(p model.Param) (goType, error) {
	t, err := typeOf(p.Type)
	for i, v := range k.TypeVars {
		if v.Name == p.TypeVar {
			t.elem, t.runtime = k.names.TypeVars[i], false
		}
	}
	return t, err
}

// typeText is a parameter's type in Triton's words, with its type variable.
func typeText(p model.Param) string {
	t := p.Type
	if p.TypeVar != "" {
		t.Elem = p.TypeVar
	}
	return t.String()
}

// typeParams declares k's type variables, in so many columns; nothing where it
// has none.
func (k kernel) typeParams() (*jen.Statement, int, error) {
	if k.TypeVars == nil {
		return &jen.Statement{}, 0, nil
	}
	var params []jen.Code
	width := len("[]")
	for i, v := range k.TypeVars {
		var union []jen.Code
		for _, elem := range v.Types {
			t, err := typeOf(model.Type{Elem: elem})
			if err != nil {
				return nil, 0, err
			}
			union = append(union, t.code())
			width += t.width() + len(" | ")
		}
		params = append(params, jen.Id(k.names.TypeVars[i]).Union(union...))
		width += len(k.names.TypeVars[i])
	}
	return (&jen.Statement{}).Types(params...), width, nil
}

// typeArgs are the type variables as arguments; nothing where there are none.
func (k kernel) typeArgs() *jen.Statement {
	if k.TypeVars == nil {
		return &jen.Statement{}
	}
	return (&jen.Statement{}).Types(identifiers(k.names.TypeVars)...)
}

// described is the kernel's description in a Launch function.
func (k kernel) described() jen.Code {
	if k.TypeVars == nil {
		return jen.Op("&").Id(k.names.Var)
	}
	return jen.Id(k.names.Var).Add(k.typeArgs()).Call()
}

// selectFunc declares the function that finds the description for the type
// variables: Go has no generic variables. The compiler makes a comparison of each
// case. Combinations that were not compiled have no description.
func selectFunc(k kernel) (*jen.Statement, error) {
	vars, _, err := k.typeParams()
	if err != nil {
		return nil, err
	}
	var cases []jen.Code
	for i, in := range k.Instances {
		var types []jen.Code
		for _, elem := range in.Types {
			t, err := typeOf(model.Type{Elem: elem})
			if err != nil {
				return nil, err
			}
			types = append(types, t.code())
		}
		cases = append(cases, jen.Case(jen.Func().Params(types...)).Block(jen.Return(jen.Op("&").Id(k.names.Instances[i].Var))))
	}
	value := jen.Id("any").Call(jen.Parens(jen.Func().Params(identifiers(k.names.TypeVars)...)).Call(jen.Nil()))
	return comment(fmt.Sprintf("%s is the description of %s for %s.", k.names.Var, k.Name, series(k.names.TypeVars, "and"))).
		Func().Id(k.names.Var).Add(vars).Params().Op("*").Qual(runtimePath, "Kernel").Block(
		jen.Switch(value.Assert(jen.Type())).Block(cases...),
		jen.Return(jen.Nil()),
	), nil
}

func identifiers(names []string) []jen.Code {
	var ids []jen.Code
	for _, name := range names {
		ids = append(ids, jen.Id(name))
	}
	return ids
}

// typeSentences say what each type variable stands for.
func typeSentences(k kernel) string {
	var sentences []string
	for i, v := range k.TypeVars {
		sentences = append(sentences, fmt.Sprintf("%s is %s.", k.names.TypeVars[i], series(v.Types, "or")))
	}
	return strings.Join(sentences, " ")
}
