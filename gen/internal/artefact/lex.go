package artefact

import (
	"fmt"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// token is a piece of a text file; its kind is a byte that the file's own lexer
// defines, endOfFile at the end.
type token struct {
	kind byte
	text []byte // of the file
	off  int
	line int // from 1
	col  int // in bytes, from 1
}

const endOfFile byte = 0

func (t token) is(s string) bool { return string(t.text) == s }

// quoted is the token for a message; a random file can hold a long one.
func (t token) quoted() string {
	if t.kind == endOfFile {
		return "the end of the file"
	}
	if len(t.text) > 40 {
		return fmt.Sprintf("%q…", t.text[:40])
	}
	return fmt.Sprintf("%q", t.text)
}

// lexer walks a text file once; lexers of a language build on it.
type lexer struct {
	file string // for messages
	data []byte
	off  int
	line int
	bol  int // offset of the line's first byte
}

func newLexer(file string, data []byte) lexer {
	return lexer{file: file, data: data, line: 1}
}

// peek returns the byte n places ahead, 0 past the end.
func (l *lexer) peek(n int) byte {
	if l.off+n < len(l.data) {
		return l.data[l.off+n]
	}
	return 0
}

// blank skips white space and // comments.
func (l *lexer) blank() {
	for l.off < len(l.data) {
		switch c := l.data[l.off]; {
		case c == '\n':
			l.newline()
		case c == ' ' || c == '\t' || c == '\r':
			l.off++
		case c == '/' && l.peek(1) == '/':
			for l.off < len(l.data) && l.data[l.off] != '\n' {
				l.off++
			}
		default:
			return
		}
	}
}

func (l *lexer) newline() {
	l.off++
	l.line++
	l.bol = l.off
}

// start is the token that begins here, as yet without text.
func (l *lexer) start(kind byte) token {
	return token{kind: kind, off: l.off, line: l.line, col: l.off - l.bol + 1}
}

// str moves past the string that starts here; strings end on their line.
func (l *lexer) str() error {
	begin := l.start(0)
	for l.off++; l.off < len(l.data); l.off++ {
		switch l.data[l.off] {
		case '"':
			l.off++
			return nil
		case '\\':
			l.off++
		case '\n':
			return l.fault(begin, "a string has no end")
		}
	}
	return l.fault(begin, "the file ends inside a string")
}

// byteSet is a set of bytes.
type byteSet [256]bool

func newByteSet(in func(byte) bool) *byteSet {
	var s byteSet
	for c := range s {
		s[c] = in(byte(c))
	}
	return &s
}

// while moves past the bytes of a set.
func (l *lexer) while(in *byteSet) {
	data, off := l.data, l.off
	for off < len(data) && in[data[off]] {
		off++
	}
	l.off = off
}

// fault is an error at t.
func (l *lexer) fault(t token, format string, args ...any) *diag.Error {
	return diag.Errorf(fmt.Sprintf("%s:%d:%d", l.file, t.line, t.col), format, args...)
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
