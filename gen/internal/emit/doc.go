package emit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/model"
)

// launchDoc is the Launch function's doc comment: what it does, the kernel's own
// words, its Triton signature, what is refused and what it was compiled for.
func launchDoc(k kernel) []string {
	doc := paragraph(fmt.Sprintf("%s queues %s on stream and does not wait for it.", k.names.Launch, k.Name))
	add := func(lines []string) {
		if len(lines) > 0 {
			doc = append(append(doc, ""), lines...)
		}
	}
	add(docstring(k.Doc))
	add(paragraph("In Triton:"))
	add(indentCode(wrapWords(signature(k), codeIndent, codeIndent+codeIndent)))
	if k.TypeVars != nil {
		add(paragraph(typeSentences(k)))
	}
	if k.Grid != nil {
		add(wrapWords(gridWords(k), "", ""))
	}
	if len(k.Configs) > 1 {
		add(paragraph(fmt.Sprintf("It is launched in the configuration %s, the first of %s; %s launches another.",
			k.Configs[0].Name, k.names.Configs, k.names.Config)))
	}
	if n := clusterSize(k); n > 1 {
		add(paragraph(fmt.Sprintf("The grid counts programs; where the image has clusters, a program is one of %d CTAs.", n)))
	}
	sameTargets := !slices.ContainsFunc(k.choices, func(c choice) bool {
		return targets(c.Variant) != targets(k.choices[0].Variant)
	})
	if len(k.choices) > 1 {
		add(paragraph("The first variant that the arguments fit is launched:"))
		var list []string
		for i, c := range k.choices {
			text := promises(k, c.Variant)
			if c.where != "" {
				text = "in " + c.where + ", " + text
			}
			if !sameTargets {
				text += "; compiled for " + targets(c.Variant)
			}
			list = append(list, listItem(i+1, text+".")...)
		}
		add(list)
	}
	if text := refusals(k); text != "" {
		add(paragraph("It returns an error and launches nothing if " + text + "."))
	}
	if sameTargets {
		add(paragraph("Compiled for " + targets(k.choices[0].Variant) + "."))
	}
	return doc
}

// codeIndent is how far gofmt's one tab before code indents it.
const codeIndent = "    "

// indentCode indents lines as gofmt does code in a comment.
func indentCode(lines []string) []string {
	for i, line := range lines {
		lines[i] = "\t" + strings.TrimPrefix(line, codeIndent)
	}
	return lines
}

// listItem is an item of a numbered list as gofmt spells it.
func listItem(number int, text string) []string {
	lines := wrap(text, fmt.Sprintf(" %2d. ", number), "     ")
	for i := range lines {
		if i > 0 || number < 10 {
			lines[i] = lines[i][1:]
		}
	}
	return lines
}

// signature is the kernel as Triton sees it, constants at the end: one word for
// each parameter.
func signature(k kernel) []string {
	var words []string
	for _, p := range k.Params {
		words = append(words, printable(fmt.Sprintf("%s: %s,", p.Name, typeText(p))))
	}
	for _, c := range k.Constants {
		words = append(words, printable(constantText(c)+","))
	}
	if words == nil {
		return []string{k.Name + "()"}
	}
	words[0] = k.Name + "(" + words[0]
	last := &words[len(words)-1]
	*last = strings.TrimSuffix(*last, ",") + ")"
	return words
}

// constantText is a constant as Python would write it.
func constantText(c model.Constant) string {
	switch v := c.Value.(type) {
	case nil:
		return c.Name + "=None"
	case bool:
		return c.Name + "=" + map[bool]string{true: "True", false: "False"}[v]
	case string:
		return fmt.Sprintf("%s=%q", c.Name, v)
	case float64:
		return c.Name + "=" + floatText(v)
	default:
		return fmt.Sprintf("%s=%v", c.Name, v)
	}
}

// floatText is a float as both Go and Python write it.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// gridWords says what the declared grid is; an expression is one word.
func gridWords(k kernel) []string {
	words := []string{"The", "grid", "is"}
	if len(k.Grid) == 1 {
		return append(words, k.Grid[0]+".")
	}
	for i, dim := range k.Grid {
		before, after := "", ","
		if i == 0 {
			before = "("
		}
		if i == len(k.Grid)-1 {
			after = ")."
		}
		words = append(words, before+dim+after)
	}
	return words
}

// clusterSize is the largest number of CTAs in a cluster of any image.
func clusterSize(k kernel) int {
	largest := 1
	for _, c := range k.choices {
		for _, im := range c.Images {
			largest = max(largest, im.Cluster[0]*im.Cluster[1]*im.Cluster[2])
		}
	}
	return largest
}

// promises says when v may be launched.
func promises(k kernel, v model.Variant) string {
	var parts []string
	for _, g := range []struct {
		kind      model.GuardKind
		one, many string
	}{
		{model.DivisibleBy16, "a multiple of 16", "multiples of 16"},
		{model.EqualTo1, "1", "1"},
		{model.Null, "null", "null"},
		{model.Fits32, "within 32 bits", "within 32 bits"},
	} {
		switch subjects := guarded(k, v, g.kind); len(subjects) {
		case 0:
		case 1:
			parts = append(parts, subjects[0]+" is "+g.one)
		default:
			parts = append(parts, series(subjects, "and")+" are "+g.many)
		}
	}
	if parts == nil {
		return "any arguments"
	}
	return strings.Join(parts, "; ")
}

// refusals says for which arguments no variant is launched.
func refusals(k kernel) string {
	var null []string
	for i, p := range k.Params {
		absent := func(c choice) bool {
			return slices.Contains(c.Guards, model.Guard{Param: i, Is: model.Null})
		}
		if (p.Type.Pointer > 0 || p.Type.Rank > 0) && !p.Nullable && !slices.ContainsFunc(k.choices, absent) {
			null = append(null, p.Name)
		}
	}
	var parts []string
	add := func(subjects []string, fault string) {
		if len(subjects) > 0 {
			parts = append(parts, series(subjects, "or")+fault)
		}
	}
	add(null, " is null")
	add(unfitDescriptors(k), " does not suit a tensor map (see kernrt.TensorDesc)")
	if k.Grid != nil {
		parts = append(parts, "the grid is negative, divides by 0 or is too large")
	}
	if only := k.choices[0].Variant; len(k.choices) == 1 {
		add(guarded(k, only, model.DivisibleBy16), " is not a multiple of 16")
		add(guarded(k, only, model.EqualTo1), " is not 1")
		add(guarded(k, only, model.Null), " is not null")
		add(guarded(k, only, model.Fits32), " is not within 32 bits")
	} else if !slices.ContainsFunc(k.choices, func(c choice) bool { return len(c.Guards) == 0 }) {
		parts = append(parts, "no variant fits")
	}
	return strings.Join(parts, ", or if ")
}

// unfitDescriptors lists the tensor descriptors, which must meet the rules of
// tensor maps.
func unfitDescriptors(k kernel) []string {
	var names []string
	for _, p := range k.Params {
		if p.Type.Rank > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// guarded lists the parameters of which v asks kind.
func guarded(k kernel, v model.Variant, kind model.GuardKind) []string {
	var subjects []string
	for _, g := range v.Guards {
		if g.Is == kind {
			subjects = append(subjects, k.Params[g.Param].Name)
		}
	}
	return subjects
}

// targets lists what v was compiled for.
func targets(v model.Variant) string {
	var list []string
	for _, im := range v.Images {
		name := im.Target.String()
		if im.Kind == model.PTX {
			name += " (PTX)"
		}
		list = append(list, name)
	}
	return series(list, "and")
}

// series joins items as a sentence does: "a, b and c".
func series(items []string, last string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	n := len(items) - 1
	return strings.Join(items[:n], ", ") + " " + last + " " + items[n]
}
