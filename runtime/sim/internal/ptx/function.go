package ptx

import (
	"strconv"
	"strings"
)

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

// maxRegs bounds the registers that a module declares, so that a short text cannot ask for all memory.
const maxRegs = 1 << 20

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
			if n < 0 || n > maxRegs-p.regs {
				return errorAt(name.line, "%d registers %q after %d others are more than %d", n, name.text, p.regs, maxRegs)
			}
			p.regs += n
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
