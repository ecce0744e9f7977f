package compile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/config"
)

// targetOptions follow from the target, or would make the image something that
// its sources do not say.
var targetOptions = []string{"arch", "backend_name", "warp_size", "instrumentation_mode", "ir_override"}

// configs are the kernel's configurations, one without settings where it has
// none, and the index of the default.
func (r *resolver) configs(known []string) ([]tuning, int) {
	base := tuning{pos: r.conf.Pos}
	for _, s := range r.conf.Options {
		if v, ok := r.option(s, known, nil); ok {
			base.options = append(base.options, option{s.Name, v})
		}
	}
	var configs []config.Configuration
	switch {
	case r.conf.Autotune != nil:
		configs = r.fromAutotune()
	case r.conf.Configs != nil:
		configs = r.conf.Configs
	default:
		return []tuning{base}, 0
	}
	var out []tuning
	for _, c := range configs {
		t := tuning{pos: c.Pos, constants: map[string]artefact.SidecarParam{}, options: slices.Clone(base.options)}
		for _, s := range c.Settings {
			t.label = append(t.label, label(s.Name, s.Value.Text()))
			t.name = append(t.name, s.Name+"="+s.Value.Text())
			if p := r.find(s.Name); p == nil {
				if v, ok := r.option(s, known, r.names(func(p param) bool { return p.Constexpr })); ok {
					t.options = append(t.options, option{s.Name, v})
				}
			} else if !p.Constexpr {
				r.fault(s.Pos, "a configuration cannot set %s, which the kernel takes at run time", s.Name).Fix("give its type in args")
			} else if v, ok := r.constant(s.Value, s.Name); ok {
				v.Name = s.Name
				t.constants[s.Name] = v
			}
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return []tuning{base}, 0
	}
	deflt := 0
	if r.conf.Default != nil {
		var err error
		deflt, err = config.MatchConfig(*r.conf.Default, configs)
		r.faults.Add(err)
	}
	return out, deflt
}

// fromAutotune are the configurations of @triton.autotune, in the form of the file's.
func (r *resolver) fromAutotune() []config.Configuration {
	pos := r.conf.Autotune.Pos
	if r.facts.Configs == nil {
		r.fault(pos, "it has no @triton.autotune").Fix("remove autotune, or list configs")
		return nil
	}
	var out []config.Configuration
	for i, c := range r.facts.Configs {
		if c.Hook {
			r.fault(pos, "configuration %d of @triton.autotune has a pre_hook, Python that Go cannot run", i+1).
				Fix("list configs, if the kernel is right without it")
			continue
		}
		conf := config.Configuration{Pos: pos}
		// Triton's own order is lost in JSON; the parameters' is as good.
		var names []string
		for _, p := range r.facts.Params {
			if _, ok := c.Settings[p.Name]; ok {
				names = append(names, p.Name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
			if r.find(name) == nil { // an option
				names = append(names, name)
			}
		}
		for _, name := range names {
			v, err := valueOf(c.Settings[name])
			if err != nil {
				r.fault(pos, "configuration %d of @triton.autotune: %s is %v", i+1, name, err)
				continue
			}
			v.Pos = pos
			conf.Settings = append(conf.Settings, config.Setting{Pos: pos, Name: name, Value: v})
		}
		for _, s := range conf.Settings {
			for _, settings := range [][]config.Setting{r.conf.Args, r.conf.Options} {
				if given := config.Find(settings, s.Name); given != nil {
					r.fault(given.Pos, "%s is given by @triton.autotune too", s.Name).Fix("remove it, or list configs instead of autotune")
				}
			}
		}
		out = append(out, conf)
	}
	return out
}

// valueOf is a constant of Python's as the file would have it.
func valueOf(g given) (config.Value, error) {
	if g.Unsupported != "" {
		return config.Value{}, fmt.Errorf("%s, which is no constant that Triton compiles", g.Unsupported)
	}
	return paramValue(artefact.SidecarParam{Constant: g.Constant, Tuple: g.Tuple}), nil
}

func paramValue(p artefact.SidecarParam) config.Value {
	switch c := p.Constant; {
	case c == nil:
		v := config.Value{Kind: config.List}
		for _, m := range p.Tuple {
			v.List = append(v.List, paramValue(m))
		}
		return v
	case c.Int != nil:
		return config.Value{Kind: config.Int, Int: *c.Int}
	case c.Float != nil:
		return config.Value{Kind: config.Float, Float: *c.Float}
	case c.Bool != nil:
		return config.Value{Kind: config.Bool, Bool: *c.Bool}
	case c.String != nil:
		return config.Value{Kind: config.String, String: *c.String}
	case c.DType != "":
		return config.Value{Kind: config.Map, Map: []config.Setting{{Name: "dtype", Value: config.Value{Kind: config.String, String: c.DType}}}}
	}
	return config.Value{Kind: config.Null}
}

// option reads a compile option of the backend. others are names that could have
// been meant beside those of options.
func (r *resolver) option(s config.Setting, known, others []string) (any, bool) {
	if slices.Contains(targetOptions, s.Name) {
		r.fault(s.Pos, "option %q cannot be set", s.Name).Fix("it follows from the target and the sources")
		return nil, false
	}
	if known != nil && !slices.Contains(known, s.Name) {
		config.Suggest(r.fault(s.Pos, "this Triton has no compile option %q", s.Name), s.Name, append(slices.Clone(others), settable(known)...))
		return nil, false
	}
	if s.Name == "extern_libs" {
		return r.externLibs(s)
	}
	v, ok := plain(s.Value)
	if !ok {
		r.fault(s.Value.Pos, "option %s cannot be %s", s.Name, s.Value.Text())
	}
	return v, ok
}

func settable(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), func(name string) bool { return slices.Contains(targetOptions, name) })
}

// externLibs reads {libdevice: libs/libdevice.bc}.
func (r *resolver) externLibs(s config.Setting) (any, bool) {
	libs := map[string]string{}
	for _, lib := range s.Value.Map {
		libs[lib.Name] = lib.Value.String
	}
	if s.Value.Kind != config.Map || slices.Contains(slices.Collect(maps.Values(libs)), "") {
		r.fault(s.Value.Pos, "option extern_libs is no mapping of names to files")
		return nil, false
	}
	return libs, true
}

// plain is a value without positions.
func plain(v config.Value) (any, bool) {
	switch v.Kind {
	case config.Null:
		return nil, true
	case config.Bool:
		return v.Bool, true
	case config.Int:
		return v.Int, true
	case config.Float:
		return v.Float, true
	case config.String:
		return v.String, true
	case config.List:
		list := []any{}
		for _, e := range v.List {
			p, ok := plain(e)
			if !ok {
				return nil, false
			}
			list = append(list, p)
		}
		return list, true
	}
	return nil, false
}
