package gen

import (
	"bytes"
	"slices"
	"strings"
)

// Depfile is a rule of make's, which ninja reads too: target depends on inputs.
// Each of these is a target of its own as well, so that make goes on where one
// has been removed.
func Depfile(target string, inputs []string) []byte {
	inputs = slices.Clone(inputs)
	slices.Sort(inputs)
	inputs = slices.Compact(inputs)
	var b bytes.Buffer
	b.WriteString(escapeMake(target) + ":")
	for _, in := range inputs {
		b.WriteString(" \\\n  " + escapeMake(in))
	}
	b.WriteString("\n")
	for _, in := range inputs {
		b.WriteString("\n" + escapeMake(in) + ":\n")
	}
	return b.Bytes()
}

// escapeMake spells a path as make reads it back. Backslashes before a space
// or a number sign count for make, and are doubled.
func escapeMake(path string) string {
	var b strings.Builder
	backslashes := 0
	for _, r := range path {
		switch r {
		case '\\':
			backslashes++
		case ' ', '\t', '#':
			b.WriteString(strings.Repeat("\\", backslashes+1))
			backslashes = 0
		case '$':
			b.WriteByte('$')
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteRune(r)
	}
	return b.String()
}
