package artefact

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

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
	case !p.addressed:
		return nil, diag.Errorf(pos, "no .address_size directive, which means addresses of 32 bits").Fix("compile for 64 bits")
	}
	return p.ptx, nil
}

type ptxParser struct {
	lex ptxLexer
	tok token // the next one
	ptx *PTX

	addressed bool           // .address_size has been read
	numbers   map[string]int // the entry's, by name
}

// sharedSymbol is what Triton calls its dynamic shared memory.
const sharedSymbol = "global_smem"

func (p *ptxParser) advance() error {
	return p.lex.next(&p.tok)
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
		case p.tok.is(".version"):
			err = p.lex.fault(p.tok, "a second .version directive").Fix("a file must hold one module")
		case p.tok.is(".entry"):
			err = p.entry()
		case p.tok.kind == '{':
			// The body of a function, the values of a variable, a debug section.
			_, err = p.block()
		case p.tok.kind == '}':
			err = p.lex.fault(p.tok, "%s closes nothing", p.tok.quoted()).Fix("compile the kernel again")
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
	p.addressed = true
	return p.advance()
}

// block moves past { … } and returns the last token within.
func (p *ptxParser) block() (last token, err error) {
	begin := p.tok
	for depth := 0; ; {
		switch {
		case p.tok.kind == endOfFile:
			return last, p.lex.fault(p.tok, "the file ends early: %s of line %d is not closed", begin.quoted(), begin.line).
				Fix("compile the kernel again")
		case p.tok.kind == '{':
			depth++
		case p.tok.kind == '}':
			depth--
		case p.tok.kind == ptxName && p.tok.is("griddepcontrol"):
			if err := p.advance(); err != nil {
				return last, err
			}
			if p.tok.is(".wait") {
				p.ptx.WaitsForGrid = true
			}
			continue
		case p.tok.kind == ptxName && p.tok.is("tensormap"):
			if err := p.advance(); err != nil {
				return last, err
			}
			for p.tok.kind == ptxDirective {
				p.ptx.SetsStride = p.ptx.SetsStride || p.tok.is(".global_stride")
				if err := p.advance(); err != nil {
					return last, err
				}
			}
			continue
		case p.tok.kind == ptxName && p.tok.is(sharedSymbol):
			p.ptx.UsesShared = true
		case p.tok.kind == ptxName:
			if i, ok := p.numbers[string(p.tok.text)]; ok {
				p.ptx.Params[i].Used = true
			}
		}
		if depth > 0 {
			last = p.tok
		}
		if err := p.advance(); err != nil || depth == 0 {
			return last, err
		}
	}
}
