package exec

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// mods are the modifiers of an instruction, taken one by one.
type mods struct {
	list []string
	used uint64
}

// has takes a modifier if it is there.
func (m *mods) has(name string) bool {
	for i, s := range m.list {
		if s == name && m.used>>i&1 == 0 {
			m.used |= 1 << i
			return true
		}
	}
	return false
}

// any takes the first modifier there is of several; "" when there is none.
func (m *mods) any(names ...string) string {
	for _, n := range names {
		if m.has(n) {
			return n
		}
	}
	return ""
}

// typ takes the next modifier that is a type.
func (m *mods) typ() (ptx.Type, error) {
	for i, s := range m.list {
		if ptx.IsType(s) && m.used>>i&1 == 0 {
			m.used |= 1 << i
			return ptx.Type(s), nil
		}
	}
	return "", fmt.Errorf("a type is missing")
}

// left gives the modifiers that nobody took.
func (m *mods) left() []string {
	var left []string
	for i, s := range m.list {
		if m.used>>i&1 == 0 {
			left = append(left, s)
		}
	}
	return left
}
