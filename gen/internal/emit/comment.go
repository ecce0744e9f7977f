package emit

import (
	"fmt"
	"go/format"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// columns is the width of a comment's text, without the slashes.
const columns = 77

// comment is a comment of one paragraph, ended by a new line.
func comment(text string) *jen.Statement { return docComment(paragraph(text)) }

// docComment makes a comment of lines, ended by a new line.
func docComment(lines []string) *jen.Statement {
	s := &jen.Statement{}
	for _, line := range lines {
		s.Comment(commentLine(line)).Line()
	}
	return s
}

// commentLine is one line of a comment. A tab, which gofmt indents code with,
// stands where the space would.
func commentLine(line string) string {
	if strings.HasPrefix(line, "\t") {
		return "//" + line
	}
	return strings.TrimRight("// "+line, " ")
}

// settle formats lines as gofmt does a doc comment's. An odd docstring, such as
// one that ends in a heading, takes it more than one run; by itself that is
// cheap, where formatting whole files again is not.
func settle(lines []string) ([]string, error) {
	const before, after = "package p\n\n", "\nfunc f()\n"
	for range 5 {
		var source strings.Builder
		source.WriteString(before)
		for i, line := range lines {
			if i > 0 {
				source.WriteByte('\n')
			}
			source.WriteString(commentLine(line))
		}
		source.WriteString(after)
		formatted, err := format.Source([]byte(source.String()))
		if err != nil {
			return nil, fmt.Errorf("a doc comment: %w\n%s", err, numbered([]byte(source.String())))
		}
		text := strings.TrimSuffix(strings.TrimPrefix(string(formatted), before), after)
		next := strings.Split(text, "\n")
		for i, line := range next {
			next[i] = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		}
		if slices.Equal(next, lines) {
			break
		}
		lines = next
	}
	return lines, nil
}

// paragraph is text on lines of a comment's width.
func paragraph(text string) []string { return wrap(text, "", "") }

// wrap breaks text at spaces; first stands before the first line and rest before
// the others.
func wrap(text, first, rest string) []string {
	return wrapWords(strings.Fields(printable(text)), first, rest)
}

// wrapWords is wrap for words, which stay whole even when longer than a line.
func wrapWords(words []string, first, rest string) []string {
	var lines []string
	line, width := first, utf8.RuneCountInString(first)
	empty := true
	for _, word := range words {
		w := utf8.RuneCountInString(word)
		if !empty && width+1+w > columns {
			lines = append(lines, line)
			line, width, empty = rest, utf8.RuneCountInString(rest), true
		}
		if !empty {
			line, width = line+" ", width+1
		}
		line, width, empty = line+word, width+w, false
	}
	return append(lines, line)
}

// docstring is a Python docstring as lines of a Go doc comment. Its own lines
// stay, but for those that are too long. What Go's tools would take for an
// instruction loses that meaning.
func docstring(doc string) []string {
	var lines []string
	for _, line := range strings.Split(lineEnds.Replace(doc), "\n") {
		text := strings.TrimSpace(printable(line))
		if text == "" {
			lines = append(lines, "")
			continue
		}
		if rest, ok := strings.CutPrefix(text, "Deprecated:"); ok {
			text = "deprecated:" + rest
		}
		if strings.HasPrefix(text, "+build") {
			text = `\` + text
		}
		indent := indentation(line)
		lines = append(lines, wrap(text, indent, indent)...)
	}
	return trimBlank(lines)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// indentation is the white space line starts with, tabs as four spaces, at most
// half a line.
func indentation(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	n := len(line) - len(strings.TrimLeft(line, " "))
	return strings.Repeat(" ", min(n, columns/2))
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// printable is text on one line, without what a reader cannot see or a Go file
// may not hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		default:
			return -1
		}
	}, text)
}
