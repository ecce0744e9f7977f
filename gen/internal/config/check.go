package config

import (
	"slices"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// checkKernel checks what concerns several keys of a kernel.
func (d *decoder) checkKernel(k *Kernel) {
	if k.Autotune != nil && k.Configs != nil {
		d.faultAt(k.Autotune.Pos, "kernel %q has both configs and autotune", k.Function).Fix("give one of them")
	}
	if k.Default != nil && k.Configs == nil && k.Autotune == nil {
		d.faultAt(k.Default.Pos, "kernel %q has a default but neither configs nor autotune to choose it from", k.Function)
	}
	for _, v := range k.Types {
		if !slices.ContainsFunc(k.Args, func(s Setting) bool { return mentions(s.Value, v.Name) }) {
			d.faultAt(v.Pos, "type variable %s is used by no argument", v.Name).Fix("write it as a type, such as %q, or remove it", "*"+v.Name)
		}
	}
	d.checkConfigs(k)
	for _, n := range k.Nullable {
		s := Find(k.Args, n.Text)
		switch {
		case s != nil && hasNull(s.Value):
			d.faultAt(n.Pos, "argument %s is nullable, and null is one of its alternatives too", n.Text).
				Fix("give one of them: nullable passes a null pointer, the alternative null compiles the kernel without it")
		case s != nil && s.Value.Kind != String && s.Value.Kind != List:
			d.faultAt(n.Pos, "argument %s is nullable, but it is %s, no pointer", n.Text, s.Value.Text())
		}
	}
}

// checkConfigs checks that nothing is given twice, and which configuration is
// the default.
func (d *decoder) checkConfigs(k *Kernel) {
	seen := map[string]int{}
	for i, c := range k.Configs {
		for _, s := range c.Settings {
			switch {
			case Find(k.Args, s.Name) != nil:
				d.faultAt(s.Pos, "%s is given by args too", s.Name).Fix("remove one of them")
			case Find(k.Options, s.Name) != nil:
				d.faultAt(s.Pos, "%s is given by options too", s.Name).Fix("remove one of them")
			}
		}
		text := configText(c)
		if j, ok := seen[text]; ok {
			d.faultAt(c.Pos, "configs %d and %d are the same", j+1, i+1)
			continue
		}
		seen[text] = i
	}
	if k.Default == nil || k.Configs == nil {
		return
	}
	if _, err := MatchConfig(*k.Default, k.Configs); err != nil {
		d.faults.Add(err)
	}
}

// configText is the same for configurations that mean the same.
func configText(c Configuration) string {
	var parts []string
	for _, s := range c.Settings {
		parts = append(parts, s.Name+"="+s.Value.Text())
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// MatchConfig returns the index of the one configuration that has all settings
// of want.
func MatchConfig(want Configuration, configs []Configuration) (int, error) {
	var matches []int
	for i, c := range configs {
		all := true
		for _, w := range want.Settings {
			s := Find(c.Settings, w.Name)
			all = all && s != nil && s.Value.Text() == w.Value.Text()
		}
		if all {
			matches = append(matches, i)
		}
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		return 0, diag.Errorf(want.Pos, "no configuration has the default's values").Fix("name values of exactly one")
	}
	return 0, diag.Errorf(want.Pos, "%d configurations have the default's values", len(matches)).Fix("name values of exactly one")
}

// mentions reports whether a value names the type variable.
func mentions(v Value, name string) bool {
	switch v.Kind {
	case String:
		a, err := ParseArgument(v.String, []string{name})
		return err == nil && a.Elem == name
	case List:
		return slices.ContainsFunc(v.List, func(e Value) bool { return mentions(e, name) })
	case Map:
		return slices.ContainsFunc(v.Map, func(s Setting) bool { return mentions(s.Value, name) })
	}
	return false
}

func hasNull(v Value) bool {
	return v.Kind == Null || v.Kind == List && slices.ContainsFunc(v.List, hasNull)
}

func (d *decoder) faultAt(pos, format string, args ...any) *diag.Error {
	err := diag.Errorf(pos, format, args...)
	d.faults.Add(err)
	return err
}
