package ptx

import (
	"fmt"
	"strings"
)

// token is a word, a number, a string or one character of punctuation. Words keep their dots: "ld.global.v4.b32", "%tid.x", ".reg".
type token struct {
	kind tokenKind
	text string
	line int
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenNumber
	tokenString
	tokenPunct
	tokenCalls // the comment of a .loc: what was inlined where
)

// Error is a fault of the text, at a line.
type Error struct {
	Line int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("ptx line %d: %s", e.Line, e.Msg) }

func errorAt(line int, format string, args ...any) error {
	return &Error{Line: line, Msg: fmt.Sprintf(format, args...)}
}

func lex(text string) ([]token, error) {
	tokens := make([]token, 0, len(text)/4)
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == 0:
			i++
		case strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			if n := len(tokens); n >= 4 && tokens[n-4].text == ".loc" && tokens[n-4].line == line {
				tokens = append(tokens, token{tokenCalls, text[i : i+end], line})
			}
			i += end
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return nil, errorAt(line, "comment without an end; close it with */")
			}
			line += strings.Count(text[i:i+2+n], "\n")
			i += n + 4
		case c == '"':
			n := strings.IndexAny(text[i+1:], "\"\n")
			if n < 0 || text[i+1+n] == '\n' {
				return nil, errorAt(line, "string without an end; close it with a quote")
			}
			tokens = append(tokens, token{tokenString, text[i+1 : i+1+n], line})
			i += n + 2
		case c >= '0' && c <= '9':
			j := i + 1
			for j < len(text) && (isWord(text[j]) || text[j] == '.') {
				j++
			}
			tokens = append(tokens, token{tokenNumber, text[i:j], line})
			i = j
		case isWord(c) || c == '.' || c == '%':
			j := i + 1
			for j < len(text) {
				if isWord(text[j]) || text[j] == '.' || text[j] == '%' {
					j++
				} else if strings.HasPrefix(text[j:], "::") && j+2 < len(text) && isWord(text[j+2]) {
					j += 2
				} else {
					break
				}
			}
			tokens = append(tokens, token{tokenWord, text[i:j], line})
			i = j
		case strings.IndexByte("@!{}[]()<>,;:+-=|", c) >= 0:
			tokens = append(tokens, token{tokenPunct, text[i : i+1], line})
			i++
		default:
			return nil, errorAt(line, "unexpected character %q", c)
		}
	}
	return append(tokens, token{tokenEnd, "end of text", line}), nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}
