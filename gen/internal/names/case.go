package names

import (
	"crypto/sha256"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// camel makes an exported Go identifier of a Python name: its words, divided by
// underscores and by what Go does not allow, each with a capital first letter; a
// word of capitals only is written small. A name whose first letter has no
// capital, or that starts with a digit or holds no letter, gets an X in front.
func camel(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		r, size := utf8.DecodeRuneInString(word)
		b.WriteRune(unicode.ToUpper(r))
		b.WriteString(word[size:])
	}
	if r, _ := utf8.DecodeRuneInString(b.String()); !unicode.IsUpper(r) || unicode.ToLower(r) == r {
		return "X" + b.String()
	}
	return b.String()
}

// words divides a name where a rune may not stand in a Go identifier.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// lower makes the unexported form of an identifier that camel made.
func lower(exported string) string {
	r, size := utf8.DecodeRuneInString(exported)
	return string(unicode.ToLower(r)) + exported[size:]
}

// unreserved appends underscores to a name until neither Go nor the generated
// text itself uses it: keywords, predeclared names and own.
func unreserved(name string, own ...string) string {
	for token.IsKeyword(name) || slices.Contains(predeclared, name) || slices.Contains(own, name) {
		name += "_"
	}
	return name
}

// Of the predeclared names those that start with a small letter, as all that
// they are compared with do.
var predeclared = []string{
	"any", "append", "bool", "byte", "cap", "clear", "close", "comparable", "complex", "complex128",
	"complex64", "copy", "delete", "error", "false", "float32", "float64", "imag", "int", "int16",
	"int32", "int64", "int8", "iota", "len", "make", "max", "min", "new", "nil", "panic", "print",
	"println", "real", "recover", "rune", "string", "true", "uint", "uint16", "uint32", "uint64",
	"uint8", "uintptr",
}

// maxFileStem leaves room for the longest ending of a file name, which must
// stay under 255 bytes.
const maxFileStem = 200

// fileStem is the part of a kernel's file names that names it: the Python name
// without leading underscores, which would hide the file from Go. Letters beyond
// ASCII are written as numbers, since file systems differ in how they spell
// them. A long name is cut and told apart by a hash.
func fileStem(name string) string {
	var b strings.Builder
	for _, r := range strings.TrimLeft(name, "_") {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			b.WriteByte('_')
		default:
			fmt.Fprintf(&b, "u%04x", r)
		}
	}
	stem := strings.TrimLeft(b.String(), "_")
	if stem == "" {
		stem = "x"
	}
	if len(stem) > maxFileStem {
		stem = fmt.Sprintf("%s_%x", stem[:maxFileStem-9], sha256.Sum256([]byte(name)))[:maxFileStem]
	}
	return stem
}
