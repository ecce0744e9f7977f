package ptx

import (
	"strconv"
	"strings"
)

// Parse reads one module.
func Parse(text string) (*Module, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, module: &Module{Files: map[int]string{}}}
	if err := p.parseModule(); err != nil {
		return nil, err
	}
	return p.module, nil
}

type parser struct {
	tokens []token
	at     int
	module *Module

	// The function being read.
	fn     *Func
	scopes []map[string]int // register names to indices in fn.Regs, innermost last
	vars   []map[string]string
	unique int
	loc    Loc
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

func (p *parser) accept(text string) bool {
	if t := p.peek(); t.kind != tokenString && t.kind != tokenEnd && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if p.accept(text) {
		return nil
	}
	t := p.peek()
	return errorAt(t.line, "%q where %q was expected", t.text, text)
}

func (p *parser) word() (token, error) {
	t := p.next()
	if t.kind != tokenWord {
		return t, errorAt(t.line, "%q where a name was expected", t.text)
	}
	return t, nil
}

func (p *parser) integer() (int, error) {
	t := p.next()
	v, err := parseInteger(t.text)
	if t.kind != tokenNumber || err != nil {
		return 0, errorAt(t.line, "%q where an integer was expected", t.text)
	}
	return int(v), nil
}

// parseInteger reads a literal as its 64-bit pattern.
func parseInteger(s string) (int64, error) {
	s = strings.TrimSuffix(s, "U")
	v, err := strconv.ParseUint(s, 0, 64)
	return int64(v), err
}

func (p *parser) parseModule() error {
	for {
		t := p.peek()
		switch {
		case t.kind == tokenEnd:
			if p.module.Version == "" || p.module.Target == "" {
				return errorAt(t.line, ".version or .target is missing: this is not a PTX module")
			}
			return nil
		case t.text == ".version":
			p.next()
			p.module.Version = p.next().text
		case t.text == ".target":
			p.next()
			p.module.Target = p.next().text
			for p.accept(",") {
				p.next()
			}
		case t.text == ".address_size":
			p.next()
			n, err := p.integer()
			if err != nil {
				return err
			}
			if n != 64 {
				return errorAt(t.line, "addresses of %d bits; only 64 are known", n)
			}
		case t.text == ".file":
			if err := p.parseFile(); err != nil {
				return err
			}
		case t.text == ".section":
			if err := p.skipSection(); err != nil {
				return err
			}
		case t.text == ".loc":
			if err := p.parseLoc(); err != nil {
				return err
			}
		case t.text == ";":
			p.next()
		default:
			if err := p.parseTopLevel(); err != nil {
				return err
			}
		}
	}
}

func (p *parser) parseFile() error {
	p.next()
	n, err := p.integer()
	if err != nil {
		return err
	}
	t := p.next()
	if t.kind != tokenString {
		return errorAt(t.line, "%q where a file name was expected", t.text)
	}
	p.module.Files[n] = t.text
	for p.accept(",") { // time stamp and size
		p.next()
	}
	return nil
}

// parseLoc reads .loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN].
func (p *parser) parseLoc() error {
	p.next()
	var v [3]int
	for i := range v {
		var err error
		if v[i], err = p.integer(); err != nil {
			return err
		}
	}
	if v[1] != 0 {
		p.loc = Loc{File: v[0], Line: v[1]}
	}
	for p.accept(",") {
		for t := p.peek(); t.kind != tokenEnd && t.text != "," && (t.kind == tokenNumber || t.text == "+" || t.text == "function_name" || t.text == "inlined_at" || strings.HasPrefix(t.text, "$L__info_string")); t = p.peek() {
			p.next()
		}
	}
	return nil
}

func (p *parser) skipSection() error {
	t := p.next()
	if _, err := p.word(); err != nil {
		return err
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.accept("}") {
		if p.next().kind == tokenEnd {
			return errorAt(t.line, "section without an end")
		}
	}
	return nil
}

func (p *parser) parseTopLevel() error {
	extern := false
	for {
		t := p.peek()
		switch t.text {
		case ".visible", ".weak", ".common":
			p.next()
			continue
		case ".extern":
			p.next()
			extern = true
			continue
		case ".entry", ".func":
			return p.parseFunc()
		}
		if len(t.text) > 1 && t.text[0] == '.' {
			if _, ok := SpaceOf(t.text[1:]); ok {
				vars, err := p.parseVars()
				if err != nil {
					return err
				}
				for _, v := range vars {
					v.Extern = extern
				}
				p.module.Vars = append(p.module.Vars, vars...)
				return nil
			}
		}
		return errorAt(t.line, "%q is not known at the level of a module", t.text)
	}
}

func (p *parser) parseFunc() error {
	t := p.next()
	f := &Func{Entry: t.text == ".entry", Line: t.line, Labels: map[string]int{}}
	p.fn, p.loc, p.unique = f, Loc{}, 0
	p.scopes = []map[string]int{{}}
	p.vars = []map[string]string{{}}
	var err error
	if !f.Entry && p.peek().text == "(" {
		if f.Returns, err = p.parseParams(); err != nil {
			return err
		}
	}
	name, err := p.word()
	if err != nil {
		return err
	}
	f.Name = name.text
	if p.peek().text == "(" {
		if f.Params, err = p.parseParams(); err != nil {
			return err
		}
	}
	p.module.Funcs = append(p.module.Funcs, f)
	for {
		t := p.peek()
		switch t.text {
		case ";":
			p.next()
			return nil
		case "{":
			p.next()
			f.Defined = true
			return p.parseBody()
		case ".reqntid":
			err = p.parseDims(&f.ReqTID)
		case ".maxntid":
			err = p.parseDims(&f.MaxTID)
		case ".minnctapersm", ".maxnreg", ".maxnctapersm", ".maxclusterrank":
			p.next()
			_, err = p.integer()
		case ".reqnctapercluster":
			var ignored [3]int
			err = p.parseDims(&ignored)
		case ".explicitcluster", ".noreturn":
			p.next()
		case ".pragma":
			p.next()
			p.next()
			err = p.expect(";")
		default:
			return errorAt(t.line, "%q is not known after the parameters of %q", t.text, f.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) parseDims(dims *[3]int) error {
	p.next()
	*dims = [3]int{1, 1, 1}
	for i := 0; ; i++ {
		if i == 3 {
			return errorAt(p.peek().line, "more than three dimensions")
		}
		var err error
		if dims[i], err = p.integer(); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) parseParams() ([]*Var, error) {
	p.next()
	var params []*Var
	for !p.accept(")") {
		if len(params) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		v, err := p.parseVar(nil)
		if err != nil {
			return nil, err
		}
		params = append(params, v)
	}
	return params, nil
}

// parseBody reads statements up to the function's closing brace.
func (p *parser) parseBody() error {
	for depth := 1; depth > 0; {
		t := p.peek()
		switch {
		case t.kind == tokenEnd:
			return errorAt(t.line, "function %q has no end", p.fn.Name)
		case t.text == "{":
			p.next()
			depth++
			p.scopes = append(p.scopes, map[string]int{})
			p.vars = append(p.vars, map[string]string{})
		case t.text == "}":
			p.next()
			depth--
			p.scopes = p.scopes[:len(p.scopes)-1]
			p.vars = p.vars[:len(p.vars)-1]
		case t.text == ";":
			p.next()
		case t.text == ".loc":
			if err := p.parseLoc(); err != nil {
				return err
			}
		case t.text == ".pragma":
			p.next()
			p.next()
			if err := p.expect(";"); err != nil {
				return err
			}
		case t.text == ".reg":
			if err := p.parseRegs(); err != nil {
				return err
			}
		case t.kind == tokenWord && t.text[0] == '.':
			vars, err := p.parseVars()
			if err != nil {
				return err
			}
			for _, v := range vars {
				p.scopeVar(v)
			}
		case t.kind == tokenWord && p.tokens[p.at+1].text == ":":
			name := t.text
			if _, dup := p.fn.Labels[name]; dup {
				return errorAt(t.line, "label %q is defined twice", t.text)
			}
			p.fn.Labels[name] = len(p.fn.Body)
			p.at += 2
		default:
			in, err := p.parseInstr()
			if err != nil {
				return err
			}
			p.fn.Body = append(p.fn.Body, in)
		}
	}
	return nil
}

// scopeVar gives a variable of an inner block a name of its own: call sequences declare the same names again and again.
func (p *parser) scopeVar(v *Var) {
	name := v.Name
	if len(p.vars) > 1 {
		p.unique++
		v.Name = name + "@" + strconv.Itoa(p.unique)
	}
	p.vars[len(p.vars)-1][name] = v.Name
	p.fn.Vars = append(p.fn.Vars, v)
}

func (p *parser) varName(name string) string {
	for i := len(p.vars) - 1; i >= 0; i-- {
		if n, ok := p.vars[i][name]; ok {
			return n
		}
	}
	return name
}

func (p *parser) parseRegs() error {
	p.next()
	t := p.next()
	typ := Type(strings.TrimPrefix(t.text, "."))
	if typ.Bits() == 0 {
		return errorAt(t.line, "register type %q is not known", t.text)
	}
	scope := p.scopes[len(p.scopes)-1]
	for {
		name, err := p.word()
		if err != nil {
			return err
		}
		if p.accept("<") {
			n, err := p.integer()
			if err != nil {
				return err
			}
			if n > 1<<20 {
				return errorAt(name.line, "%d registers %q are more than %d", n, name.text, 1<<20)
			}
			if err := p.expect(">"); err != nil {
				return err
			}
			for i := range n {
				r := name.text + strconv.Itoa(i)
				scope[r] = len(p.fn.Regs)
				p.fn.Regs = append(p.fn.Regs, Reg{r, typ})
			}
		} else {
			scope[name.text] = len(p.fn.Regs)
			p.fn.Regs = append(p.fn.Regs, Reg{name.text, typ})
		}
		if !p.accept(",") {
			return p.expect(";")
		}
	}
}

// register finds a register by name, innermost scope first.
func (p *parser) register(name string) (int, bool) {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if r, ok := p.scopes[i][name]; ok {
			return r, true
		}
	}
	return 0, false
}
