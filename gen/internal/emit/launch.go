package emit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/kerngen/kerngen/gen/internal/model"
)

// codeColumns is the width at which code is broken.
const codeColumns = 100

// constant declares the i-th constant of k.
func constant(k kernel, i int) *jen.Statement {
	c, name := k.Constants[i], k.names.Constants[i]
	where := k.Name
	if len(k.Variants)+len(k.Instances) > 1 {
		where = "every variant of " + k.Name
	}
	return comment(fmt.Sprintf("%s is %s in %s.", name, c.Name, where)).
		Const().Id(name).Op("=").Add(literal(c.Value))
}

// literal is an untyped Go constant.
func literal(value any) jen.Code {
	switch v := value.(type) {
	case float64:
		return jen.Op(floatText(v))
	case int64:
		return jen.Op(strconv.FormatInt(v, 10))
	case model.DType:
		return jen.Lit(string(v))
	default: // bool and string
		return jen.Lit(v)
	}
}

// argsStruct declares the run-time arguments, in the order and with the types of
// the kernel.
func argsStruct(k kernel) (*jen.Statement, error) {
	var fields []jen.Code
	for i, p := range k.Params {
		t, err := k.typeOf(p)
		if err != nil {
			return nil, err
		}
		fields = append(fields, jen.Id(k.names.Params[i].Field).Add(t.code()).Comment("// "+printable(fieldNote(k, i))))
	}
	vars, _, err := k.typeParams()
	return comment(fmt.Sprintf("%s are %s's run-time arguments.", k.names.Args, k.Name)).
		Type().Id(k.names.Args).Add(vars).Struct(fields...), err
}

// fieldNote says what is asked of parameter i: by every variant, or by some.
func fieldNote(k kernel, i int) string {
	p := k.Params[i]
	note := fmt.Sprintf("%s: %s", p.Name, typeText(p))
	count := map[model.GuardKind]int{}
	for _, c := range k.choices {
		for _, g := range c.Guards {
			if g.Param == i {
				count[g.Is]++
			}
		}
	}
	some := false
	for _, g := range []struct {
		kind model.GuardKind
		text string
	}{{model.DivisibleBy16, ", divisible by 16"}, {model.EqualTo1, ", always 1"}, {model.Null, ", always null"}, {model.Fits32, ", within 32 bits"}} {
		switch count[g.kind] {
		case 0:
		case len(k.choices):
			note += g.text
		default:
			some = true
		}
	}
	if p.Nullable && count[model.Null] < len(k.choices) {
		note += ", may be null"
	}
	if some {
		note += "; see the variants"
	}
	return note
}

// group is a run of parameters of one type.
type group struct {
	names []string
	typ   goType
}

func (g group) width() int {
	return len(", ") + utf8.RuneCountInString(strings.Join(g.names, ", ")) + 1 + g.typ.width()
}

func (g group) code() jen.Code {
	var ids []jen.Code
	for _, name := range g.names {
		ids = append(ids, jen.Id(name))
	}
	return jen.List(ids...).Add(g.typ.code())
}

// groups divides the parameters into runs of one type that fit a line.
func groups(k kernel) ([]group, error) {
	var all []group
	for i, p := range k.Params {
		t, err := k.typeOf(p)
		if err != nil {
			return nil, err
		}
		name := k.names.Params[i].Arg
		if n := len(all); n > 0 && all[n-1].typ == t && all[n-1].width()+len(", ")+utf8.RuneCountInString(name) < codeColumns {
			all[n-1].names = append(all[n-1].names, name)
			continue
		}
		all = append(all, group{[]string{name}, t})
	}
	return all, nil
}

// launchFunc declares the typed launch function.
func launchFunc(k kernel) (*jen.Statement, error) {
	gs, err := groups(k)
	if err != nil {
		return nil, err
	}
	vars, varsWidth, err := k.typeParams()
	if err != nil {
		return nil, err
	}
	width := len("func () error {stream *kernrt.Stream") + len(k.names.Launch) + varsWidth
	first := []jen.Code{stream()}
	if k.Grid == nil {
		width += len(", grid kernrt.Grid")
		first = append(first, gridParam())
	}
	params := []jen.Code{jen.List(first...)}
	for _, g := range gs {
		width += g.width()
		params = append(params, g.code())
	}
	doc := launchDoc(k)
	if k.Doc != "" { // what is not the kernel's own has gofmt's form
		if doc, err = settle(doc); err != nil {
			return nil, err
		}
	}
	list := jen.Options{Open: "(", Close: ")", Separator: ",", Multi: width > codeColumns}
	return docComment(doc).
		Func().Id(k.names.Launch).Add(vars).Custom(list, params...).Error().Block(
		jen.Id("args").Op(":=").Id(k.names.Args).Add(k.typeArgs()).Add(argsLiteral(k)),
		jen.Return(jen.Qual(runtimePath, "Launch").Call(
			k.described(), jen.Id("stream"), gridArg(k), jen.Op("&").Id("args"),
		)),
	), nil
}

func stream() jen.Code    { return jen.Id("stream").Op("*").Qual(runtimePath, "Stream") }
func gridParam() jen.Code { return jen.Id("grid").Qual(runtimePath, "Grid") }

// gridArg is the grid that is given, or the zero one, which stands for that
// declared.
func gridArg(k kernel) jen.Code {
	if k.Grid == nil {
		return jen.Id("grid")
	}
	return jen.Qual(runtimePath, "Grid").Values()
}

// configNames declares the names of the configurations.
func configNames(k kernel) *jen.Statement {
	var list []jen.Code
	for _, c := range k.Configs {
		list = append(list, jen.Lit(c.Name))
	}
	text := fmt.Sprintf("%s are the configurations in which %s was compiled. All compute the same; %s launches the first.",
		k.names.Configs, k.Name, k.names.Launch)
	if len(k.Key) > 0 {
		text += fmt.Sprintf(" Which is the fastest depends on %s.", series(k.Key, "and"))
	}
	return comment(text).Var().Id(k.names.Configs).Op("=").Index(jen.Op("...")).String().Add(lines(list...))
}

// configFunc declares the function that launches a configuration of the caller's
// choice.
func configFunc(k kernel) (*jen.Statement, error) {
	vars, width, err := k.typeParams()
	if err != nil {
		return nil, err
	}
	params := []jen.Code{stream(), jen.Id("config").Int()}
	if k.Grid == nil {
		params = append(params, gridParam())
	}
	params = append(params, jen.Id("args").Op("*").Id(k.names.Args).Add(k.typeArgs()))
	width += len("func (stream *kernrt.Stream, config int, grid kernrt.Grid, args *[T]) error {") + len(k.names.Config) + len(k.names.Args)
	list := jen.Options{Open: "(", Close: ")", Separator: ",", Multi: width > codeColumns}
	return comment(fmt.Sprintf("%s is %s in a configuration of the caller's choice, an index into %s.", k.names.Config, k.names.Launch, k.names.Configs)).
		Func().Id(k.names.Config).Add(vars).Custom(list, params...).Error().Block(
		jen.Return(jen.Qual(runtimePath, "LaunchConfig").Call(
			k.described(), jen.Id("stream"), jen.Id("config"), gridArg(k), jen.Id("args"),
		)),
	), nil
}

// argsLiteral fills the args struct: on one line, or by name where that is long.
func argsLiteral(k kernel) jen.Code {
	var keyed, bare []jen.Code
	width := len("\targs := {}") + len(k.names.Args) + len("[T]")*len(k.TypeVars)
	for _, p := range k.names.Params {
		keyed = append(keyed, field(p.Field, jen.Id(p.Arg)))
		bare = append(bare, jen.Id(p.Arg))
		width += len(", ") + len(p.Arg)
	}
	if width > codeColumns {
		return lines(keyed...)
	}
	return jen.Values(bare...)
}
