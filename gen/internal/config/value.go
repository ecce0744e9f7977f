package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a Value.
type Kind int

const (
	Null Kind = iota + 1
	Bool
	Int
	Float
	String
	List
	Map
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "true or false", "a whole number", "a number", "a string", "a list", "a mapping"}[k]
}

// Value is a value as the file has it.
type Value struct {
	Pos    string
	Kind   Kind
	Bool   bool
	Int    int64
	Float  float64
	String string
	List   []Value
	Map    []Setting
}

// Text is the value in the words of the file, on one line.
func (v Value) Text() string {
	switch v.Kind {
	case Bool:
		return strconv.FormatBool(v.Bool)
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Float:
		return floatText(v.Float)
	case String:
		return strconv.Quote(v.String)
	case List:
		parts := make([]string, len(v.List))
		for i, e := range v.List {
			parts[i] = e.Text()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Map:
		parts := make([]string, len(v.Map))
		for i, s := range v.Map {
			parts[i] = s.Name + ": " + s.Value.Text()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "null"
}

func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	case math.IsNaN(f):
		return ".nan"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// maxDepth bounds how values nest.
const maxDepth = 16

// value reads any value.
func (d *decoder) value(n *yaml.Node, depth int) (Value, bool) {
	v := Value{Pos: d.pos(n)}
	n = d.resolve(n)
	if depth > maxDepth {
		d.fault(n, "more than %d levels of lists and mappings", maxDepth)
		return v, false
	}
	switch n.Kind {
	case yaml.SequenceNode:
		v.Kind = List
		ok := true
		for _, c := range n.Content {
			e, good := d.value(c, depth+1)
			v.List = append(v.List, e)
			ok = ok && good
		}
		return v, ok
	case yaml.MappingNode:
		v.Kind = Map
		var ok bool
		v.Map, ok = d.settings(n, depth+1)
		return v, ok
	case yaml.ScalarNode:
		return v, d.scalar(n, &v)
	}
	d.fault(n, "a value is missing")
	return v, false
}

func (d *decoder) scalar(n *yaml.Node, v *Value) bool {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		v.Kind = Null
	case "!!bool":
		v.Kind, v.Bool = Bool, strings.EqualFold(n.Value, "true")
	case "!!str":
		v.Kind, v.String = String, n.Value
	case "!!int":
		i, err := integer(n.Value)
		if err != nil {
			d.fault(n, "%v", err)
			return false
		}
		v.Kind, v.Int = Int, i
	case "!!float":
		if err := n.Decode(&v.Float); err != nil {
			d.fault(n, "%q is not a number of 64 bits", n.Value)
			return false
		}
		// YAML takes a whole number that is too large for one of floating point.
		if strings.Trim(n.Value, "+-0123456789_") == "" {
			d.fault(n, "%s is larger than 64 bits with sign hold", n.Value)
			return false
		}
		v.Kind = Float
	default:
		d.fault(n, "a value of type %q has no meaning here", strings.TrimLeft(tag, "!")).
			Fix("put it in quotes if it is a string")
		return false
	}
	return true
}

// integer reads a whole number. YAML's octal 010, binary and digits with
// underscores are refused: readers disagree about what they are.
func integer(text string) (int64, error) {
	digits := strings.TrimLeft(text, "+-")
	base := 10
	hex := strings.HasPrefix(digits, "0x")
	if hex {
		base = 16
	}
	if !hex && len(digits) > 1 && digits[0] == '0' || strings.Contains(digits, "_") {
		return 0, fmt.Errorf("%s is not written as a plain decimal or hexadecimal number", text)
	}
	i, err := strconv.ParseInt(strings.Replace(strings.TrimPrefix(text, "+"), "0x", "", 1), base, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is larger than 64 bits with sign hold", text)
	}
	return i, nil
}
