package artefact

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// parseTTIR reads the signature of the module's one public function. The whole
// file is walked, since locations may be defined after their use, and since a
// cut file must not pass.
func parseTTIR(pos string, data []byte) (*Signature, error) {
	if !utf8.Valid(data) {
		return nil, diag.Errorf(pos, "not MLIR text: it is not UTF-8")
	}
	p := ttirParser{
		lex:   ttirLexer{lexer: newLexer(pos, data)},
		defs:  make(map[string]location),
		uses:  make(map[string]int),
		nargs: make(map[string]bool),
	}
	if err := p.module(); err != nil {
		return nil, err
	}
	if p.sig == nil {
		return nil, diag.Errorf(pos, "no public function (tt.func public @NAME)").
			Fix("the file must be the TTIR that Triton's compiler writes")
	}
	if err := p.resolve(); err != nil {
		return nil, err
	}
	return p.sig, nil
}

type ttirParser struct {
	lex  ttirLexer
	tok  token // the next one
	prev int   // offset just after the one before

	sig   *Signature
	locs  []location          // of the arguments
	nargs map[string]bool     // SSA names so far
	defs  map[string]location // location aliases
	uses  map[string]int      // the offset of each one's first use
}

func (p *ttirParser) advance() error {
	p.prev = p.lex.off
	return p.lex.next(&p.tok)
}

// expect moves past a token of kind.
func (p *ttirParser) expect(kind byte, what string) error {
	if p.tok.kind != kind {
		return p.lex.fault(p.tok, "%s instead of %s", p.tok.quoted(), what)
	}
	return p.advance()
}

func (p *ttirParser) module() error {
	if err := p.advance(); err != nil {
		return err
	}
	for p.tok.kind != endOfFile {
		var err error
		switch {
		case p.tok.kind == ttirAlias:
			err = p.alias()
		case p.tok.kind == ttirName && p.tok.is("loc"):
			_, err = p.location()
		case p.tok.kind == ttirName && p.tok.is("tt.func"):
			err = p.function()
		default:
			err = p.advance()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// function reads the head of tt.func; private ones are passed over.
func (p *ttirParser) function() error {
	if err := p.advance(); err != nil {
		return err
	}
	public := true // MLIR's default
	if p.tok.kind == ttirName {
		public = p.tok.is("public")
		if err := p.advance(); err != nil {
			return err
		}
	}
	if p.tok.kind != ttirSymbol || !public {
		return nil
	}
	at := p.tok
	name := string(at.text[1:])
	if strings.HasPrefix(name, `"`) {
		var err error
		if name, err = p.name(at, at.text[1:]); err != nil {
			return err
		}
	}
	if name == "" {
		return p.lex.fault(at, "the function has no name")
	}
	if p.sig != nil {
		return p.lex.fault(at, "a second public function, %q after %q", name, p.sig.Name).
			Fix("a module must hold one kernel")
	}
	p.sig = &Signature{Name: name}
	if err := p.advance(); err != nil {
		return err
	}
	return p.arguments()
}

func (p *ttirParser) arguments() error {
	if err := p.expect('(', "the argument list"); err != nil {
		return err
	}
	if p.tok.kind == ')' {
		return p.advance()
	}
	for {
		if err := p.argument(); err != nil {
			return err
		}
		if p.tok.kind == ')' {
			return p.advance()
		}
		if err := p.expect(',', "a comma or the end of the argument list"); err != nil {
			return err
		}
	}
}

// argument reads %x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(…); the
// last two in either order, or absent.
func (p *ttirParser) argument() error {
	at := p.tok
	arg := Arg{Line: at.line}
	if err := p.expect(ttirValue, "an argument"); err != nil {
		return err
	}
	arg.SSA = string(at.text[1:])
	if arg.SSA == "" {
		return p.lex.fault(at, "an argument without a name")
	}
	if p.nargs[arg.SSA] {
		return p.lex.fault(at, "argument %%%s is given twice", arg.SSA)
	}
	p.nargs[arg.SSA] = true
	if err := p.expect(':', "a colon and the argument's type"); err != nil {
		return err
	}
	begin := p.tok
	var err error
	if arg.Type, err = p.span(func() bool {
		return p.tok.kind == '{' || p.tok.kind == ',' || p.tok.kind == ')' || p.tok.is("loc")
	}); err != nil {
		return err
	}
	if arg.Type == "" {
		return p.lex.fault(begin, "argument %%%s has no type", arg.SSA)
	}
	var loc location
	var hasAttributes, hasLoc bool
	for p.tok.kind != ',' && p.tok.kind != ')' {
		switch {
		case p.tok.kind == '{' && !hasAttributes:
			hasAttributes = true
			err = p.attributes(&arg)
		case p.tok.is("loc") && !hasLoc:
			hasLoc = true
			loc, err = p.location()
		default:
			return p.lex.fault(p.tok, "%s after argument %%%s", p.tok.quoted(), arg.SSA)
		}
		if err != nil {
			return err
		}
	}
	p.sig.Args = append(p.sig.Args, arg)
	p.locs = append(p.locs, loc)
	return nil
}

// span moves up to the first token, outside of all brackets that it opened, for
// which end holds, and returns the text between.
func (p *ttirParser) span(end func() bool) (string, error) {
	from, depth, angles := p.tok.off, p.depth(), 0
	last := from
	for {
		open := p.depth()
		if open == depth && angles == 0 && end() {
			return string(p.lex.data[from:last]), nil
		}
		switch p.tok.kind {
		case endOfFile:
			return "", p.lex.fault(p.tok, "the file ends early")
		case '<':
			if angles++; angles > maxTTIRDepth {
				return "", p.lex.fault(p.tok, "more than %d levels of brackets", maxTTIRDepth)
			}
		case '>':
			if angles--; angles < 0 {
				return "", p.lex.fault(p.tok, "%s closes nothing", p.tok.quoted())
			}
		case ')', ']', '}':
			if open == depth {
				return "", p.lex.fault(p.tok, "%s inside angle brackets", p.tok.quoted())
			}
		}
		if err := p.advance(); err != nil {
			return "", err
		}
		last = p.prev
	}
}

// depth is the number of brackets open before the next token, which the lexer
// has already counted.
func (p *ttirParser) depth() int {
	switch p.tok.kind {
	case '(', '[', '{':
		return len(p.lex.open) - 1
	case ')', ']', '}':
		return len(p.lex.open) + 1
	}
	return len(p.lex.open)
}

// attributes reads {tt.divisibility = 16 : i32, …}. Every attribute of an
// argument is a promise to the compiler or changes what is passed, so an
// unknown one cannot be ignored, and a known one is a number above 0.
func (p *ttirParser) attributes(arg *Arg) error {
	seen := make(map[string]bool)
	if err := p.advance(); err != nil {
		return err
	}
	for p.tok.kind != '}' {
		key := p.tok
		if key.kind != ttirName && key.kind != ttirString {
			return p.lex.fault(key, "%s instead of an attribute's name", key.quoted())
		}
		if err := p.advance(); err != nil {
			return err
		}
		name := strings.Trim(string(key.text), `"`)
		switch name {
		case "tt.divisibility", "tt.pointer_range", "tt.nv_tma_desc":
		default:
			return p.lex.fault(key, "argument %%%s: unknown attribute %s", arg.SSA, key.quoted()).
				Fix("use a newer kerngen, or compile the kernel without it")
		}
		if seen[name] {
			return p.lex.fault(key, "argument %%%s: %s is given twice", arg.SSA, name)
		}
		seen[name] = true
		if err := p.expect('=', "the value of "+name); err != nil {
			return err
		}
		at := p.tok
		text, err := p.span(func() bool { return p.tok.kind == ',' || p.tok.kind == '}' })
		if err != nil {
			return err
		}
		number, _, _ := strings.Cut(text, ":")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
		if err != nil || n < 1 {
			return p.lex.fault(at, "argument %%%s: %s = %q is not one whole number above 0", arg.SSA, name, text)
		}
		switch name {
		case "tt.divisibility":
			arg.Divisibility = int(n)
		case "tt.pointer_range":
			arg.PointerRange = int(n)
		case "tt.nv_tma_desc":
			arg.TensorMap = true
		}
		if p.tok.kind == ',' {
			if err := p.advance(); err != nil {
				return err
			}
		}
	}
	return p.advance()
}
