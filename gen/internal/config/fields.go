package config

import (
	"errors"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kerngen/kerngen/internal/gridexpr"
)

// The keys of each mapping. kerngen.schema.json has the same, which a test
// makes sure of.
var (
	configFields = []field[Config]{
		{"targets", true, func(d *decoder, c *Config, n *yaml.Node) { c.Targets = d.targets(n) }},
		{"artefacts", false, (*decoder).artefacts},
		{"packages", true, (*decoder).packages},
	}
	packageFields = []field[Package]{
		{"name", true, (*decoder).packageName},
		{"out", true, (*decoder).packageOut},
		{"kernels", true, (*decoder).kernels},
	}
	kernelFields = []field[Kernel]{
		{"source", true, (*decoder).source},
		{"kernel", true, (*decoder).function},
		{"targets", false, func(d *decoder, k *Kernel, n *yaml.Node) { t := d.targets(n); k.Targets = &t }},
		{"types", false, (*decoder).types},
		{"args", false, (*decoder).args},
		{"nullable", false, func(d *decoder, k *Kernel, n *yaml.Node) { k.Nullable = d.names(n, "nullable") }},
		{"configs", false, (*decoder).configs},
		{"autotune", false, (*decoder).autotune},
		{"default", false, (*decoder).defaultConfig},
		{"key", false, func(d *decoder, k *Kernel, n *yaml.Node) { k.Key = d.names(n, "key") }},
		{"options", false, (*decoder).options},
		{"grid", false, (*decoder).grid},
		{"name", false, func(d *decoder, k *Kernel, n *yaml.Node) { k.GoName, _ = d.text(n, "name") }},
		{"rename", false, (*decoder).rename},
		{"doc", false, func(d *decoder, k *Kernel, n *yaml.Node) { k.Doc, _ = d.text(n, "doc") }},
	}
)

// defaultArtefacts is the folder for compiled kernels beside the file.
const defaultArtefacts = "artefacts"

func (d *decoder) artefacts(c *Config, n *yaml.Node) {
	text, ok := d.text(n, "artefacts")
	if !ok {
		return
	}
	if !filepath.IsLocal(text) || path.Clean(text) == "." {
		d.fault(n, "artefacts %q is not a folder below the configuration's own", text)
		return
	}
	c.Artefacts = path.Clean(text)
}

func (d *decoder) packages(c *Config, n *yaml.Node) {
	outs := map[string]string{}
	d.list(n, "packages", func(n *yaml.Node) {
		p := Package{Pos: d.pos(n)}
		if !object(d, n, "a package", packageFields, &p) {
			return
		}
		if first, ok := outs[p.Out]; ok && p.Out != "" {
			d.fault(n, "package %q has the same folder %q as package %q", p.Name, p.Out, first).
				Fix("list their kernels in one package: what a run makes replaces what is there")
		}
		outs[p.Out] = p.Name
		c.Packages = append(c.Packages, p)
	})
	if len(c.Packages) == 0 && d.resolve(n).Kind == yaml.SequenceNode && len(d.resolve(n).Content) == 0 {
		d.fault(n, "packages is empty")
	}
}

func (d *decoder) packageName(p *Package, n *yaml.Node) {
	text, ok := d.text(n, "name")
	if !ok {
		return
	}
	if !token.IsIdentifier(text) || text == "_" {
		d.fault(n, "%q is not a package name", text).Fix("use letters and digits, a letter first")
		return
	}
	p.Name = text
}

func (d *decoder) packageOut(p *Package, n *yaml.Node) {
	text, ok := d.text(n, "out")
	if !ok {
		return
	}
	if path.IsAbs(text) || filepath.IsAbs(text) || strings.Contains(text, "\\") {
		d.fault(n, "out %q is not a relative path with slashes", text).Fix("give the folder relative to this file")
		return
	}
	p.Out = path.Clean(text)
}

func (d *decoder) kernels(p *Package, n *yaml.Node) {
	first := map[string]string{}
	empty := true
	d.list(n, "kernels", func(n *yaml.Node) {
		empty = false
		k := Kernel{Pos: d.pos(n)}
		if !object(d, n, "a kernel", kernelFields, &k) {
			return
		}
		d.checkKernel(&k)
		if pos, ok := first[k.Function]; ok && k.Function != "" {
			d.fault(n, "kernel %q is in package %q already, at %s", k.Function, p.Name, pos).
				Fix("give alternatives or configs to one entry, or put it into another package")
		}
		first[k.Function] = k.Pos
		p.Kernels = append(p.Kernels, k)
	})
	if empty && d.resolve(n).Kind == yaml.SequenceNode {
		d.fault(n, "kernels is empty")
	}
}

func (d *decoder) source(k *Kernel, n *yaml.Node) {
	text, ok := d.text(n, "source")
	if !ok {
		return
	}
	clean := path.Clean(text)
	switch {
	case !filepath.IsLocal(text) || strings.Contains(text, "\\"):
		d.fault(n, "source %q is not a relative path with slashes in or below this file's folder", text).
			Fix("put %s where its kernels are: line information is relative to it", FileName)
	case path.Ext(text) != ".py":
		d.fault(n, "source %q is not a Python file", text)
	default:
		k.Source = Name{Pos: d.pos(n), Text: clean}
	}
}

func (d *decoder) function(k *Kernel, n *yaml.Node) {
	if text, ok := d.text(n, "kernel"); ok {
		k.Pos, k.Function = d.pos(n), text
	}
}

func (d *decoder) types(k *Kernel, n *yaml.Node) {
	settings, ok := d.settings(n, 0)
	if !ok {
		return
	}
	for _, s := range settings {
		v := TypeVar{Pos: s.Pos, Name: s.Name}
		if !typeVarName.MatchString(s.Name) || slices.Contains(ElementTypes, s.Name) {
			d.faultAt(s.Pos, "%q is no name for a type variable", s.Name).Fix("start it with a capital letter, such as T")
		}
		if s.Value.Kind != List || len(s.Value.List) == 0 {
			d.faultAt(s.Value.Pos, "type variable %s is not a list of types", s.Name).Fix("such as [fp32, fp16]")
			continue
		}
		for _, e := range s.Value.List {
			switch {
			case e.Kind != String || !slices.Contains(ElementTypes, e.String):
				got := e.String
				if e.Kind != String {
					got = e.Text()
				}
				Suggest(d.faultAt(e.Pos, "type variable %s: unknown type %q", s.Name, got), got, ElementTypes)
			case slices.Contains(v.Types, e.String):
				d.faultAt(e.Pos, "type variable %s names %q twice", s.Name, e.String)
			default:
				v.Types = append(v.Types, e.String)
			}
		}
		k.Types = append(k.Types, v)
	}
}

func (d *decoder) args(k *Kernel, n *yaml.Node) {
	k.Args, _ = d.settings(n, 0)
}

func (d *decoder) configs(k *Kernel, n *yaml.Node) {
	d.list(n, "configs", func(n *yaml.Node) {
		if c, ok := d.configuration(n); ok {
			k.Configs = append(k.Configs, c)
		}
	})
	if d.resolve(n).Kind == yaml.SequenceNode && len(d.resolve(n).Content) == 0 {
		d.fault(n, "configs is empty").Fix("leave it out, or list constants and options such as {BLOCK: 128, num_warps: 4}")
	}
}

func (d *decoder) configuration(n *yaml.Node) (Configuration, bool) {
	settings, ok := d.settings(n, 0)
	return Configuration{Pos: d.pos(n), Settings: settings}, ok
}

func (d *decoder) autotune(k *Kernel, n *yaml.Node) {
	v, ok := d.value(n, 0)
	if !ok {
		return
	}
	if v.Kind != Bool {
		d.fault(n, "autotune is %s, not true or false", kindOf(d.resolve(n)))
		return
	}
	if v.Bool {
		k.Autotune = &Name{Pos: v.Pos, Text: "autotune"}
	}
}

func (d *decoder) defaultConfig(k *Kernel, n *yaml.Node) {
	if c, ok := d.configuration(n); ok {
		k.Default = &c
	}
}

func (d *decoder) options(k *Kernel, n *yaml.Node) {
	k.Options, _ = d.settings(n, 0)
}

func (d *decoder) grid(k *Kernel, n *yaml.Node) {
	d.list(n, "grid", func(n *yaml.Node) {
		at := n
		n = d.resolve(n)
		var text string
		switch {
		case n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!int"):
			text = n.Value
		default:
			d.wrongKind(at, n, "a dimension of the grid", "an expression")
			return
		}
		dim := Dimension{Pos: d.pos(n), path: d.path, line: n.Line}
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.ContainsAny(text, "\n\\\"'") {
			dim.col = n.Column
			if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
				dim.col++
			}
		}
		e, err := gridexpr.Parse(text)
		if err != nil {
			at := 0
			var syntax *gridexpr.SyntaxError
			if errors.As(err, &syntax) {
				at = syntax.At
			}
			d.faultAt(dim.At(at), "grid expression %q: %v", text, err)
			return
		}
		dim.Expr = e
		k.Grid = append(k.Grid, dim)
	})
	if seq := d.resolve(n); seq.Kind == yaml.SequenceNode && (len(seq.Content) == 0 || len(seq.Content) > 3) {
		d.fault(n, "grid has %d dimensions; it must have one to three", len(seq.Content))
	}
}

func (d *decoder) rename(k *Kernel, n *yaml.Node) {
	settings, ok := d.settings(n, 0)
	if !ok {
		return
	}
	k.Renames = map[string]string{}
	for _, s := range settings {
		if s.Value.Kind != String || s.Value.String == "" {
			d.faultAt(s.Value.Pos, "rename %s: %s is not a name", s.Name, s.Value.Text())
			continue
		}
		k.Renames[s.Name] = s.Value.String
	}
}
