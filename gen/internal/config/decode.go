package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// decoder turns YAML nodes into values and collects what is wrong with them.
type decoder struct {
	path   string // for positions
	faults diag.List
}

// field is one key of a mapping that becomes a T.
type field[T any] struct {
	name     string
	required bool
	set      func(d *decoder, into *T, value *yaml.Node)
}

// object reads a mapping with known keys. noun is what to call it: "a package".
func object[T any](d *decoder, n *yaml.Node, noun string, fields []field[T], into *T) bool {
	at := n
	n = d.resolve(n)
	if n.Kind != yaml.MappingNode {
		d.wrongKind(at, n, noun, "a mapping")
		return false
	}
	seen := map[string]*yaml.Node{}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.key(key, seen) {
			continue
		}
		j := slices.Index(known, key.Value)
		if j < 0 {
			Suggest(d.fault(key, "unknown key %q in %s", key.Value, noun), key.Value, known)
			continue
		}
		fields[j].set(d, into, value)
	}
	for _, f := range fields {
		if f.required && seen[f.name] == nil {
			d.fault(at, "%s has no %q", noun, f.name)
		}
	}
	return true
}

// key checks a mapping's key and remembers it.
func (d *decoder) key(key *yaml.Node, seen map[string]*yaml.Node) bool {
	if key.Tag == "!!merge" {
		d.fault(key, "merge keys are not supported").Fix("name an anchor for a whole value, or write the keys out")
		return false
	}
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		d.fault(key, "a key must be a name").Fix("put it in quotes")
		return false
	}
	if first := seen[key.Value]; first != nil {
		d.fault(key, "key %q is given twice; first in line %d", key.Value, first.Line)
		return false
	}
	seen[key.Value] = key
	return true
}

// settings reads a mapping with any names as keys.
func (d *decoder) settings(n *yaml.Node, depth int) ([]Setting, bool) {
	at := n
	n = d.resolve(n)
	if n.Kind != yaml.MappingNode {
		d.wrongKind(at, n, "this", "a mapping of names to values")
		return nil, false
	}
	ok := true
	seen := map[string]*yaml.Node{}
	settings := []Setting{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if !d.key(key, seen) {
			ok = false
			continue
		}
		v, good := d.value(n.Content[i+1], depth)
		settings = append(settings, Setting{Pos: d.pos(key), Name: key.Value, Value: v})
		ok = ok && good
	}
	return settings, ok
}

// list reads a list, calling each for every element.
func (d *decoder) list(n *yaml.Node, what string, each func(n *yaml.Node)) bool {
	at := n
	n = d.resolve(n)
	if n.Kind != yaml.SequenceNode {
		d.wrongKind(at, n, what, "a list")
		return false
	}
	for _, c := range n.Content {
		each(c)
	}
	return true
}

// text reads a string that is not empty.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	at := n
	n = d.resolve(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		d.wrongKind(at, n, what, "a string")
		return "", false
	}
	if n.Value == "" {
		d.fault(at, "%s is empty", what)
		return "", false
	}
	return n.Value, true
}

// names reads a list of names, each once.
func (d *decoder) names(n *yaml.Node, what string) []Name {
	var names []Name
	d.list(n, what, func(n *yaml.Node) {
		text, ok := d.text(n, "a name in "+what)
		if !ok {
			return
		}
		if slices.ContainsFunc(names, func(o Name) bool { return o.Text == text }) {
			d.fault(n, "%s names %q twice", what, text)
			return
		}
		names = append(names, Name{Pos: d.pos(n), Text: text})
	})
	return names
}

// resolve follows an alias. One within its own anchor has been refused.
func (d *decoder) resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// checkAliases refuses aliases that stand within what they name, and so many of
// them that the file would grow without bound.
func (d *decoder) checkAliases(root *yaml.Node) bool {
	const mostNodes = 1 << 20
	nodes := 0
	var within []*yaml.Node
	var walk func(n *yaml.Node) bool
	walk = func(n *yaml.Node) bool {
		if nodes++; nodes > mostNodes {
			d.fault(root, "aliases make more than %d values of the file", mostNodes)
			return false
		}
		if n.Kind == yaml.AliasNode {
			if slices.Contains(within, n.Alias) {
				d.fault(n, "alias %q stands within the value that it names", "*"+n.Value)
				return false
			}
			return walk(n.Alias)
		}
		within = append(within, n)
		defer func() { within = within[:len(within)-1] }()
		for _, c := range n.Content {
			if !walk(c) {
				return false
			}
		}
		return true
	}
	return walk(root)
}

func (d *decoder) pos(n *yaml.Node) string {
	return fmt.Sprintf("%s:%d:%d", d.path, n.Line, n.Column)
}

func (d *decoder) fault(n *yaml.Node, format string, args ...any) *diag.Error {
	err := diag.Errorf(d.pos(n), format, args...)
	d.faults.Add(err)
	return err
}

func (d *decoder) wrongKind(at, n *yaml.Node, what, want string) {
	d.fault(at, "%s is %s, not %s", what, kindOf(n), want)
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!str":
		return "a string"
	}
	return "a " + strings.TrimLeft(n.ShortTag(), "!")
}
