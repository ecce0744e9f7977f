package artefact

import "strings"

// Kinds of tokens in MLIR's textual form. Any other kind is the punctuation
// character itself.
const (
	ttirName   byte = 'a' // bare: tt.func, loc, i32
	ttirNumber byte = '0' // with all letters that follow: 16, 64x64xf16
	ttirString byte = '"'
	ttirSymbol byte = '@' // @name, @"a.b"
	ttirValue  byte = '%' // %x_ptr
	ttirAlias  byte = '#' // #loc15, #ttg.linear
	ttirType   byte = '!' // !tt.ptr
)

// maxTTIRDepth bounds the nesting of brackets.
const maxTTIRDepth = 1000

// ttirLexer splits MLIR into tokens and checks that its brackets match, so that
// a file which was cut short is noticed wherever the cut is.
type ttirLexer struct {
	lexer
	open []token // brackets as yet without their other half
}

// next reads the next token into t.
func (l *ttirLexer) next(t *token) error {
	l.blank()
	*t = l.start(endOfFile)
	if l.off == len(l.data) {
		if n := len(l.open); n > 0 {
			return l.fault(*t, "the file ends early: %s of line %d is not closed", l.open[n-1].quoted(), l.open[n-1].line).
				Fix("compile the kernel again")
		}
		return nil
	}
	c := l.data[l.off]
	t.kind = c
	switch {
	case isLetter(c) || c == '_':
		t.kind = ttirName
		l.while(bareBytes)
	case isDigit(c):
		t.kind = ttirNumber
		l.while(bareBytes)
	case c == '"':
		if err := l.str(); err != nil {
			return err
		}
	case c == '@' && l.peek(1) == '"':
		l.off++
		if err := l.str(); err != nil {
			return err
		}
	case c == '@' || c == '%' || c == '#' || c == '!':
		l.off++
		l.while(suffixBytes)
	case c == '-' && l.peek(1) == '>': // so that an arrow closes no bracket
		l.off += 2
	case c == endOfFile:
		return l.fault(*t, "not text: a zero byte")
	default:
		l.off++
		t.text = l.data[t.off:l.off]
		return l.bracket(t)
	}
	t.text = l.data[t.off:l.off]
	return nil
}

// tokenAt is the name, alias or value that begins at an offset, read again for a
// message.
func (l *ttirLexer) tokenAt(off int) token {
	t := token{off: off}
	t.line, t.col = lineCol(l.data, off)
	end := off + 1
	for end < len(l.data) && suffixBytes[l.data[end]] {
		end++
	}
	t.text = l.data[off:end]
	return t
}

func isBareByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c == '.'
}

func isSuffixByte(c byte) bool { return isBareByte(c) || c == '-' }

var bareBytes, suffixBytes = newByteSet(isBareByte), newByteSet(isSuffixByte)

// bracket keeps the stack of open brackets. Angle brackets are not on it:
// outside of types they need not match.
func (l *ttirLexer) bracket(t *token) error {
	switch t.kind {
	case '(', '[', '{':
		if len(l.open) == maxTTIRDepth {
			return l.fault(*t, "more than %d levels of brackets", maxTTIRDepth)
		}
		l.open = append(l.open, *t)
	case ')', ']', '}':
		n := len(l.open)
		if n == 0 {
			return l.fault(*t, "%s closes nothing", t.quoted())
		}
		if want := closing(l.open[n-1].kind); t.kind != want {
			return l.fault(*t, "%s where %q must close line %d", t.quoted(), want, l.open[n-1].line)
		}
		l.open = l.open[:n-1]
	}
	return nil
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// unquote returns what a string token stands for, false where it is malformed:
// MLIR escapes a byte by a backslash and two hexadecimal digits.
func unquote(quoted []byte) (string, bool) {
	s := string(quoted[1 : len(quoted)-1])
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 == len(s) {
			return "", false
		}
		switch c := s[i+1]; c {
		case '\\', '"':
			b.WriteByte(c)
			i++
			continue
		case 'n':
			b.WriteByte('\n')
			i++
			continue
		case 't':
			b.WriteByte('\t')
			i++
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, ok1 := hexDigit(s[i+1])
		lo, ok2 := hexDigit(s[i+2])
		if !ok1 || !ok2 {
			return "", false
		}
		b.WriteByte(hi<<4 | lo)
		i += 2
	}
	return b.String(), true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
