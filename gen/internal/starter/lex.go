package starter

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kerngen/kerngen/gen/internal/diag"
)

// kind is what a token is.
type kind int

const (
	word   kind = iota + 1 // a name, a keyword or a number
	text                   // a string
	symbol                 // any other character
)

type token struct {
	kind kind
	text string // of a string, what stands between its quotes
	line int
}

// statement is a logical line: what stands between two line ends that are within
// no brackets.
type statement struct {
	indent int
	line   int
	tokens []token
}

// lexer divides Python into statements. It knows just enough to see where
// strings, comments and brackets end.
type lexer struct {
	path   string
	source string
	at     int
	line   int
	open   []token // brackets that are not closed yet
}

// statements divides the source of the file at path.
func statements(path, source string) ([]statement, error) {
	source = strings.TrimPrefix(source, "\ufeff")
	l := &lexer{path: path, source: strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n"), line: 1}
	var all []statement
	for {
		s, err := l.statement()
		if err != nil {
			return nil, err
		}
		if s == nil {
			return all, nil
		}
		if len(s.tokens) > 0 {
			all = append(all, *s)
		}
	}
}

// statement reads the next one, which has no tokens where the line is empty, or
// nil at the end.
func (l *lexer) statement() (*statement, error) {
	if l.at >= len(l.source) {
		return nil, nil
	}
	s := &statement{line: l.line}
	for l.at < len(l.source) && strings.ContainsRune(" \t\f", rune(l.source[l.at])) {
		if s.indent++; l.source[l.at] == '\t' {
			s.indent = (s.indent + 7) / 8 * 8
		}
		l.at++
	}
	for l.at < len(l.source) {
		r, size := utf8.DecodeRuneInString(l.source[l.at:])
		switch {
		case r == '\n':
			l.at++
			l.line++
			if len(l.open) == 0 {
				return s, nil
			}
		case r == '\\' && strings.HasPrefix(l.source[l.at:], "\\\n"):
			l.at += 2
			l.line++
		case r == '#':
			l.at += lineLength(l.source[l.at:])
		case r == '"' || r == '\'':
			t, err := l.string("")
			if err != nil {
				return nil, err
			}
			s.tokens = append(s.tokens, t)
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			t, err := l.word()
			if err != nil {
				return nil, err
			}
			s.tokens = append(s.tokens, t)
		case unicode.IsSpace(r):
			l.at += size
		default:
			t := token{symbol, string(r), l.line}
			if err := l.bracket(t); err != nil {
				return nil, err
			}
			s.tokens = append(s.tokens, t)
			l.at += size
		}
	}
	if n := len(l.open); n > 0 {
		return nil, l.fault(l.open[n-1].line, "%q is not closed", l.open[n-1].text)
	}
	return s, nil
}

func lineLength(s string) int {
	if end := strings.IndexByte(s, '\n'); end >= 0 {
		return end
	}
	return len(s)
}

// bracket keeps account of brackets.
func (l *lexer) bracket(t token) error {
	switch t.text {
	case "(", "[", "{":
		l.open = append(l.open, t)
	case ")", "]", "}":
		n := len(l.open)
		if n == 0 || closing[l.open[n-1].text] != t.text {
			return l.fault(t.line, "%q closes nothing", t.text)
		}
		l.open = l.open[:n-1]
	}
	return nil
}

var closing = map[string]string{"(": ")", "[": "]", "{": "}"}

// word reads a name or a number, or the string of which it is the prefix.
func (l *lexer) word() (token, error) {
	from := l.at
	for l.at < len(l.source) {
		r, size := utf8.DecodeRuneInString(l.source[l.at:])
		number := unicode.IsDigit(rune(l.source[from]))
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && (!number || r != '.') {
			break
		}
		l.at += size
	}
	name := l.source[from:l.at]
	if l.at < len(l.source) && strings.ContainsRune(`"'`, rune(l.source[l.at])) && len(name) <= 2 && strings.Trim(strings.ToLower(name), "rbuft") == "" {
		return l.string(strings.ToLower(name))
	}
	return token{word, name, l.line}, nil
}

// string reads a string from its quotes on.
func (l *lexer) string(prefix string) (token, error) {
	t := token{kind: text, line: l.line}
	end, ok := l.closes(l.at, strings.ContainsAny(prefix, "ft"))
	if !ok {
		return t, l.fault(l.line, "a string is not closed")
	}
	quote := quotes(l.source[l.at:])
	t.text = l.source[l.at+len(quote) : end-len(quote)]
	l.line += strings.Count(l.source[l.at:end], "\n")
	l.at = end
	return t, nil
}

// closes returns the end of the string that begins at from. One that is
// formatted may hold others between braces, in the same quotes.
func (l *lexer) closes(from int, formatted bool) (end int, ok bool) {
	quote := quotes(l.source[from:])
	braces, brackets := 0, 0
	spec := false // what follows the colon of a replacement
	for i := from + len(quote); i < len(l.source); i++ {
		c := l.source[i]
		if braces > 0 && !spec && (c == '"' || c == '\'') {
			line := l.source[i+1 : i+1+lineLength(l.source[i+1:])]
			if inner := strings.IndexByte(line, c); inner >= 0 {
				i += 1 + inner
				continue
			}
		}
		switch {
		case strings.HasPrefix(l.source[i:], quote):
			return i + len(quote), true
		case c == '\\':
			i++
		case c == '\n' && len(quote) == 1 && braces == 0:
			return 0, false
		case !formatted:
		case c == '{':
			braces++
		case c == '}':
			if braces = max(0, braces-1); braces == 0 {
				spec, brackets = false, 0
			}
		case braces > 0 && (c == '(' || c == '['):
			brackets++
		case braces > 0 && (c == ')' || c == ']'):
			brackets--
		case braces == 1 && c == ':' && brackets == 0:
			spec = true
		}
	}
	return 0, false
}

// quotes are those that s begins with.
func quotes(s string) string {
	if strings.HasPrefix(s, s[:1]+s[:1]+s[:1]) {
		return s[:3]
	}
	return s[:1]
}

func (l *lexer) fault(line int, format string, args ...any) error {
	return diag.Errorf(position(l.path, line), format, args...)
}
