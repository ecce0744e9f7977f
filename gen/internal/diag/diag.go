// Package diag holds the errors a user of kerngen sees: a position, what is
// wrong there, and what to do about it.
package diag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one fault of the user's input.
type Error struct {
	Pos    string   // a file or folder, "file:line" or "file:line:col"; "" where none applies
	Fault  string   // what is wrong, lower case, no full stop; names the kernel or parameter it is about
	Remedy string   // what to do about it; "" where the fault says it
	List   []string // what the fault is about, where that is many: printed below it, one a line
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Pos != "" {
		b.WriteString(e.Pos)
		b.WriteString(": ")
	}
	b.WriteString(e.Fault)
	if e.Remedy != "" {
		b.WriteString("; ")
		b.WriteString(e.Remedy)
	}
	for _, item := range e.List {
		b.WriteString("\n  ")
		b.WriteString(item)
	}
	return b.String()
}

// Errorf is an Error at pos with a formatted fault and no remedy.
func Errorf(pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Fault: fmt.Sprintf(format, args...)}
}

// Fix returns e with a remedy.
func (e *Error) Fix(format string, args ...any) *Error {
	e.Remedy = fmt.Sprintf(format, args...)
	return e
}

// List collects faults, so that a user sees all of an input in one run. The
// zero value is empty.
type List struct{ errs []error }

// Add adds err, taking joined errors and other lists apart; nil adds nothing.
func (l *List) Add(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			l.Add(e)
		}
		return
	}
	l.errs = append(l.errs, err)
}

// Err returns nil for an empty list, else its faults, sorted, line 9 before line
// 10, each once, one a line.
func (l *List) Err() error {
	if len(l.errs) == 0 {
		return nil
	}
	type told struct {
		err  error
		text string
	}
	all := make([]told, len(l.errs))
	for i, err := range l.errs {
		all[i] = told{err, err.Error()}
	}
	slices.SortStableFunc(all, func(a, b told) int { return compare(a.text, b.text) })
	all = slices.CompactFunc(all, func(a, b told) bool { return a.text == b.text })
	errs := make([]error, len(all))
	for i, t := range all {
		errs[i] = t.err
	}
	return errors.Join(errs...)
}

// compare orders texts, taking a run of digits as one number.
func compare(a, b string) int {
	for len(a) > 0 && len(b) > 0 {
		m, n := digits(a), digits(b)
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y), cmp.Compare(m, n)); c != 0 {
				return c
			}
			a, b = a[m:], b[n:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits counts the digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// IsUser reports whether err is made of user faults only; anything else is a
// fault of kerngen's own.
func IsUser(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if !IsUser(e) {
				return false
			}
		}
		return true
	}
	var e *Error
	return errors.As(err, &e)
}
