// Package starter writes the first kerngen.yaml of a Python file: its kernels,
// their parameters, and what the text says of them. It reads the text alone, so
// it needs neither Python nor Triton; what only running the file could tell is
// left to the user.
package starter

import (
	"bytes"
	"fmt"
	gotoken "go/token"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/kerngen/kerngen/gen/internal/config"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// Write returns a kerngen.yaml for the kernels of a Python file whose content is
// source. path is the file's for messages, name the one beside kerngen.yaml.
func Write(path, name string, source []byte) ([]byte, error) {
	if !utf8.Valid(source) {
		return nil, diag.Errorf(path, "is not UTF-8")
	}
	found, err := functions(path, string(source))
	if err != nil {
		return nil, err
	}
	kernels := slices.DeleteFunc(slices.Clone(found), func(f function) bool { return f.returns })
	switch {
	case len(found) == 0:
		return nil, diag.Errorf(path, "has no @triton.jit function").Fix("name the file that defines the kernels")
	case len(kernels) == 0:
		return nil, diag.Errorf(path, "all its @triton.jit functions return values, so none of them can be launched").Fix("name the file that defines the kernels")
	}
	w := &writer{}
	w.line("# Which Triton kernels to compile, for what, and which Go packages to make of them.")
	w.line("# Begun by kerngen init, now yours. Put a type or a value in the place of each %q,", config.Blank)
	w.line("# then run kerngen generate. An argument is")
	w.line(`#   i32, fp16          a number`)
	w.line(`#   "*fp32"            a pointer`)
	w.line(`#   "*fp32:16"         one that is a multiple of 16, as allocations are: faster, and checked at each launch`)
	w.line(`#   [i32, "i32:16"]    alternatives: all are compiled, and a launch picks by the value`)
	w.line("targets: [sm_80, sm_90, ptx] # the GPUs' architectures; ptx: for newer ones")
	w.line("packages:")
	pkg := packageName(name)
	w.line("  - name: %s", scalar(pkg))
	w.line("    out: %s # the package's folder, relative to this file", scalar(pkg))
	w.line("    kernels:")
	for _, k := range kernels {
		w.kernel(name, k)
	}
	for _, f := range found {
		if f.returns {
			w.line("      # %s, line %d, returns a value: kernels call it, nobody launches it.", f.name, f.line)
		}
	}
	return w.b.Bytes(), nil
}

type writer struct{ b bytes.Buffer }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// kernel writes an entry of the list of kernels.
func (w *writer) kernel(source string, f function) {
	w.line("      - source: %s", scalar(source))
	w.line("        kernel: %s # line %d", scalar(f.name), f.line)
	if f.autotuned {
		w.line("        autotune: true # the configurations of @triton.autotune")
	}
	var lines [][2]string
	any := false
	for _, p := range f.params {
		line, note, entry := f.argument(p)
		any = any || entry
		lines = append(lines, [2]string{line, note})
	}
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l[0]))
	}
	switch {
	case any:
		w.line("        args:")
	case len(lines) > 0:
		w.line("        # args:")
	}
	for _, l := range lines {
		w.line("          %s%s # %s", l[0], strings.Repeat(" ", width-utf8.RuneCountInString(l[0])), l[1])
	}
	note := "as here, Launch computes the grid; without, it takes one"
	if f.autotuned {
		note = "as here, Launch computes the grid; needed where configurations differ in constants"
	}
	w.line(`        # grid: ["cdiv(n, BLOCK)"] # %s`, note)
}

// argument is the line of a parameter and what to say of it, and whether the line
// is more than a comment.
func (f function) argument(p parameter) (line, note string, entry bool) {
	name := scalar(p.name)
	commented := func(value, note string) (string, string, bool) {
		return strings.TrimRight(fmt.Sprintf("# %s: %s", name, value), " "), note, false
	}
	switch {
	case p.constexpr && slices.Contains(f.heuristics, p.name):
		return commented("", "given by @triton.heuristics")
	case p.constexpr && p.hasDefault:
		return commented(p.value, "a constant; the default where it is left out")
	case p.constexpr && f.autotuned:
		return commented("", "a constant, unless @triton.autotune gives it")
	case p.constexpr:
		return fmt.Sprintf("%s: %q", name, config.Blank), "a constant: a number, true, a string", true
	case p.annotation != "":
		return fmt.Sprintf("%s: %s", name, typeText(p.annotation)), "its annotation", true
	case !p.annotated && p.hasDefault && inferred(p.value) != "":
		return fmt.Sprintf("%s: %s", name, inferred(p.value)), fmt.Sprintf("as its default, %s", p.value), true
	case strings.HasSuffix(strings.ToLower(p.name), "ptr"):
		return fmt.Sprintf("%s: %q", name, config.Blank), `such as "*fp32:16"`, true
	}
	return fmt.Sprintf("%s: %q", name, config.Blank), `such as i32, or "*fp32:16"`, true
}

var (
	plainNumber = regexp.MustCompile(`^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e-?[0-9]+)?$`)
	notInName   = regexp.MustCompile(`[^a-z0-9]+`)
)

// inferred is the type that Triton takes an argument for by its default, where
// that is certain.
func inferred(value string) string {
	digits := strings.TrimPrefix(value, "-")
	switch {
	case value == "true" || value == "false":
		return "i1"
	case !plainNumber.MatchString(digits):
		return ""
	case strings.ContainsAny(digits, ".e"):
		return "fp32"
	case len(digits) < 10: // below 2^31 whatever the digits
		return "i32"
	}
	return ""
}

// packageName is a Go package's name made of a file's.
func packageName(file string) string {
	name := notInName.ReplaceAllString(strings.ToLower(strings.TrimSuffix(file, ".py")), "")
	if !gotoken.IsIdentifier(name) {
		return "kernels"
	}
	return name
}

// typeOf is a type's annotation in the words of a signature, "" where it is none.
func (r *reader) typeOf(annotation []token) string {
	name := r.full(annotation)
	if t, ok := languageTypes[strings.TrimPrefix(name, "triton.language.")]; ok && strings.HasPrefix(name, "triton.language.") {
		return t
	}
	if len(annotation) == 1 && annotation[0].kind == text {
		if _, err := config.ParseArgument(name, nil); err == nil && !strings.Contains(name, ":") {
			return name
		}
	}
	return ""
}

// languageTypes are triton.language's element types.
var languageTypes = map[string]string{
	"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
	"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}

// scalar writes a string of YAML, quoted where it would be something else.
func scalar(s string) string {
	out, err := yaml.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%q", s)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func typeText(t string) string {
	if strings.HasPrefix(t, "*") {
		return fmt.Sprintf("%q", t)
	}
	return t
}

func position(path string, line int) string { return fmt.Sprintf("%s:%d", path, line) }

func fault(path string, line int, format string, args ...any) error {
	return diag.Errorf(position(path, line), format, args...)
}
