package artefact

// Bounds of a PTX entry; CUDA's own are 32,764 bytes of parameters and 1,024
// threads.
const (
	maxPTXParams = 1 << 15
	maxPTXNumber = 1 << 20
)

// ptxSizes are the types that a parameter can have, and their bytes.
var ptxSizes = map[string]int{
	".b8": 1, ".u8": 1, ".s8": 1,
	".b16": 2, ".u16": 2, ".s16": 2, ".f16": 2, ".bf16": 2,
	".b32": 4, ".u32": 4, ".s32": 4, ".f32": 4, ".f16x2": 4, ".bf16x2": 4,
	".b64": 8, ".u64": 8, ".s64": 8, ".f64": 8,
}

func (p *ptxParser) entry() error {
	if err := p.advance(); err != nil {
		return err
	}
	name, err := p.take(ptxName, "the entry's name")
	if err != nil {
		return err
	}
	if p.ptx.Entry != "" {
		return p.lex.fault(name, "a second entry, %q after %q", name.text, p.ptx.Entry).
			Fix("a module must hold one kernel")
	}
	p.ptx.Entry = string(name.text)
	if p.tok.kind == '(' {
		if err := p.params(); err != nil {
			return err
		}
	}
	if err := p.directives(); err != nil {
		return err
	}
	begin := p.tok
	last, err := p.block()
	switch {
	case err != nil:
		return err
	case last.off != begin.off && last.kind != ';' && last.kind != '}' && last.kind != ':':
		return p.lex.fault(last, "entry %q ends within an instruction", p.ptx.Entry).Fix("compile the kernel again")
	}
	return nil
}

func (p *ptxParser) params() error {
	if err := p.advance(); err != nil || p.tok.kind == ')' {
		if err != nil {
			return err
		}
		return p.advance()
	}
	for {
		if len(p.ptx.Params) == maxPTXParams {
			return p.lex.fault(p.tok, "more than %d parameters", maxPTXParams)
		}
		if err := p.param(); err != nil {
			return err
		}
		if p.tok.kind == ')' {
			return p.advance()
		}
		if _, err := p.take(',', "a comma or the end of the parameters"); err != nil {
			return err
		}
	}
}

// param reads one parameter:
//
//	.param .u64 .ptr .global .align 1 NAME
//	.param .align 2 .b8 NAME[2]
func (p *ptxParser) param() error {
	param := PTXParam{Line: p.tok.line}
	if !p.tok.is(".param") {
		return p.unexpected(".param")
	}
	if err := p.advance(); err != nil {
		return err
	}
	for p.tok.kind == ptxDirective {
		t := p.tok
		if err := p.advance(); err != nil {
			return err
		}
		size, isType := ptxSizes[string(t.text)]
		switch {
		case t.is(".align"):
			n, err := p.number("an alignment", maxPTXNumber)
			if err != nil {
				return err
			}
			if n&(n-1) != 0 {
				return p.lex.fault(t, "alignment %d is not a power of two", n)
			}
			if !param.Pointer { // else it is of what the pointer points to
				param.Align = n
			}
		case t.is(".ptr"):
			param.Pointer = true
		case param.Pointer && (t.is(".global") || t.is(".shared") || t.is(".const") || t.is(".local")):
		case isType && param.Type == "":
			param.Type, param.Size = string(t.text), size
		default:
			return p.lex.fault(t, "parameter %d: unknown type %s", len(p.ptx.Params), t.quoted()).
				Fix("this kerngen does not know how to pass it")
		}
	}
	name, err := p.take(ptxName, "a parameter's name")
	if err != nil {
		return err
	}
	if param.Type == "" {
		return p.lex.fault(name, "parameter %q has no type", name.text)
	}
	if p.tok.kind == '[' {
		if err := p.advance(); err != nil {
			return err
		}
		n, err := p.number("an array's length", maxPTXNumber)
		if err != nil {
			return err
		}
		if _, err := p.take(']', "the end of the array's length"); err != nil {
			return err
		}
		param.Size *= n
	}
	if p.numbers == nil {
		p.numbers = make(map[string]int)
	}
	if _, twice := p.numbers[string(name.text)]; twice {
		return p.lex.fault(name, "a second parameter %q", name.text)
	}
	p.numbers[string(name.text)] = len(p.ptx.Params)
	p.ptx.Params = append(p.ptx.Params, param)
	return nil
}

// directives reads what stands between the parameters and the body. An unknown
// one may change how the kernel must be launched.
func (p *ptxParser) directives() error {
	seen := make(map[string]bool)
	for p.tok.kind != '{' {
		t := p.tok
		if t.kind != ptxDirective {
			return p.unexpected("the entry's body")
		}
		if seen[string(t.text)] && !t.is(".pragma") {
			return p.lex.fault(t, "a second %s directive", t.text)
		}
		seen[string(t.text)] = true
		err := p.advance()
		switch {
		case err != nil:
		case t.is(".reqntid"):
			p.ptx.ReqNTID, err = p.dims(t)
		case t.is(".maxntid"):
			p.ptx.MaxNTID, err = p.dims(t)
		case t.is(".reqnctapercluster"):
			p.ptx.Cluster, err = p.dims(t)
		case t.is(".explicitcluster"):
			p.ptx.ExplicitCluster = true
		case t.is(".maxnreg"), t.is(".minnctapersm"), t.is(".maxnctapersm"), t.is(".maxclusterrank"):
			// They bound what ptxas may do, or the occupancy; a launch is as before.
			_, err = p.number("the value of "+string(t.text), maxPTXNumber)
		case t.is(".noreturn"):
		case t.is(".pragma"):
			err = p.pragma()
		default:
			return p.lex.fault(t, "entry %q: unknown directive %s", p.ptx.Entry, t.quoted()).
				Fix("it may change how the kernel is launched; use a newer kerngen")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dims reads one to three numbers; those that are not written are 1.
func (p *ptxParser) dims(directive token) ([3]int, error) {
	dims := [3]int{1, 1, 1}
	for i := range dims {
		var err error
		if dims[i], err = p.number("a side of "+string(directive.text), maxPTXNumber); err != nil {
			return dims, err
		}
		if p.tok.kind != ',' {
			return dims, nil
		}
		if err := p.advance(); err != nil {
			return dims, err
		}
	}
	return dims, p.lex.fault(directive, "%s has more than three numbers", directive.text)
}

// pragma reads .pragma "…", "…";
func (p *ptxParser) pragma() error {
	for {
		if _, err := p.take(ptxString, "the text of .pragma"); err != nil {
			return err
		}
		if p.tok.kind == ';' {
			return p.advance()
		}
		if _, err := p.take(',', "the end of .pragma"); err != nil {
			return err
		}
	}
}
