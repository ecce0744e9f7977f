package compile

import (
	"slices"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
)

// alternatives reads what a run-time argument may be: one value or a list.
func (r *resolver) alternatives(name string, s *config.Setting) []alternative {
	values := []config.Value{s.Value}
	if s.Value.Kind == config.List {
		values = s.Value.List
	}
	if len(values) == 0 {
		r.fault(s.Value.Pos, "argument %s has no alternative", name).Fix("give its type, such as i32")
		return nil
	}
	typed, ok := r.typed(name, values)
	if !ok {
		return nil
	}
	var out []alternative
	var labels []string
	for _, v := range values {
		a, ok := r.alternative(name, v, typed)
		if !ok {
			return nil
		}
		a.param.Name = name
		if slices.Contains(labels, a.label) {
			r.fault(v.Pos, "argument %s: %s is given twice", name, a.label)
			return nil
		}
		labels = append(labels, a.label)
		out = append(out, a)
	}
	return out
}

// typed finds the type on which all alternatives that have one agree; of
// integers the widest. It is nil where none has a type.
func (r *resolver) typed(name string, values []config.Value) (*config.Argument, bool) {
	var common *config.Argument
	for _, v := range values {
		if v.Kind != config.String {
			continue
		}
		a, err := config.ParseArgument(v.String, r.vars)
		if err != nil {
			r.fault(v.Pos, "argument %s: %v", name, err)
			return nil, false
		}
		switch {
		case common == nil:
			common = &a
		case common.Integer() && a.Integer() && common.Elem[0] == a.Elem[0]:
			if a.Bits() > common.Bits() {
				common = &a
			}
		case common.Type() != a.Type():
			fault := r.fault(v.Pos, "argument %s is %s and %s, which no Go type can be", name, common.Type(), a.Type())
			if common.Pointer == a.Pointer && common.Const == a.Const {
				fault.Fix("give the element types to a type variable: \"types: {T: [%s, %s]}\"", common.Elem, a.Elem)
			} else {
				fault.Fix("give alternatives of one type")
			}
			return nil, false
		}
	}
	return common, true
}

// alternative reads one alternative of an argument whose others have type typed.
func (r *resolver) alternative(name string, v config.Value, typed *config.Argument) (alternative, bool) {
	switch {
	case v.Kind == config.String:
		a, err := config.ParseArgument(v.String, r.vars)
		if err != nil { // seen by typed
			return alternative{}, false
		}
		p := artefact.SidecarParam{Type: a.Type()}
		switch a.Hint {
		case 16:
			p.DivisibleBy = 16
		case 1:
			return folded(a.Type(), "one"), true
		}
		return alternative{label: v.String, param: p}, true
	case v.Kind == config.Int && v.Int == 1:
		if typed == nil {
			return folded("i32", "one"), true
		}
		if !typed.Integer() {
			r.fault(v.Pos, "argument %s is %s, so it cannot be 1", name, typed.Type())
			return alternative{}, false
		}
		return folded(typed.Type(), "one"), true
	case v.Kind == config.Null:
		if typed == nil {
			r.fault(v.Pos, "argument %s is null, but no alternative says what it points to", name).Fix("such as [\"*fp16\", null]")
			return alternative{}, false
		}
		if typed.Pointer == 0 {
			r.fault(v.Pos, "argument %s is %s, so it cannot be null", name, typed.Type())
			return alternative{}, false
		}
		return folded(typed.Type(), "absent"), true
	case v.Kind == config.Map && len(v.Map) == 1 && v.Map[0].Name == "tuple":
		return r.tuple(name, v.Map[0].Value)
	}
	r.fault(v.Pos, "argument %s is %s, a constant, but the kernel takes it at run time", name, v.Text()).
		Fix("give its type, such as i32, or declare the parameter tl.constexpr in the source")
	return alternative{}, false
}

// folded is an argument that the compiler takes for a constant. One that is 1
// has one label, however it is written.
func folded(typ, why string) alternative {
	label := map[string]string{"one": "1", "absent": "null"}[why]
	return alternative{label: label, param: artefact.SidecarParam{Type: typ, Folded: why}}
}

// tuple reads {tuple: ["*fp32", i32]} and {tuple: {rows: i32, cols: i32}}.
func (r *resolver) tuple(name string, v config.Value) (alternative, bool) {
	values, names := v.List, []string(nil)
	if v.Kind == config.Map {
		values, names = members(v.Map)
	}
	if len(values) == 0 {
		r.fault(v.Pos, "argument %s: a tuple is a list of types, or a mapping of names to types", name)
		return alternative{}, false
	}
	out := alternative{label: v.Text(), param: artefact.SidecarParam{Tuple: []artefact.SidecarParam{}}}
	for i, m := range values {
		if m.Kind == config.List {
			r.fault(m.Pos, "argument %s: a tuple's member has one type, not alternatives", name)
			return alternative{}, false
		}
		member := name
		var common *config.Argument
		if names != nil {
			member += "." + names[i]
		}
		if m.Kind == config.String {
			a, err := config.ParseArgument(m.String, r.vars)
			if err != nil {
				r.fault(m.Pos, "argument %s: %v", member, err)
				return alternative{}, false
			}
			common = &a
		}
		a, ok := r.alternative(member, m, common)
		if !ok {
			return alternative{}, false
		}
		if names != nil {
			a.param.Name = names[i]
		}
		out.param.Tuple = append(out.param.Tuple, a.param)
	}
	return out, true
}
