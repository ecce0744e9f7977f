package model

import "fmt"

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

// differing finds the first constant that two lists do not share, and says what
// it is in each.
func differing(a, b []Constant) (name, inA, inB string) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return b[i].Name, "absent", b[i].text()
		case i >= len(b):
			return a[i].Name, a[i].text(), "absent"
		case a[i].Name != b[i].Name:
			return a[i].Name, a[i].text(), "absent"
		case a[i] != b[i]:
			return a[i].Name, a[i].text(), b[i].text()
		}
	}
	return "", "", ""
}
