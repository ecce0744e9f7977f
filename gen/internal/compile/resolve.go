package compile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/internal/gridexpr"
)

// resolved is a kernel of the configuration read in the light of its source:
// what each parameter may be, and in which configurations.
type resolved struct {
	conf    *config.Kernel
	facts   *kernel
	params  []choice // all, in the source's order
	configs []tuning // at least one
	deflt   int      // index of the configuration to use until a better one is known
	key     []string
}

// choice is what one parameter may be.
type choice struct {
	name         string
	setting      *config.Setting // nil where the configuration leaves it out
	constant     bool
	alternatives []alternative // none: a constant that configs or heuristics give
}

// alternative is one way to compile a parameter. Its types may name type
// variables, and a descriptor's block may name constants.
type alternative struct {
	label string // in the words of the configuration
	param artefact.SidecarParam
}

// tuning is one configuration.
type tuning struct {
	pos       string
	constants map[string]artefact.SidecarParam
	options   []option
	label     []string // "BLOCK-128", in the configuration's order
	name      []string // "BLOCK=128", likewise
}

type option struct {
	name  string
	value any // as JSON has it
}

// resolver collects the faults of one kernel.
type resolver struct {
	conf   *config.Kernel
	facts  *kernel
	vars   []string
	faults diag.List
}

// resolve reads conf in the light of facts. options are the backend's; nil means
// that they are not known and have been checked by the run before.
func resolve(conf *config.Kernel, facts *kernel, options []string) (*resolved, error) {
	r := &resolver{conf: conf, facts: facts}
	for _, v := range conf.Types {
		r.vars = append(r.vars, v.Name)
	}
	out := &resolved{conf: conf, facts: facts, key: r.key()}
	r.unknownArgs()
	out.configs, out.deflt = r.configs(options)
	for _, p := range facts.Params {
		out.params = append(out.params, r.param(p, out.configs))
	}
	r.nullable(out)
	r.grid()
	if r.faults.Err() == nil {
		r.oneGrid(out.configs)
	}
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

func (r *resolver) fault(pos, format string, args ...any) *diag.Error {
	err := diag.Errorf(pos, "kernel %q: "+format, append([]any{r.conf.Function}, args...)...)
	r.faults.Add(err)
	return err
}

func (r *resolver) find(name string) *param {
	for i := range r.facts.Params {
		if r.facts.Params[i].Name == name {
			return &r.facts.Params[i]
		}
	}
	return nil
}

// names are those of the parameters for which keep holds.
func (r *resolver) names(keep func(param) bool) []string {
	var names []string
	for _, p := range r.facts.Params {
		if keep(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (r *resolver) unknownArgs() {
	for _, s := range r.conf.Args {
		if r.find(s.Name) == nil {
			fault := r.fault(s.Pos, "it has no parameter %q", s.Name)
			config.Suggest(fault, s.Name, r.names(func(param) bool { return true }))
		}
	}
}

// param finds out what p may be.
func (r *resolver) param(p param, configs []tuning) choice {
	c := choice{name: p.Name, constant: p.Constexpr, setting: config.Find(r.conf.Args, p.Name)}
	switch {
	case c.setting != nil && c.setting.Value.String == config.Blank:
		what, remedy := "argument", `put its type in the place of "?", such as i32 or "*fp32:16"`
		if p.Constexpr {
			what, remedy = "constant", `put its value in the place of "?"`
		}
		r.fault(c.setting.Value.Pos, "%s %s has not been filled in", what, p.Name).Fix("%s", remedy)
	case c.setting != nil && p.Constexpr:
		if v, ok := r.constant(c.setting.Value, p.Name); ok {
			v.Name = p.Name
			c.alternatives = []alternative{{label: c.setting.Value.Text(), param: v}}
		}
	case c.setting != nil:
		c.alternatives = r.alternatives(p.Name, c.setting)
	case p.Constexpr:
		c.alternatives = r.omittedConstant(p, configs)
	default:
		c.alternatives = r.omittedArgument(p)
	}
	return c
}

// omittedConstant is what a constant is that args leaves out: none where the
// configurations or the heuristics give it.
func (r *resolver) omittedConstant(p param, configs []tuning) []alternative {
	var missing []string
	given := 0
	for _, t := range configs {
		if _, ok := t.constants[p.Name]; ok {
			given++
		} else {
			missing = append(missing, t.pos)
		}
	}
	switch {
	case given == len(configs):
		return nil
	case given > 0:
		r.fault(missing[0], "this configuration has no %s, but others do", p.Name).Fix("give it in all")
		return nil
	case slices.Contains(r.facts.Heuristics, p.Name):
		return nil
	case p.Default != nil:
		if p.Default.Unsupported != "" {
			r.fault(r.conf.Pos, "the default of constant %s is %s, which is no constant that Triton compiles", p.Name, p.Default.Unsupported).
				Fix("add it to args")
			return nil
		}
		return []alternative{{label: "default", param: artefact.SidecarParam{Name: p.Name, Constant: p.Default.Constant, Tuple: p.Default.Tuple}}}
	case r.facts.Configs != nil && r.conf.Configs == nil && r.conf.Autotune == nil:
		r.fault(r.conf.Pos, "constant %s is missing", p.Name).Fix("add it to args or configs, or take the configurations of @triton.autotune with autotune: true")
	default:
		r.fault(r.conf.Pos, "constant %s is missing", p.Name).Fix("add it to args or configs")
	}
	return nil
}

// omittedArgument is what Triton itself takes a run-time argument for that args
// leaves out: what its annotation or its default says.
func (r *resolver) omittedArgument(p param) []alternative {
	typ := ""
	switch {
	case p.Annotation != "":
		if _, err := config.ParseArgument(p.Annotation, nil); err == nil {
			typ = p.Annotation
		}
	case p.Default != nil && p.Default.Constant != nil:
		switch d := p.Default.Constant; {
		case d.Bool != nil:
			typ = "i1"
		case d.Int != nil && *d.Int == int64(int32(*d.Int)):
			typ = "i32"
		case d.Int != nil:
			typ = "i64"
		case d.Float != nil:
			typ = "fp32"
		}
	}
	if typ == "" {
		r.fault(r.conf.Pos, "argument %s is missing", p.Name).Fix("add it to args, such as \"%s: i32\"", p.Name)
		return nil
	}
	return []alternative{{label: typ, param: artefact.SidecarParam{Name: p.Name, Type: typ}}}
}

// key checks the names whose values decide about the best configuration.
func (r *resolver) key() []string {
	var key []string
	for _, n := range r.conf.Key {
		p := r.find(n.Text)
		switch {
		case p == nil:
			config.Suggest(r.fault(n.Pos, "key names %q, which is no parameter", n.Text), n.Text, r.names(func(p param) bool { return !p.Constexpr }))
		case p.Constexpr:
			r.fault(n.Pos, "key names %q, a constant; configurations are chosen by run-time arguments", n.Text)
		}
		key = append(key, n.Text)
	}
	if key == nil && r.conf.Autotune != nil {
		for _, name := range r.facts.Key {
			// Triton allows constants here, and ignores what it does not know.
			if p := r.find(name); p != nil && !p.Constexpr {
				key = append(key, name)
			}
		}
	}
	return key
}

func (r *resolver) nullable(k *resolved) {
	for _, n := range r.conf.Nullable {
		i := slices.IndexFunc(k.params, func(c choice) bool { return c.name == n.Text })
		if i < 0 {
			config.Suggest(r.fault(n.Pos, "nullable names %q, which is no parameter", n.Text), n.Text, r.names(func(p param) bool { return !p.Constexpr }))
			continue
		}
		for j, a := range k.params[i].alternatives {
			if !strings.HasPrefix(a.param.Type, "*") {
				r.fault(n.Pos, "argument %s is nullable, but it is %s, no pointer", n.Text, a.label)
				break
			}
			k.params[i].alternatives[j].param.Nullable = true
		}
	}
}

// grid checks that a declared grid names parameters.
func (r *resolver) grid() {
	for _, dim := range r.conf.Grid {
		dim.Expr.Walk(func(e gridexpr.Expr) {
			if e.Op == gridexpr.Name && r.find(e.Name) == nil {
				config.Suggest(r.fault(dim.At(e.At), "the grid names %q, which is no parameter", e.Name), e.Name, r.names(func(param) bool { return true }))
			}
		})
	}
}

// oneGrid refuses configurations that may want a grid each, where the caller of a
// launch would give one.
func (r *resolver) oneGrid(configs []tuning) {
	if len(r.conf.Grid) > 0 {
		return
	}
	var differing []string
	for _, p := range r.facts.Params {
		if slices.ContainsFunc(configs[1:], func(t tuning) bool {
			return !reflect.DeepEqual(t.constants[p.Name], configs[0].constants[p.Name])
		}) {
			differing = append(differing, p.Name)
		}
	}
	if differing != nil {
		r.fault(configs[0].pos, "its configurations differ in %s, so each may need another grid", strings.Join(differing, ", ")).
			Fix("declare its grid, such as grid: [\"cdiv(n, %s)\"]", differing[0])
	}
}

// constant reads a value as a compile-time constant: a list is a tuple.
func (r *resolver) constant(v config.Value, name string) (artefact.SidecarParam, bool) {
	c := &artefact.Constant{}
	switch v.Kind {
	case config.Null:
		c.None = true
	case config.Bool:
		c.Bool = &v.Bool
	case config.Int:
		c.Int = &v.Int
	case config.Float:
		c.Float = &v.Float
	case config.String:
		c.String = &v.String
	case config.List:
		return r.constants(v, nil, v.List, name)
	case config.Map:
		return r.constantMap(v, name)
	}
	return artefact.SidecarParam{Constant: c}, true
}

// constantMap reads {dtype: T} and {tuple: {rows: 1, cols: 2}}.
func (r *resolver) constantMap(v config.Value, name string) (artefact.SidecarParam, bool) {
	if len(v.Map) == 1 {
		switch s := v.Map[0]; {
		case s.Name == "dtype" && s.Value.Kind == config.String:
			known := append(slices.Clone(r.vars), config.ElementTypes...)
			if !slices.Contains(known, s.Value.String) {
				config.Suggest(r.fault(s.Value.Pos, "constant %s: unknown type %q", name, s.Value.String), s.Value.String, known)
				return artefact.SidecarParam{}, false
			}
			return artefact.SidecarParam{Constant: &artefact.Constant{DType: s.Value.String}}, true
		case s.Name == "tuple" && s.Value.Kind == config.List:
			return r.constants(s.Value, nil, s.Value.List, name)
		case s.Name == "tuple" && s.Value.Kind == config.Map:
			values, names := members(s.Value.Map)
			return r.constants(s.Value, names, values, name)
		}
	}
	r.fault(v.Pos, "constant %s: %s is no constant", name, v.Text()).Fix("write a type as {dtype: fp16} and a named tuple as {tuple: {x: 1, y: 2}}")
	return artefact.SidecarParam{}, false
}

// constants is a tuple of constants, given as of; names is nil where its members
// have none.
func (r *resolver) constants(of config.Value, names []string, values []config.Value, name string) (artefact.SidecarParam, bool) {
	if len(values) == 0 {
		r.fault(of.Pos, "constant %s is an empty tuple", name)
		return artefact.SidecarParam{}, false
	}
	out := artefact.SidecarParam{Tuple: []artefact.SidecarParam{}}
	all := true
	for i, v := range values {
		m, ok := r.constant(v, name)
		all = all && ok
		if names != nil {
			m.Name = names[i]
		}
		out.Tuple = append(out.Tuple, m)
	}
	return out, all
}

func members(settings []config.Setting) (values []config.Value, names []string) {
	for _, s := range settings {
		values, names = append(values, s.Value), append(names, s.Name)
	}
	return values, names
}

// label is a part of a variant's name: "n" and "i32:16" make "n-i32-16".
func label(name, value string) string {
	return fmt.Sprintf("%s-%s", name, value)
}
