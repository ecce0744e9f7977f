package artefact

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// maxAliasHops bounds how far a location alias may lead to others.
const maxAliasHops = 16

// location is what loc(…) says of an argument's name: the name itself, or the
// alias of another location, or neither.
type location struct {
	name  string
	alias []byte // of the file
	at    int    // offset
}

// alias reads #loc15 = loc(…), or the definition of another attribute; other
// uses of # are passed over.
func (p *ttirParser) alias() error {
	name := p.tok
	if err := p.advance(); err != nil || p.tok.kind != '=' {
		return err
	}
	if err := p.advance(); err != nil {
		return err
	}
	var loc location
	if p.tok.is("loc") {
		var err error
		if loc, err = p.location(); err != nil {
			return err
		}
	}
	if _, twice := p.defs[string(name.text)]; twice {
		return p.lex.fault(name, "%s is defined twice", name.text)
	}
	p.defs[string(name.text)] = loc
	return nil
}

// location reads loc(…). Without a bracket it is some other use of the word.
func (p *ttirParser) location() (location, error) {
	loc := location{at: p.tok.off}
	if err := p.advance(); err != nil || p.tok.kind != '(' {
		return loc, err
	}
	depth := len(p.lex.open)
	if err := p.advance(); err != nil {
		return loc, err
	}
	switch p.tok.kind {
	case ttirString:
		name := p.tok
		if err := p.advance(); err != nil {
			return loc, err
		}
		if p.tok.kind == ':' { // a file's name
			break
		}
		var err error
		if loc.name, err = p.name(name, name.text); err != nil {
			return loc, err
		}
	case ttirAlias:
		loc.alias = p.tok.text
	}
	for len(p.lex.open) >= depth { // up to the closing bracket
		// With a dot it is an attribute of some dialect, not an alias.
		if p.tok.kind == ttirAlias && !bytes.ContainsRune(p.tok.text, '.') {
			if _, known := p.uses[string(p.tok.text)]; !known {
				p.uses[string(p.tok.text)] = p.tok.off
			}
		}
		if err := p.advance(); err != nil {
			return loc, err
		}
	}
	return loc, p.advance()
}

// name unquotes a name; Go text and messages will hold it.
func (p *ttirParser) name(at token, quoted []byte) (string, error) {
	s, ok := unquote(quoted)
	if !ok || !utf8.ValidString(s) {
		return "", p.lex.fault(at, "malformed string %s", at.quoted())
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", p.lex.fault(at, "name %q holds a character that cannot be printed", s)
	}
	return s, nil
}

// resolve gives the arguments their names. Aliases without a definition tell of
// a file whose end is missing.
func (p *ttirParser) resolve() error {
	first, missing := 0, 0
	for name, at := range p.uses {
		if _, ok := p.defs[name]; ok {
			continue
		}
		if missing++; missing == 1 || at < first {
			first = at
		}
	}
	if missing > 0 {
		at := p.lex.tokenAt(first)
		return p.lex.fault(at, "location %s is not defined in the file, one of %d", at.text, missing).
			Fix("the file was cut short or edited; compile the kernel again")
	}
	var faults diag.List
	for i := range p.sig.Args {
		loc := p.locs[i]
		for hops := 0; loc.alias != nil; hops++ {
			if hops == maxAliasHops {
				faults.Add(p.lex.fault(p.lex.tokenAt(loc.at), "location %s leads through more than %d others", loc.alias, maxAliasHops))
				break
			}
			loc = p.defs[string(loc.alias)]
		}
		p.sig.Args[i].Name = loc.name
	}
	return faults.Err()
}
