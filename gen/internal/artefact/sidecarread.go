package artefact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// maxTupleDepth bounds how tuples nest, maxSidecar the parameters of all of them
// and the source files: no kernel comes near it, and a file made of faults does
// not become a message a hundred times its size.
const (
	maxTupleDepth = 16
	maxSidecar    = 1 << 13
)

var (
	sidecarKey     = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	sidecarInteger = regexp.MustCompile(`^[iu](8|16|32|64)$`)
	sidecarSHA256  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// parseSidecar reads NAME.kerngen.json and checks what can be checked without
// the other files.
func parseSidecar(pos string, data []byte) (*Sidecar, error) {
	if err := checkJSON(pos, data); err != nil {
		return nil, err
	}
	// The version first: another one may have other fields.
	var keys struct{ Schema, Params json.RawMessage }
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, diag.Errorf(pos, "not a JSON object: %v", err)
	}
	switch schema := string(keys.Schema); schema {
	case "":
		return nil, diag.Errorf(pos, "no schema").Fix(`it must say "schema": %d`, SidecarSchema)
	case "1", fmt.Sprint(SidecarSchema):
	default:
		return nil, diag.Errorf(pos, "schema %s is unknown", schema).
			Fix("this kerngen reads 1 and %d; use the kerngen that wrote the file, or compile the kernel again", SidecarSchema)
	}
	var s Sidecar
	if err := strictJSON(pos, data, &s); err != nil {
		return nil, err
	}
	c := sidecarCheck{pos: pos}
	if keys.Params == nil {
		c.fault("params", "is missing")
	}
	c.file(&s)
	c.tuning(&s)
	if err := c.faults.Err(); err != nil {
		return nil, err
	}
	return &s, nil
}

// strictJSON decodes data and refuses fields that dst has not. encoding/json
// itself ignores the case of keys; ours are all lower case.
func strictJSON(pos string, data []byte, dst any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(dst)
	if err == nil {
		return checkKeys(pos, data)
	}
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		line, col := lineCol(data, int(typ.Offset))
		return diag.Errorf(fmt.Sprintf("%s:%d:%d", pos, line, col), "%s", wrongType(typ))
	}
	return diag.Errorf(pos, "%s", strings.TrimPrefix(err.Error(), "json: "))
}

// wrongType says in the words of JSON what a field cannot hold, and what it can.
func wrongType(err *json.UnmarshalTypeError) string {
	want := "an object"
	switch err.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int, reflect.Int64:
		want = "a whole number of 64 bits with sign"
	case reflect.Slice:
		want = "an array"
	}
	return fmt.Sprintf("field %q cannot be %s; it must be %s", err.Field, err.Value, want)
}

// checkKeys refuses keys that are not spelled as ours.
func checkKeys(pos string, data []byte) error {
	var faults diag.List
	err := eachKey(data, func(key []byte, _ int, _ bool) error {
		if !sidecarKey.Match(key) {
			faults.Add(diag.Errorf(pos, "unknown field %q", key))
		}
		return nil
	}, func(int) error { return nil }) // checked before
	faults.Add(err)
	return faults.Err()
}

// UnmarshalJSON reads a constant. JSON has no infinities and no NaN: these are
// strings.
func (c *Constant) UnmarshalJSON(data []byte) error {
	type plain Constant
	var raw struct {
		plain
		Float json.RawMessage `json:"float"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		// Its offset counts from the start of the constant, not of the file.
		var typ *json.UnmarshalTypeError
		if errors.As(err, &typ) {
			typ.Field = strings.TrimPrefix(typ.Field, "plain.")
			return errors.New("constant: " + wrongType(typ))
		}
		return err
	}
	*c = Constant(raw.plain)
	if raw.Float == nil || string(raw.Float) == "null" {
		return nil
	}
	var f float64
	switch string(raw.Float) {
	case `"inf"`:
		f = math.Inf(1)
	case `"-inf"`:
		f = math.Inf(-1)
	case `"nan"`:
		f = math.NaN()
	default:
		if err := json.Unmarshal(raw.Float, &f); err != nil {
			return fmt.Errorf("float %s is neither a number of 64 bits nor %q, %q or %q", raw.Float, "inf", "-inf", "nan")
		}
	}
	c.Float = &f
	return nil
}

// sidecarCheck collects the faults of a sidecar.
type sidecarCheck struct {
	pos    string
	seen   int // parameters, members of tuples among them
	faults diag.List
}

// maxNameBytes bounds a parameter's name, which its members' faults repeat.
const maxNameBytes = 1 << 10

func (c *sidecarCheck) fault(where, format string, args ...any) {
	c.faults.Add(diag.Errorf(c.pos, where+": "+format, args...))
}

func (c *sidecarCheck) file(s *Sidecar) {
	if !IsIdentifier(s.Kernel) {
		c.fault("kernel", "%q is not a name of a Python function", s.Kernel)
	}
	if s.Triton == "" {
		c.fault("triton", "is missing or empty")
	}
	if len(s.Source) > maxSidecar {
		c.fault("source", "more than %d files", maxSidecar)
		return
	}
	files := make(map[string]bool)
	for i, f := range s.Source {
		where := fmt.Sprintf("source[%d]", i)
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsAny(f.Path, "\\:") || path.Clean(f.Path) != f.Path {
			c.fault(where, "path %q is not relative, with slashes and without %q", f.Path, "..")
		}
		if files[f.Path] {
			c.fault(where, "path %q is given twice", f.Path)
		}
		files[f.Path] = true
		if !sidecarSHA256.MatchString(f.SHA256) {
			c.fault(where, "sha256 %q is not 64 lower-case hexadecimal digits", f.SHA256)
		}
	}
	c.params("params", s.Params, 0)
	if len(s.Grid) > 3 {
		c.fault("grid", "has %d dimensions; CUDA has three", len(s.Grid))
		return
	}
	for i, g := range s.Grid {
		if strings.TrimSpace(g) == "" {
			c.fault(fmt.Sprintf("grid[%d]", i), "is empty")
		}
	}
}

// tuning checks what came with schema 2.
func (c *sidecarCheck) tuning(s *Sidecar) {
	since2 := func(field string, set bool) {
		if set && s.Schema < 2 {
			c.fault(field, "is of schema 2, but the file says %d", s.Schema)
		}
	}
	since2("types", s.Types != nil)
	since2("config", s.Config != nil)
	since2("key", s.Key != nil)
	since2("order", s.Order != 0)
	if s.Order < 0 {
		c.fault("order", "is %d", s.Order)
	}
	vars := make(map[string]string)
	for i, t := range s.Types {
		where := fmt.Sprintf("types[%d]", i)
		switch {
		case !IsIdentifier(t.Name):
			c.fault(where, "%q is not a name of a type variable", t.Name)
		case vars[t.Name] != "":
			c.fault(where, "name %q is given twice", t.Name)
		case t.Type == "":
			c.fault(where, "type is missing or empty")
		}
		vars[t.Name] = t.Type
	}
	c.typeVars("params", s.Params, vars, since2)
	if s.Config != nil {
		if s.Config.Index < 0 {
			c.fault("config", "index is %d", s.Config.Index)
		}
		if s.Config.Name == "" {
			c.fault("config", "name is missing or empty")
		}
	}
	for i, name := range s.Key {
		where := fmt.Sprintf("key[%d]", i)
		switch {
		case slices.Contains(s.Key[:i], name):
			c.fault(where, "%q is given twice", name)
		case !slices.ContainsFunc(s.Params, func(p SidecarParam) bool { return p.Name == name && p.Constant == nil }):
			c.fault(where, "%q is no run-time parameter", name)
		}
	}
}

// typeVars checks that what type variables gave is what they are.
func (c *sidecarCheck) typeVars(where string, params []SidecarParam, vars map[string]string, since2 func(string, bool)) {
	for i, p := range params {
		at := fmt.Sprintf("%s[%d]", where, i)
		since2(at+": type_var", p.TypeVar != "")
		c.typeVars(at+".tuple", p.Tuple, vars, since2)
		if p.TypeVar == "" {
			continue
		}
		elem := strings.TrimLeft(p.Type, "*")
		if elem != p.Type {
			elem = strings.TrimPrefix(elem, "k")
		}
		switch is, known := vars[p.TypeVar]; {
		case !known:
			c.fault(at, "type_var %q is not among types", p.TypeVar)
		case elem != is && !strings.HasPrefix(p.Type, "tensordesc<"+is+"["):
			c.fault(at, "type is %q, but type_var %s is %s", p.Type, p.TypeVar, is)
		}
	}
}

// params checks the parameters of the function (depth 0) or the members of a
// tuple, all of which have names or none.
func (c *sidecarCheck) params(where string, params []SidecarParam, depth int) {
	if depth > maxTupleDepth {
		c.fault(where, "more than %d levels of tuples", maxTupleDepth)
		return
	}
	if c.seen += len(params); c.seen > maxSidecar {
		c.fault("params", "more than %d parameters", maxSidecar)
		return
	}
	names := make(map[string]bool)
	for i, p := range params {
		at := fmt.Sprintf("%s[%d]", where, i)
		switch {
		case len(p.Name) > maxNameBytes:
			c.fault(at, "a name of more than %d bytes", maxNameBytes)
		case depth > 0 && p.Name == "" && params[0].Name == "":
		case depth > 0 && p.Name != "" && params[0].Name == "":
			c.fault(at, "%q has a name, but the members before it have none", p.Name)
		case !IsIdentifier(p.Name):
			c.fault(at, "%q is not a name of a parameter", p.Name)
		case names[p.Name]:
			c.fault(at, "name %q is given twice", p.Name)
		default:
			at = fmt.Sprintf("%s (%s)", at, p.Name)
		}
		names[p.Name] = true
		c.param(at, p, depth)
	}
}

func (c *sidecarCheck) param(at string, p SidecarParam, depth int) {
	kinds := 0
	for _, set := range []bool{p.Type != "", p.Constant != nil, p.Tuple != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		c.fault(at, "%d of type, constant and tuple are set, not one", kinds)
		return
	}
	pointer, integer := strings.HasPrefix(p.Type, "*"), sidecarInteger.MatchString(p.Type)
	if p.DivisibleBy != 0 && p.DivisibleBy != 16 {
		c.fault(at, "divisible_by is %d, not 16", p.DivisibleBy)
	}
	if p.DivisibleBy != 0 && !pointer && !integer {
		c.fault(at, "divisible_by is for pointers and integers only")
	}
	if p.Nullable && !pointer {
		c.fault(at, "nullable is for pointers only")
	}
	switch p.Folded {
	case "":
	case "one":
		if !integer {
			c.fault(at, "folded %q is for integers only", p.Folded)
		}
	case "absent":
		if !pointer {
			c.fault(at, "folded %q is for pointers only", p.Folded)
		}
	default:
		c.fault(at, "folded is %q, neither %q nor %q", p.Folded, "one", "absent")
	}
	if p.Folded != "" && p.DivisibleBy != 0 {
		c.fault(at, "a folded argument is not passed, so divisible_by has no meaning")
	}
	if p.Constant != nil {
		c.constant(at, p.Constant)
	}
	c.params(at+".tuple", p.Tuple, depth+1)
}

func (c *sidecarCheck) constant(at string, k *Constant) {
	values := 0
	for _, set := range []bool{k.Int != nil, k.Float != nil, k.Bool != nil, k.String != nil, k.DType != "", k.None} {
		if set {
			values++
		}
	}
	if values != 1 {
		c.fault(at, "%d of int, float, bool, string, dtype and none are set in its constant, not one", values)
	}
}

// IsIdentifier reports whether s is a name in Python.
func IsIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			return false
		}
	}
	return s != ""
}
