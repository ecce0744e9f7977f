package ptx

import (
	"strconv"
	"strings"
)

func parseDecimal(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// parseInstr reads one instruction with its guard and semicolon.
func (p *parser) parseInstr() (*Instr, error) {
	in := &Instr{Line: p.peek().line, Loc: p.loc}
	if p.accept("@") {
		g := &Guard{Not: p.accept("!")}
		t, err := p.word()
		if err != nil {
			return nil, err
		}
		r, ok := p.register(t.text)
		if !ok || p.fn.Regs[r].Type != "pred" {
			return nil, errorAt(t.line, "guard %q is not a predicate register in scope", t.text)
		}
		g.Reg = r
		in.Guard = g
	}
	t, err := p.word()
	if err != nil {
		return nil, err
	}
	in.Line = t.line
	parts := strings.Split(t.text, ".")
	in.Op, in.Mods = parts[0], parts[1:]
	for first := true; !p.accept(";"); first = false {
		if !first {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		o, err := p.parseOperand()
		if err != nil {
			return nil, err
		}
		in.Operands = append(in.Operands, o)
	}
	return in, nil
}

func (p *parser) parseOperand() (Operand, error) {
	o, err := p.parseSingle()
	if err != nil || !p.accept("|") {
		return o, err
	}
	second, err := p.parseSingle()
	return Operand{Kind: KindPair, Elems: []Operand{o, second}}, err
}

// maxNesting bounds operands within operands; PTX has two levels.
const maxNesting = 16

func (p *parser) parseSingle() (Operand, error) {
	t := p.peek()
	if p.nesting == maxNesting {
		return Operand{}, errorAt(t.line, "operands within more than %d others", maxNesting)
	}
	p.nesting++
	defer func() { p.nesting-- }()
	switch {
	case t.text == "[":
		return p.parseAddr()
	case t.text == "{":
		return p.parseList("{", "}", KindVec)
	case t.text == "(":
		return p.parseList("(", ")", KindList)
	case t.text == "!":
		p.next()
		o, err := p.parseSingle()
		o.Not = !o.Not
		return o, err
	case t.kind == tokenNumber || t.text == "-" || t.text == "+":
		return p.parseNumber()
	case t.kind == tokenWord:
		p.next()
		return p.parseName(t)
	}
	return Operand{}, errorAt(t.line, "%q where an operand was expected", t.text)
}

func (p *parser) parseName(t token) (Operand, error) {
	if r, ok := p.register(t.text); ok {
		return Operand{Kind: KindReg, Reg: r, Name: t.text}, nil
	}
	if t.text == "_" {
		return Operand{Kind: KindSink}, nil
	}
	if t.text[0] == '%' {
		if specials[t.text] {
			return Operand{Kind: KindSpecial, Name: t.text}, nil
		}
		return Operand{}, errorAt(t.line, "register %q is neither declared nor a special register", t.text)
	}
	if t.text == "WARP_SZ" {
		return Operand{Kind: KindImm, Imm: 32}, nil
	}
	o := Operand{Kind: KindName, Name: p.varName(t.text)}
	if p.peek().text == "+" {
		n, err := p.parseNumber()
		if err != nil {
			return Operand{}, err
		}
		o.Imm = n.Imm
	}
	return o, nil
}

func (p *parser) parseList(open, end string, kind Kind) (Operand, error) {
	o := Operand{Kind: kind}
	if err := p.expect(open); err != nil {
		return o, err
	}
	for !p.accept(end) {
		if len(o.Elems) > 0 {
			if err := p.expect(","); err != nil {
				return o, err
			}
		}
		e, err := p.parseSingle()
		if err != nil {
			return o, err
		}
		o.Elems = append(o.Elems, e)
	}
	return o, nil
}

// parseAddr reads [base], [base+offset] or [base + offset].
func (p *parser) parseAddr() (Operand, error) {
	p.next()
	o := Operand{Kind: KindAddr}
	base, err := p.parseSingle()
	if err != nil {
		return o, err
	}
	o.Imm, base.Imm = base.Imm, 0
	switch base.Kind {
	case KindImm, KindReg, KindName:
	default:
		return o, errorAt(p.peek().line, "address that is neither a register, a name nor an integer")
	}
	for t := p.peek(); t.text == "+" || t.text == "-"; t = p.peek() {
		n, err := p.parseNumber()
		if err != nil {
			return o, err
		}
		o.Imm += n.Imm
	}
	o.Elems = []Operand{base}
	return o, p.expect("]")
}

// specials are the special registers that have a meaning here.
var specials = map[string]bool{}

func init() {
	for _, name := range []string{"%tid", "%ntid", "%ctaid", "%nctaid"} {
		for _, axis := range []string{".x", ".y", ".z"} {
			specials[name+axis] = true
		}
	}
	for _, name := range []string{
		"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
		"%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%dynamic_smem_size", "%total_smem_size",
	} {
		specials[name] = true
	}
}
