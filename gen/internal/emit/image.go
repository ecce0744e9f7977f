package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/kerngen/kerngen/gen/internal/model"
)

// imageColumns is the width, without indentation, up to which an image is one
// line.
const imageColumns = 120

// imageField is one field of an image's literal and the columns it takes.
type imageField struct {
	code  jen.Code
	width int
}

func textField(name, value string) imageField {
	return imageField{field(name, jen.Op(value)), len(name) + len(": ") + len(value)}
}

func scratchField(name string, s model.Scratch) imageField {
	f := textField(name, fmt.Sprintf("{Size: %d, Align: %d}", s.Size, s.Align))
	f.code = field(name, jen.Qual(runtimePath, "Scratch").Values(field("Size", jen.Lit(s.Size)), field("Align", jen.Lit(s.Align))))
	f.width += len("kernrt.Scratch")
	return f
}

// descriptorsField lists how tensor descriptors are passed.
func descriptorsField(ds []model.Descriptor) imageField {
	var all []jen.Code
	for _, d := range ds {
		var fields []jen.Code
		add := func(set bool, name, value string) {
			if set {
				fields = append(fields, field(name, jen.Op(value)))
			}
		}
		add(d.Box != nil, "Box", "[]int"+ints(d.Box))
		add(d.DataType > 0, "DataType", strconv.Itoa(d.DataType))
		add(d.Swizzle > 0, "Swizzle", strconv.Itoa(d.Swizzle))
		add(d.FP4Padded, "FP4Padded", "true")
		add(d.DoubledArg, "DoubledArg", "true")
		add(d.Flags > 0, "Flags", strconv.Itoa(d.Flags))
		all = append(all, jen.Values(fields...))
	}
	return imageField{field("Descriptors", slice("Descriptor").Add(lines(all...))), imageColumns} // a line for each
}

// imageSpec describes an image: on one line, or on several that say what it is,
// what is passed, how it is launched and what scratch it needs. Fields that are
// zero are left out.
func imageSpec(im model.Image, code string) jen.Code {
	var groups [4][]imageField
	add := func(group int, set bool, f imageField) {
		if set {
			groups[group] = append(groups[group], f)
		}
	}
	flag := func(group int, set bool, name string) { add(group, set, textField(name, "true")) }

	add(0, true, textField("Target", strconv.Quote(im.Target.String())))
	flag(0, im.Kind == model.PTX, "PTX")
	add(0, true, textField("Code", "&"+code))
	add(0, true, textField("Symbol", strconv.Quote(im.Symbol)))

	add(1, len(im.Args) > 0, textField("Args", "[]int"+ints(im.Args)))
	add(1, im.Hidden > 0, textField("Hidden", strconv.Itoa(im.Hidden)))
	add(1, len(im.Descriptors) > 0, descriptorsField(im.Descriptors))

	add(2, true, textField("NumWarps", strconv.Itoa(im.NumWarps)))
	add(2, im.Cluster != [3]int{1, 1, 1} && im.Cluster != [3]int{}, textField("Cluster", "[3]int"+ints(im.Cluster[:])))
	add(2, im.Shared > 0, textField("Shared", strconv.Itoa(im.Shared)))
	flag(2, im.Cooperative, "Cooperative")
	flag(2, im.PDL, "PDL")

	add(3, im.GlobalScratch.Size > 0, scratchField("GlobalScratch", im.GlobalScratch))
	add(3, im.ProfileScratch.Size > 0, scratchField("ProfileScratch", im.ProfileScratch))
	return oneOrMoreLines(groups[:])
}

func oneOrMoreLines(groups [][]imageField) jen.Code {
	var all, grouped []jen.Code
	width := len("{},") - len(", ")
	for _, group := range groups {
		var line []jen.Code
		for _, f := range group {
			line = append(line, f.code)
			width += len(", ") + f.width
		}
		if line != nil {
			grouped = append(grouped, jen.List(line...))
			all = append(all, line...)
		}
	}
	if width > imageColumns {
		return lines(grouped...)
	}
	return jen.Values(all...)
}

func ints(values []int) string {
	var items []string
	for _, v := range values {
		items = append(items, strconv.Itoa(v))
	}
	return "{" + strings.Join(items, ", ") + "}"
}
