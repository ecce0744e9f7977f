// Package diag holds the errors a user of kerngen sees: a position, what is
// wrong there, and what to do about it.
package diag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one fault of the user's input.
type Error struct {
	Pos    string // a file or folder, "file:line" or "file:line:col"; "" where none applies
	Fault  string // what is wrong, lower case, no full stop; names the kernel or parameter it is about
	Remedy string // what to do about it; "" where the fault says it
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

// Err returns nil for an empty list, else its faults, sorted, each once, one a
// line.
func (l *List) Err() error {
	if len(l.errs) == 0 {
		return nil
	}
	errs := slices.Clone(l.errs)
	slices.SortStableFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	errs = slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })
	return errors.Join(errs...)
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
