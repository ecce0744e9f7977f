package gridexpr

import "fmt"

// Fold puts values in the place of the names that have one, and computes what
// is constant then, so that only what varies is left. A negative value, which
// the text of an expression cannot have, and a division by a constant 0 are
// errors, and so is what Eval refuses.
func (e Expr) Fold(value func(name string) (int64, bool)) (Expr, error) {
	switch e.Op {
	case Int:
		return e, nil
	case Name:
		v, ok := value(e.Name)
		switch {
		case !ok:
			return e, nil
		case v < 0:
			return Expr{}, fmt.Errorf("%s is %d; a grid needs no negative numbers", e.Name, v)
		}
		return Expr{Op: Int, Int: v, At: e.At}, nil
	}
	folded := Expr{Op: e.Op, At: e.At}
	constant := true
	for i, a := range e.Args {
		a, err := a.Fold(value)
		if err != nil {
			return Expr{}, err
		}
		if i > 0 && a.Op == Int && a.Int == 0 && (e.Op == Div || e.Op == Mod || e.Op == CDiv) {
			return Expr{}, fmt.Errorf("%s divides by 0", e)
		}
		folded.Args = append(folded.Args, a)
		constant = constant && a.Op == Int
	}
	if !constant {
		return folded, nil
	}
	v, err := folded.Eval(nil)
	if err != nil || v < 0 {
		return folded, err
	}
	return Expr{Op: Int, Int: v, At: e.At}, nil
}
