package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/internal/gridexpr"
)

// maxVariants bounds the variants of a kernel for one target.
const maxVariants = 256

// variant is one specialisation of a kernel, all of its parameters decided.
type variant struct {
	name    string // what tells it from the kernel's others, fit for a folder's name; "" for the only one
	types   map[string]string
	config  int
	params  []artefact.SidecarParam
	options map[string]any
}

// count is the number of k's variants, or an error where there are too many.
func (k *resolved) count() (int, error) {
	total := 1
	multiply := func(n int) {
		if total <= maxVariants {
			total *= n
		}
	}
	for _, v := range k.conf.Types {
		multiply(len(v.Types))
	}
	for _, c := range k.params {
		multiply(max(1, len(c.alternatives)))
	}
	multiply(len(k.configs))
	if total > maxVariants {
		return 0, diag.Errorf(k.conf.Pos, "kernel %q has more than %d variants: %s", k.conf.Function, maxVariants, k.product()).
			Fix("give fewer alternatives, types or configs, or divide it among packages")
	}
	return total, nil
}

// product is the cross product in words: "2 types T × 3 alternatives of n".
func (k *resolved) product() string {
	var factors []string
	add := func(n int, what string) {
		if n > 1 {
			factors = append(factors, fmt.Sprintf("%d %s", n, what))
		}
	}
	for _, v := range k.conf.Types {
		add(len(v.Types), "types "+v.Name)
	}
	for _, c := range k.params {
		add(len(c.alternatives), "alternatives of "+c.name)
	}
	add(len(k.configs), "configs")
	if factors == nil {
		return "1 variant"
	}
	return strings.Join(factors, " × ")
}

// question is what the heuristics of a kernel have to be asked.
type question struct {
	key       string
	constants []artefact.SidecarParam
}

// expand makes k's variants: types outermost, configurations innermost, each in
// the order of the configuration. Where heuristics have not been evaluated it
// returns what to ask instead.
func (k *resolved) expand() ([]variant, []question, error) {
	if _, err := k.count(); err != nil {
		return nil, nil, err
	}
	var faults diag.List
	var variants []variant
	asked := map[string]question{}
	pick := k.choices()
	for {
		v, q, err := k.variant(pick)
		faults.Add(err)
		if q != nil {
			asked[q.key] = *q
		}
		variants = append(variants, v)
		if !pick.next() {
			break
		}
	}
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	if len(asked) > 0 {
		var questions []question
		for _, key := range slices.Sorted(maps.Keys(asked)) {
			questions = append(questions, asked[key])
		}
		return nil, questions, nil
	}
	distinguish(variants)
	return variants, nil, nil
}

// odometer counts through all combinations, the last digit fastest.
type odometer struct{ digits, sizes []int }

// choices has one digit for each type variable, each parameter and the
// configurations.
func (k *resolved) choices() *odometer {
	o := &odometer{}
	for _, v := range k.conf.Types {
		o.sizes = append(o.sizes, len(v.Types))
	}
	for _, c := range k.params {
		o.sizes = append(o.sizes, max(1, len(c.alternatives)))
	}
	o.sizes = append(o.sizes, len(k.configs))
	o.digits = make([]int, len(o.sizes))
	return o
}

func (o *odometer) next() bool {
	for i := len(o.digits) - 1; i >= 0; i-- {
		if o.digits[i]++; o.digits[i] < o.sizes[i] {
			return true
		}
		o.digits[i] = 0
	}
	return false
}

// variant makes the variant that pick stands at.
func (k *resolved) variant(pick *odometer) (variant, *question, error) {
	types, digits := len(k.conf.Types), pick.digits
	v := variant{types: map[string]string{}, config: digits[len(digits)-1], options: map[string]any{}}
	t := k.configs[v.config]
	var labels []string
	for i, tv := range k.conf.Types {
		v.types[tv.Name] = tv.Types[digits[i]]
		if len(tv.Types) > 1 {
			labels = append(labels, v.types[tv.Name])
		}
	}
	for _, o := range t.options {
		v.options[o.name] = o.value
	}
	b := binder{conf: k.conf, types: v.types, constants: map[string]int64{}}
	v.params = make([]artefact.SidecarParam, len(k.params))
	for i, c := range k.params {
		if p, ok := t.constants[c.name]; ok {
			v.params[i] = b.bindConstant(p)
		} else if c.constant && len(c.alternatives) > 0 {
			v.params[i] = b.bindConstant(c.alternatives[0].param)
		}
		b.remember(v.params[i])
	}
	q := k.heuristics(&v, &b)
	if q != nil {
		return v, q, b.faults.Err()
	}
	for i, c := range k.params {
		if c.constant {
			continue
		}
		a := c.alternatives[digits[types+i]]
		v.params[i] = b.bindArgument(a.param, c)
		if len(c.alternatives) > 1 {
			labels = append(labels, label(c.name, a.label))
		}
	}
	if len(k.configs) > 1 {
		labels = append(labels, t.label...)
	}
	v.name = folderName(labels)
	b.checkGrid(v.params)
	return v, nil, b.faults.Err()
}

// heuristics gives v what @triton.heuristics makes of its constants, or returns
// what to ask.
func (k *resolved) heuristics(v *variant, b *binder) *question {
	given := func(name string) bool {
		_, isOption := v.options[name]
		return isOption || slices.ContainsFunc(v.params, func(p artefact.SidecarParam) bool { return p.Name == name })
	}
	wanted := slices.DeleteFunc(slices.Clone(k.facts.Heuristics), given)
	if len(wanted) == 0 {
		return nil
	}
	q := question{constants: []artefact.SidecarParam{}}
	for i, c := range k.params {
		if c.constant && v.params[i].Name != "" {
			q.constants = append(q.constants, v.params[i])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.options)) {
		if n, ok := v.options[name].(int64); ok {
			q.constants = append(q.constants, artefact.SidecarParam{Name: name, Constant: &artefact.Constant{Int: &n}})
		}
	}
	text, err := json.Marshal(q.constants)
	if err != nil {
		b.faults.Add(err)
		return nil
	}
	q.key = string(text)
	values, ok := k.facts.Evaluated[q.key]
	if !ok {
		return &q
	}
	for _, name := range wanted {
		g := values[name]
		if g.Unsupported != "" {
			b.fault(k.conf.Pos, "heuristic for %s gives %s, which is no constant that Triton compiles", name, g.Unsupported)
			continue
		}
		i := slices.IndexFunc(k.params, func(c choice) bool { return c.name == name })
		switch {
		case i >= 0 && k.params[i].constant:
			v.params[i] = artefact.SidecarParam{Name: name, Constant: g.Constant, Tuple: g.Tuple}
			b.remember(v.params[i])
		case i < 0 && g.Constant != nil && g.Constant.Int != nil:
			v.options[name] = *g.Constant.Int // num_warps
		default:
			b.fault(k.conf.Pos, "heuristic for %s: it is no constant of the kernel", name)
		}
	}
	return nil
}

// binder puts types for type variables, and values for the constants in a
// descriptor's block.
type binder struct {
	conf      *config.Kernel
	types     map[string]string
	constants map[string]int64
	faults    diag.List
}

func (b *binder) fault(pos, format string, args ...any) *diag.Error {
	err := diag.Errorf(pos, "kernel %q: "+format, append([]any{b.conf.Function}, args...)...)
	b.faults.Add(err)
	return err
}

func (b *binder) remember(p artefact.SidecarParam) {
	if p.Constant != nil && p.Constant.Int != nil {
		b.constants[p.Name] = *p.Constant.Int
	}
}

func (b *binder) bindConstant(p artefact.SidecarParam) artefact.SidecarParam {
	if p.Constant != nil && b.types[p.Constant.DType] != "" {
		p.Constant = &artefact.Constant{DType: b.types[p.Constant.DType]}
	}
	p.Tuple = slices.Clone(p.Tuple)
	for i, m := range p.Tuple {
		p.Tuple[i] = b.bindConstant(m)
	}
	return p
}

func (b *binder) bindArgument(p artefact.SidecarParam, c choice) artefact.SidecarParam {
	if p.Tuple != nil {
		p.Tuple = slices.Clone(p.Tuple)
		for i, m := range p.Tuple {
			p.Tuple[i] = b.bindArgument(m, c)
		}
		return p
	}
	pos := b.conf.Pos
	if c.setting != nil {
		pos = c.setting.Value.Pos
	}
	a, err := config.ParseArgument(p.Type, slices.Collect(maps.Keys(b.types)))
	if err != nil {
		b.fault(pos, "argument %s: %v", c.name, err)
		return p
	}
	if t, ok := b.types[a.Elem]; ok {
		p.TypeVar, a.Elem = a.Elem, t
	}
	for i, dim := range a.Block {
		n, isConstant := b.constants[dim]
		if !isConstant {
			var err error
			if n, err = strconv.ParseInt(dim, 10, 64); err != nil {
				b.fault(pos, "argument %s: %q in its block is neither a number nor an integer constant", c.name, dim)
			}
		}
		a.Block[i] = strconv.FormatInt(n, 10)
	}
	p.Type = a.Type()
	text := p.Type
	switch {
	case p.DivisibleBy == 16:
		text += ":16"
	case p.Folded == "one":
		text += ":1"
	}
	if _, err := config.ParseArgument(text, nil); err != nil {
		b.fault(pos, "argument %s: %v", c.name, err)
	}
	return p
}

// checkGrid checks that the names in a declared grid have integers for values.
func (b *binder) checkGrid(params []artefact.SidecarParam) {
	for _, dim := range b.conf.Grid {
		dim.Expr.Walk(func(e gridexpr.Expr) {
			i := slices.IndexFunc(params, func(p artefact.SidecarParam) bool { return p.Name == e.Name })
			if e.Op != gridexpr.Name || i < 0 { // reported by resolve
				return
			}
			integer := params[i].Constant != nil && params[i].Constant.Int != nil
			if a, err := config.ParseArgument(params[i].Type, nil); err == nil {
				integer = a.Integer()
			}
			if !integer {
				b.fault(dim.At(e.At), "the grid names %s, which is no integer", e.Name)
			}
		})
	}
}

// longestName bounds a variant's name, so that a folder's stays well below what
// file systems take.
const longestName = 100

// folderName joins labels to a name that is right for a folder everywhere.
func folderName(labels []string) string {
	var b strings.Builder
	for _, r := range strings.Join(labels, ".") {
		switch {
		case r == '.' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case r == '*' || r == '"' || r == ' ':
		default:
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) > longestName {
		sum := sha256.Sum256([]byte(strings.Join(labels, ".")))
		name = name[:longestName-9] + "-" + hex.EncodeToString(sum[:4])
	}
	return name
}

// distinguish gives variants whose names do not differ, or in case only, a part
// that does.
func distinguish(variants []variant) {
	seen := map[string]int{}
	for i := range variants {
		name := strings.ToLower(variants[i].name)
		if seen[name]++; seen[name] > 1 {
			variants[i].name += fmt.Sprintf("-%d", seen[name])
		}
	}
}
