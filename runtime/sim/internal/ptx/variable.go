package ptx

import (
	"encoding/binary"
	"math"
	"strings"
)

// maxVarBytes bounds a declared variable, so that a text of a few bytes cannot ask for all memory.
const maxVarBytes = 1 << 30

// maxAlign is the largest alignment, which all global memory has.
const maxAlign = 1 << 16

// parseVars reads one declaration statement of a state space, with its semicolon.
func (p *parser) parseVars() ([]*Var, error) {
	var vars []*Var
	v, err := p.parseVar(nil)
	for {
		if err != nil {
			return nil, err
		}
		vars = append(vars, v)
		if !p.accept(",") {
			return vars, p.expect(";")
		}
		v, err = p.parseVar(v)
	}
}

// parseVar reads a variable or a parameter; like is the one before it in the same declaration.
func (p *parser) parseVar(like *Var) (*Var, error) {
	v := &Var{Line: p.peek().line}
	if like != nil {
		*v = Var{Line: v.Line, Space: like.Space, Type: like.Type, Align: like.Type.Bytes()}
	}
	for p.peek().kind == tokenWord && p.peek().text[0] == '.' {
		t := p.next()
		name := t.text[1:]
		switch {
		case name == "align":
			n, err := p.integer()
			if err != nil {
				return nil, err
			}
			if n <= 0 || n&(n-1) != 0 {
				return nil, errorAt(t.line, "alignment %d is not a power of two", n)
			}
			if n > maxAlign {
				return nil, errorAt(t.line, "alignment %d is more than %d", n, maxAlign)
			}
			v.Align = n
		case name == "ptr": // .ptr .global .align N describes what a parameter points to
			for p.peek().kind == tokenWord && p.peek().text[0] == '.' {
				if p.next().text == ".align" {
					if _, err := p.integer(); err != nil {
						return nil, err
					}
				}
			}
		case IsType(name):
			v.Type = Type(name)
		default:
			s, ok := SpaceOf(name)
			if !ok {
				return nil, errorAt(t.line, "%q is not known in a declaration", t.text)
			}
			v.Space = s
		}
	}
	if v.Type == "" || v.Type == "pred" {
		return nil, errorAt(v.Line, "declaration without a type that memory can hold")
	}
	v.Align = max(v.Align, v.Type.Bytes())
	name, err := p.word()
	if err != nil {
		return nil, err
	}
	v.Name = name.text
	v.Size = v.Type.Bytes()
	var dims []int
	for p.accept("[") {
		if p.accept("]") {
			if len(dims) > 0 || v.Unsized {
				return nil, errorAt(v.Line, "dimension of %q without a size after the first", v.Name)
			}
			v.Unsized = true
			continue
		}
		n, err := p.integer()
		if err != nil {
			return nil, err
		}
		if n < 0 || n > maxVarBytes || n*v.Size > maxVarBytes {
			return nil, errorAt(v.Line, "variable %q is larger than %d bytes", v.Name, maxVarBytes)
		}
		v.Size *= n
		dims = append(dims, n)
		if err := p.expect("]"); err != nil {
			return nil, err
		}
	}
	row := v.Size
	switch {
	case v.Unsized:
		v.Size, dims = 0, append([]int{0}, dims...)
	case len(dims) > 0 && dims[0] > 0:
		row /= dims[0]
	}
	if p.accept("=") {
		v.Init = []byte{}
		if err := p.parseInit(v, row, dims); err != nil {
			return nil, err
		}
		if v.Unsized {
			v.Size, v.Unsized = len(v.Init), false
		}
		if len(v.Init) > v.Size {
			return nil, errorAt(v.Line, "initialiser of %q has %d bytes, more than its %d", v.Name, len(v.Init), v.Size)
		}
	}
	return v, nil
}

// parseInit reads a scalar or a list, of elements of row bytes when it is of the dimensions given. A nested list that is too short is filled up with zeros.
func (p *parser) parseInit(v *Var, row int, dims []int) error {
	if line := p.peek().line; p.accept("{") {
		if len(dims) == 0 {
			return errorAt(line, "initialiser of %q has more levels than dimensions", v.Name)
		}
		for first := true; !p.accept("}"); first = false {
			if !first {
				if err := p.expect(","); err != nil {
					return err
				}
			}
			if p.peek().text != "{" {
				if err := p.parseInit(v, 0, nil); err != nil {
					return err
				}
				continue
			}
			begin, inner := len(v.Init), row
			if len(dims) > 1 && dims[1] > 0 {
				inner /= dims[1]
			}
			if err := p.parseInit(v, inner, dims[1:]); err != nil {
				return err
			}
			missing := row - (len(v.Init) - begin)
			if missing < 0 {
				return errorAt(line, "initialiser of %q has a list that is too long", v.Name)
			}
			v.Init = append(v.Init, make([]byte, missing)...)
		}
		return nil
	}
	t := p.peek()
	if t.kind == tokenWord { // an address: NAME, NAME+N or generic(NAME)
		p.next()
		name := t.text
		if name == "generic" && p.accept("(") {
			inner, err := p.word()
			if err != nil {
				return err
			}
			name = inner.text
			if err := p.expect(")"); err != nil {
				return err
			}
		}
		ref := Ref{Offset: len(v.Init), Name: name}
		if p.accept("+") {
			n, err := p.integer()
			if err != nil {
				return err
			}
			ref.Add = int64(n)
		}
		if v.Type.Bytes() != 8 {
			return errorAt(t.line, "address of %q in an element of %d bytes; 8 are needed", name, v.Type.Bytes())
		}
		v.Refs = append(v.Refs, ref)
		v.Init = append(v.Init, make([]byte, 8)...)
		return nil
	}
	o, err := p.parseNumber()
	if err != nil {
		return err
	}
	bits := uint64(o.Imm)
	if o.Kind == KindFloat && !o.Single && v.Type == "f32" {
		bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	v.Init = append(v.Init, b[:min(8, v.Type.Bytes())]...)
	return nil
}

// parseNumber reads an integer or a floating-point literal, with its sign.
func (p *parser) parseNumber() (Operand, error) {
	negative := false
	for p.peek().text == "-" || p.peek().text == "+" {
		negative = negative != (p.next().text == "-")
	}
	t := p.next()
	if t.kind != tokenNumber {
		return Operand{}, errorAt(t.line, "%q where a number was expected", t.text)
	}
	o, err := number(t)
	if err != nil || !negative {
		return o, err
	}
	switch {
	case o.Kind == KindImm:
		o.Imm = -o.Imm
	case o.Single:
		o.Imm ^= 1 << 31
	default:
		o.Imm ^= math.MinInt64
	}
	return o, nil
}

func number(t token) (Operand, error) {
	s := t.text
	if len(s) > 2 && s[0] == '0' {
		digits := map[byte]int{'f': 8, 'F': 8, 'd': 16, 'D': 16}[s[1]]
		if digits != 0 {
			v, err := parseInteger("0x" + s[2:])
			if err != nil || len(s) != 2+digits {
				return Operand{}, errorAt(t.line, "floating-point literal %q needs %d hexadecimal digits", s, digits)
			}
			return Operand{Kind: KindFloat, Imm: v, Single: digits == 8}, nil
		}
	}
	if v, err := parseInteger(s); err == nil {
		return Operand{Kind: KindImm, Imm: v}, nil
	}
	if f, err := parseDecimal(s); err == nil && strings.ContainsAny(s, ".eE") {
		return Operand{Kind: KindFloat, Imm: int64(math.Float64bits(f))}, nil
	}
	return Operand{}, errorAt(t.line, "%q is not a number", s)
}
