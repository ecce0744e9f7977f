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

	nesting int // of the operand being read
	regs    int // declared so far in the module
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

// parseLoc reads .loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN], and the comment behind it.
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
	if t := p.peek(); t.kind == tokenCalls {
		p.next()
		p.loc.Caller = outermost(t.text)
	}
	for p.accept(",") {
		for t := p.peek(); t.kind != tokenEnd && t.text != "," && (t.kind == tokenNumber || t.text == "+" || t.text == "function_name" || t.text == "inlined_at" || strings.HasPrefix(t.text, "$L__info_string")); t = p.peek() {
			p.next()
		}
	}
	return nil
}

// outermost is FILE:LINE of the last call in a comment of LLVM's: "// f.py:170:27 @[ f.py:191:40 @[ g.py:32:21 ] ]". "" where nothing was inlined.
func outermost(comment string) string {
	n := strings.LastIndex(comment, "@[ ")
	if n < 0 {
		return ""
	}
	call, _, _ := strings.Cut(comment[n+3:], " ")
	colon := strings.LastIndexByte(call, ':')
	return call[:max(colon, 0)]
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
