// Package gridexpr reads and evaluates the expressions that give a kernel's grid:
// integers, names of arguments and constants, + - * / %, parentheses, cdiv, min
// and max.
//
// Values have 64 bits, and one that does not fit is an error, never wrapped.
// Division is that of whole numbers, rounded towards zero, and cdiv rounds up;
// of negative numbers neither is defined, since Python and Go disagree and a
// grid needs none.
package gridexpr

import (
	"slices"
	"strconv"
)

// Expr is an expression.
type Expr struct {
	Op   Op
	Int  int64  // of Int
	Name string // of Name
	Args []Expr // of all others: two, or for Min and Max two or more
	At   int    // byte offset in its text, for messages
}

// Op is what an expression does.
type Op int

const (
	Int Op = iota + 1
	Name
	Add
	Sub
	Mul
	Div
	Mod
	CDiv
	Min
	Max
)

// operator describes an operation: functions have no precedence.
type operator struct {
	text       string
	precedence int
}

var operators = map[Op]operator{
	Add: {"+", 1}, Sub: {"-", 1},
	Mul: {"*", 2}, Div: {"/", 2}, Mod: {"%", 2},
	CDiv: {"cdiv", 0}, Min: {"min", 0}, Max: {"max", 0},
}

// String is the expression as a user would write it, with no parentheses that
// it does not need.
func (e Expr) String() string { return string(e.append(nil, 0)) }

// append adds e, which stands where only operators that bind tighter than outer
// need no parentheses.
func (e Expr) append(b []byte, outer int) []byte {
	switch e.Op {
	case Int:
		return strconv.AppendInt(b, e.Int, 10)
	case Name:
		return append(b, e.Name...)
	}
	o := operators[e.Op]
	if o.precedence == 0 {
		b = append(append(b, o.text...), '(')
		for i, a := range e.Args {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = a.append(b, 0)
		}
		return append(b, ')')
	}
	if o.precedence <= outer {
		b = append(e.append(append(b, '('), 0), ')')
		return b
	}
	b = e.Args[0].append(b, o.precedence-1)
	b = append(append(append(b, ' '), o.text...), ' ')
	return e.Args[1].append(b, o.precedence)
}

// Names are the names that e refers to, sorted, each once.
func (e Expr) Names() []string {
	var names []string
	e.Walk(func(e Expr) {
		if e.Op == Name {
			names = append(names, e.Name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Walk calls f for e and all expressions in it, in the order of the text.
func (e Expr) Walk(f func(Expr)) {
	f(e)
	for _, a := range e.Args {
		a.Walk(f)
	}
}
