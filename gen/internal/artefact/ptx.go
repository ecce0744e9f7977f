package artefact

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

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

var (
	ptxVersion = regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}$`)
	ptxTarget  = regexp.MustCompile(`^sm_[0-9]{2,3}[a-z]?$`)
)

// parsePTX reads a module with one entry.
func parsePTX(pos string, data []byte) (*PTX, error) {
	p := ptxParser{lex: ptxLexer{newLexer(pos, data)}, ptx: &PTX{Text: data}}
	if err := p.module(); err != nil {
		return nil, err
	}
	switch {
	case p.ptx.Target == "":
		return nil, diag.Errorf(pos, "no .target directive").Fix("compile the kernel again")
	case p.ptx.Entry == "":
		return nil, diag.Errorf(pos, "no kernel (.visible .entry NAME)").Fix("compile the kernel again")
	}
	return p.ptx, nil
}

type ptxParser struct {
	lex ptxLexer
	tok token // the next one
	ptx *PTX
}

func (p *ptxParser) advance() error {
	var err error
	p.tok, err = p.lex.next()
	return err
}

func (p *ptxParser) unexpected(want string) error {
	return p.lex.fault(p.tok, "%s instead of %s", p.tok.quoted(), want)
}

// take moves past a token of kind and returns it.
func (p *ptxParser) take(kind byte, what string) (token, error) {
	t := p.tok
	if t.kind != kind {
		return t, p.unexpected(what)
	}
	return t, p.advance()
}

// number reads a whole number from 1 to limit.
func (p *ptxParser) number(what string, limit int) (int, error) {
	t, err := p.take(ptxNumber, what)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(string(t.text), "U"), 0, 32)
	if err != nil || n < 1 || n > uint64(limit) {
		return 0, p.lex.fault(t, "%s is %s, not between 1 and %d", what, t.quoted(), limit)
	}
	return int(n), nil
}

func (p *ptxParser) module() error {
	if err := p.advance(); err != nil {
		return err
	}
	if !p.tok.is(".version") {
		return p.lex.fault(p.tok, "not PTX: it begins with %s, not with .version", p.tok.quoted())
	}
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != ptxNumber || !ptxVersion.Match(p.tok.text) {
		return p.unexpected("a version of the PTX language")
	}
	p.ptx.Version = string(p.tok.text)
	for p.tok.kind != endOfFile {
		var err error
		switch {
		case p.tok.is(".target"):
			err = p.target()
		case p.tok.is(".address_size"):
			err = p.addressSize()
		case p.tok.is(".entry"):
			err = p.entry()
		case p.tok.kind == '{':
			// The body of a function, the values of a variable, a debug section.
			err = p.block()
		default:
			err = p.advance()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// target reads .target sm_90a, debug; only the first item names an
// architecture.
func (p *ptxParser) target() error {
	if p.ptx.Target != "" {
		return p.lex.fault(p.tok, "a second .target directive")
	}
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != ptxName || !ptxTarget.Match(p.tok.text) {
		return p.unexpected("an architecture such as sm_80")
	}
	p.ptx.Target = string(p.tok.text)
	return p.advance()
}

func (p *ptxParser) addressSize() error {
	if err := p.advance(); err != nil {
		return err
	}
	if !p.tok.is("64") {
		return p.lex.fault(p.tok, "addresses of %s bits are not supported", p.tok.text).Fix("compile for 64 bits")
	}
	return p.advance()
}

// block moves past { … }.
func (p *ptxParser) block() error {
	begin := p.tok
	for depth := 0; ; {
		switch {
		case p.tok.kind == endOfFile:
			return p.lex.fault(p.tok, "the file ends early: %s of line %d is not closed", begin.quoted(), begin.line).
				Fix("compile the kernel again")
		case p.tok.kind == '{':
			depth++
		case p.tok.kind == '}':
			depth--
		case p.tok.kind == ptxName && p.tok.is("griddepcontrol"):
			if err := p.advance(); err != nil {
				return err
			}
			if p.tok.is(".wait") {
				p.ptx.WaitsForGrid = true
			}
			continue
		}
		if err := p.advance(); err != nil || depth == 0 {
			return err
		}
	}
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
	return p.block()
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
