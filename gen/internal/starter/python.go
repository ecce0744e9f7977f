package starter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// function is a @triton.jit function as its text has it.
type function struct {
	name       string
	line       int
	params     []parameter
	autotuned  bool
	heuristics []string // the names that @triton.heuristics gives, as far as it has them as literals
	returns    bool     // a value, so that kernels call it and nobody launches it
}

// parameter is one of the function's. What its annotation or its default is not
// known to be is "".
type parameter struct {
	name       string
	constexpr  bool
	annotated  bool
	annotation string // a type in Triton's words
	value      string // the default in YAML's, where it is a literal
	hasDefault bool
}

// jitted are the decorators that make a kernel.
var jitted = []string{"triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit"}

// reader follows the module's blocks and names.
type reader struct {
	path   string
	names  map[string]string // what imports make of names: "tl" is "triton.language"
	blocks []block
	found  []function
}

// block is one that later statements may be within.
type block struct {
	indent int
	hidden bool // its names are none of the module's: it is a function or a class
	jitted bool
}

// functions lists the @triton.jit functions that the module at path has by name.
func functions(path, source string) ([]function, error) {
	all, err := statements(path, source)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, names: map[string]string{}}
	var decorators []statement
	for _, s := range all {
		r.leave(s.indent)
		if s.tokens[0].text == "@" && s.tokens[0].kind == symbol {
			decorators = append(decorators, s)
			continue
		}
		if err := r.read(s, decorators); err != nil {
			return nil, err
		}
		decorators = nil
	}
	return r.found, nil
}

// leave ends the blocks that a statement of that indentation is not within.
func (r *reader) leave(indent int) {
	for n := len(r.blocks); n > 0 && r.blocks[n-1].indent >= indent; n-- {
		r.blocks = r.blocks[:n-1]
	}
}

// read reads one statement.
func (r *reader) read(s statement, decorators []statement) error {
	hidden := slices.ContainsFunc(r.blocks, func(b block) bool { return b.hidden })
	first := s.tokens[0].text
	if first == "async" && len(s.tokens) > 1 {
		first = s.tokens[1].text
	}
	switch {
	case s.tokens[0].kind != word:
		return nil
	case first == "import" && !hidden:
		r.imports(s.tokens[1:])
	case first == "from" && !hidden:
		r.importsFrom(s.tokens[1:])
	case first == "return":
		r.returns(s.tokens)
	case first == "def" && s.tokens[0].text == "def":
		b := block{indent: s.indent, hidden: true}
		if !hidden && r.decorated(decorators, jitted...) != nil {
			b.jitted = true
			if err := r.define(s, decorators); err != nil {
				return err
			}
		}
		r.blocks = append(r.blocks, b)
	case first == "def" || first == "class":
		r.blocks = append(r.blocks, block{indent: s.indent, hidden: true})
	case is(s.tokens[len(s.tokens)-1], ":"):
		r.blocks = append(r.blocks, block{indent: s.indent})
	}
	return nil
}

// returns notes a value that the function returns which the statement belongs to.
func (r *reader) returns(tokens []token) {
	if len(tokens) == 1 || len(tokens) == 2 && tokens[1].text == "None" {
		return
	}
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if r.blocks[i].hidden {
			if r.blocks[i].jitted {
				r.found[len(r.found)-1].returns = true
			}
			return
		}
	}
}

// imports reads what follows "import": triton.language as tl, os.
func (r *reader) imports(tokens []token) {
	for _, part := range split(tokens, ",") {
		if full, name := renamed(part); name != "" {
			r.names[name] = full
		} else if full != "" {
			name, _, _ = strings.Cut(full, ".")
			r.names[name] = name
		}
	}
}

// importsFrom reads what follows "from": triton import jit, language as tl.
func (r *reader) importsFrom(tokens []token) {
	i := slices.IndexFunc(tokens, func(t token) bool { return t.kind == word && t.text == "import" })
	if i < 0 {
		return
	}
	module := dotted(tokens[:i])
	rest := slices.DeleteFunc(slices.Clone(tokens[i+1:]), func(t token) bool { return is(t, "(") || is(t, ")") })
	for _, part := range split(rest, ",") {
		full, name := renamed(part)
		switch {
		case full == "*":
			for _, exported := range []string{"jit", "autotune", "heuristics", "language", "constexpr"} {
				r.names[exported] = module + "." + exported
			}
		case name != "":
			r.names[name] = module + "." + full
		case full != "":
			r.names[full] = module + "." + full
		}
	}
}

// renamed reads "a.b as c".
func renamed(tokens []token) (full, name string) {
	if n := len(tokens); n > 2 && tokens[n-2].text == "as" {
		return dotted(tokens[:n-2]), tokens[n-1].text
	}
	return dotted(tokens), ""
}

// full is the name with what imports make of its first part.
func (r *reader) full(tokens []token) string {
	name := dotted(tokens)
	first, rest, _ := strings.Cut(name, ".")
	if known, ok := r.names[first]; ok {
		return strings.TrimSuffix(known+"."+rest, ".")
	}
	return name
}

// decorated returns the first of the decorators that has one of the names.
func (r *reader) decorated(decorators []statement, names ...string) *statement {
	for i, d := range decorators {
		end := slices.IndexFunc(d.tokens, func(t token) bool { return is(t, "(") })
		if end < 0 {
			end = len(d.tokens)
		}
		if slices.Contains(names, r.full(d.tokens[1:end])) {
			return &decorators[i]
		}
	}
	return nil
}

// define reads "def name(params) -> type: body".
func (r *reader) define(s statement, decorators []statement) error {
	t := s.tokens
	if len(t) < 4 || !isName(t[1]) || !is(t[2], "(") {
		return fault(r.path, s.line, "this is no definition of a function")
	}
	f := function{name: t[1].text, line: t[1].line}
	f.autotuned = r.decorated(decorators, "triton.autotune", "triton.runtime.autotune") != nil
	if d := r.decorated(decorators, "triton.heuristics", "triton.runtime.heuristics"); d != nil {
		for i, t := range d.tokens[:len(d.tokens)-1] {
			if t.kind == text && is(d.tokens[i+1], ":") {
				f.heuristics = append(f.heuristics, t.text)
			}
		}
	}
	end := matching(t, 2)
	for _, p := range split(t[3:end], ",") {
		if len(p) == 0 || len(p) == 1 && p[0].kind == symbol { // a comma at the end, or a bare * or /
			continue
		}
		if is(p[0], "*") {
			return fault(r.path, p[0].line, "kernel %q takes any number of arguments, which a compiled kernel cannot", f.name)
		}
		if !isName(p[0]) || slices.ContainsFunc(f.params, func(o parameter) bool { return o.name == p[0].text }) {
			return fault(r.path, p[0].line, "kernel %q: %q cannot be the name of a parameter", f.name, p[0].text)
		}
		f.params = append(f.params, r.parameter(p))
	}
	r.found = slices.DeleteFunc(r.found, func(o function) bool { return o.name == f.name }) // a later one takes the name
	r.found = append(r.found, f)
	if i := slices.IndexFunc(t[end:], func(t token) bool { return t.text == "return" }); i >= 0 { // on the same line
		r.found[len(r.found)-1].returns = end+i+1 < len(t)
	}
	return nil
}

// parameter reads "name: annotation = default".
func (r *reader) parameter(tokens []token) parameter {
	p := parameter{name: tokens[0].text}
	before, value, hasDefault := cut(tokens, "=")
	p.hasDefault = hasDefault
	if hasDefault {
		p.value = literal(value)
	}
	if _, annotation, ok := cut(before, ":"); ok {
		// Triton looks for the word in the annotation's text.
		p.constexpr = slices.ContainsFunc(annotation, func(t token) bool { return strings.Contains(t.text, "constexpr") })
		p.annotated, p.annotation = true, r.typeOf(annotation)
	}
	return p
}

// literal is a number, a string or a name of Python's own in YAML's words; "" for
// anything else.
func literal(tokens []token) string {
	sign := ""
	if len(tokens) == 2 && is(tokens[0], "-") {
		sign, tokens = "-", tokens[1:]
	}
	if len(tokens) != 1 {
		return ""
	}
	switch t := tokens[0]; {
	case t.kind == text && sign == "" && !strings.ContainsAny(t.text, "\\\n"):
		return fmt.Sprintf("%q", t.text)
	case t.text == "True" || t.text == "False":
		return strings.ToLower(t.text)
	case t.text == "None":
		return "null"
	case plainNumber.MatchString(t.text):
		return sign + t.text
	}
	return ""
}

func isName(t token) bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return t.kind == word && !unicode.IsDigit(r)
}

// is reports whether t is that symbol.
func is(t token, s string) bool { return t.kind == symbol && t.text == s }

// matching is the index of the bracket that closes the one at open, or the end.
func matching(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		if tokens[i].kind != symbol {
			continue
		}
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// split divides tokens at a symbol that is within no brackets.
func split(tokens []token, at string) [][]token {
	var parts [][]token
	for {
		before, after, found := cut(tokens, at)
		parts = append(parts, before)
		if !found {
			return parts
		}
		tokens = after
	}
}

// cut divides tokens at the first such symbol.
func cut(tokens []token, at string) (before, after []token, found bool) {
	for i := 0; i < len(tokens); i++ {
		if is(tokens[i], at) {
			return tokens[:i], tokens[i+1:], true
		}
		if t := tokens[i]; t.kind == symbol && closing[t.text] != "" {
			i = matching(tokens, i)
		}
	}
	return tokens, nil, false
}

func dotted(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}
