package gridexpr

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// SyntaxError is text that is no expression.
type SyntaxError struct {
	At  int // byte offset
	Msg string
}

func (e *SyntaxError) Error() string { return e.Msg }

// maxText is the length in bytes beyond which text is no grid.
const maxText = 1000

// MaxDepth is how deep an expression nests at most. What computes one from left
// to right keeps fewer values than that for later.
const MaxDepth = 16

// Parse reads an expression. An error is a *SyntaxError.
func Parse(text string) (Expr, error) {
	p := parser{text: text}
	if len(text) > maxText {
		return Expr{}, p.fault(maxText, "the expression is longer than %d bytes", maxText)
	}
	if err := p.next(); err != nil {
		return Expr{}, err
	}
	e, err := p.expr(1)
	if err != nil {
		return Expr{}, err
	}
	if p.tok != "" {
		return Expr{}, p.fault(p.at, "unexpected %q after %q", p.tok, text[:p.at])
	}
	return e, nil
}

// parser climbs precedences over one token of lookahead.
type parser struct {
	text  string
	pos   int    // after tok
	tok   string // "" at the end
	at    int    // where tok starts
	depth int
}

func (p *parser) fault(at int, format string, args ...any) error {
	return &SyntaxError{At: at, Msg: fmt.Sprintf(format, args...)}
}

// next reads a token: a number, a name or one rune.
func (p *parser) next() error {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n') {
		p.pos++
	}
	p.at = p.pos
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if !isWord(r) {
			if p.pos == p.at {
				p.pos += size
			}
			break
		}
		p.pos += size
	}
	p.tok = p.text[p.at:p.pos]
	if p.tok == "/" && p.pos < len(p.text) && p.text[p.pos] == '/' {
		return p.fault(p.at, "there is no %q: %q divides whole numbers already", "//", "/")
	}
	return nil
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// expr reads operands joined by operators of at least the given precedence.
func (p *parser) expr(least int) (Expr, error) {
	if p.depth++; p.depth > MaxDepth {
		return Expr{}, p.fault(p.at, "more than %d levels of parentheses and operators", MaxDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.operand()
	if err != nil {
		return Expr{}, err
	}
	for {
		op := p.infix()
		if op == 0 || operators[op].precedence < least {
			return left, nil
		}
		at := p.at
		if err := p.next(); err != nil {
			return Expr{}, err
		}
		right, err := p.expr(operators[op].precedence + 1)
		if err != nil {
			return Expr{}, err
		}
		left = Expr{Op: op, Args: []Expr{left, right}, At: at}
	}
}

// infix is the operator that tok is, or 0.
func (p *parser) infix() Op {
	for op := Add; op <= Mod; op++ {
		if operators[op].text == p.tok {
			return op
		}
	}
	return 0
}

func (p *parser) operand() (Expr, error) {
	tok, at := p.tok, p.at
	if tok == "" {
		return Expr{}, p.fault(at, "the expression ends where a value is missing")
	}
	if err := p.next(); err != nil {
		return Expr{}, err
	}
	first, _ := utf8.DecodeRuneInString(tok)
	switch {
	case tok == "(":
		e, err := p.expr(1)
		if err != nil {
			return Expr{}, err
		}
		return e, p.expect(")", at)
	case '0' <= first && first <= '9':
		n, err := strconv.ParseInt(tok, 10, 64)
		if err != nil {
			return Expr{}, p.fault(at, "%q is not a whole number of 64 bits", tok)
		}
		return Expr{Op: Int, Int: n, At: at}, nil
	case isWord(first) && p.tok == "(":
		return p.call(tok, at)
	case isWord(first):
		return Expr{Op: Name, Name: tok, At: at}, nil
	case tok == "-":
		return Expr{}, p.fault(at, "a grid needs no negative numbers")
	}
	return Expr{}, p.fault(at, "unexpected %q where a value should be", tok)
}

// call reads the arguments of a function.
func (p *parser) call(name string, at int) (Expr, error) {
	e := Expr{At: at}
	for op := CDiv; op <= Max; op++ {
		if operators[op].text == name {
			e.Op = op
		}
	}
	if e.Op == 0 {
		return Expr{}, p.fault(at, "there is no function %q; there are cdiv, min and max", name)
	}
	open := p.at
	for {
		if err := p.next(); err != nil { // "(" or ","
			return Expr{}, err
		}
		a, err := p.expr(1)
		if err != nil {
			return Expr{}, err
		}
		e.Args = append(e.Args, a)
		if p.tok != "," {
			break
		}
	}
	if err := p.expect(")", open); err != nil {
		return Expr{}, err
	}
	switch {
	case e.Op == CDiv && len(e.Args) != 2:
		return Expr{}, p.fault(at, "cdiv takes 2 arguments, not %d", len(e.Args))
	case len(e.Args) < 2:
		return Expr{}, p.fault(at, "%s takes 2 arguments or more, not %d", name, len(e.Args))
	}
	return e, nil
}

func (p *parser) expect(tok string, open int) error {
	if p.tok != tok {
		return p.fault(p.at, "no %q for the %q at byte %d", tok, "(", open+1)
	}
	return p.next()
}
