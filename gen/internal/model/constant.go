package model

import (
	"fmt"
	"slices"
)

// Constant is a compile-time constant of the source.
type Constant struct {
	Name  string
	Value any // int64, float64, bool, string, DType, or nil for None
}

// DType is a constant that names an element type: "fp16".
type DType string

// text is the value for messages.
func (c Constant) text() string {
	switch v := c.Value.(type) {
	case nil:
		return "None"
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(c.Value)
}

// sameConstants compares two lists; NaN is the same as NaN.
func sameConstants(a, b []Constant) bool { return slices.EqualFunc(a, b, Constant.same) }

func (c Constant) same(d Constant) bool {
	return c.Name == d.Name && fmt.Sprintf("%T %#v", c.Value, c.Value) == fmt.Sprintf("%T %#v", d.Value, d.Value)
}
