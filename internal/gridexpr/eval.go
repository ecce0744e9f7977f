package gridexpr

import (
	"fmt"
	"math"
	"math/bits"
)

// Eval computes e over the values that names stand for. A value that does not
// fit 64 bits, a division by 0, one of a negative number and an unknown name are
// errors.
func (e Expr) Eval(value func(name string) (int64, bool)) (int64, error) {
	switch e.Op {
	case Int:
		return e.Int, nil
	case Name:
		v, ok := value(e.Name)
		if !ok {
			return 0, fmt.Errorf("%s has no value", e.Name)
		}
		return v, nil
	}
	left, err := e.Args[0].Eval(value)
	if err != nil {
		return 0, err
	}
	for _, a := range e.Args[1:] {
		right, err := a.Eval(value)
		if err != nil {
			return 0, err
		}
		result, ok := e.Op.Apply(left, right)
		if !ok {
			return 0, fmt.Errorf("%s: %s", e, e.Op.fault(left, right))
		}
		left = result
	}
	return left, nil
}

// Apply computes one operation on two values. Where it has no result, ok is
// false and Eval says why.
func (op Op) Apply(a, b int64) (result int64, ok bool) {
	switch op {
	case Add:
		result = a + b
		return result, (result > a) == (b > 0)
	case Sub:
		result = a - b
		return result, (result < a) == (b > 0)
	case Mul:
		if uint64(a)|uint64(b) < 1<<31 {
			return a * b, true
		}
		return multiply(a, b)
	case Min:
		return min(a, b), true
	case Max:
		return max(a, b), true
	}
	if a < 0 || b <= 0 {
		return 0, false
	}
	x, y := uint64(a), uint64(b)
	switch op {
	case Div:
		return int64(x / y), true
	case Mod:
		return int64(x % y), true
	default: // CDiv; the sum has 64 bits
		return int64((x + y - 1) / y), true
	}
}

// fault says why op has no result for a and b.
func (op Op) fault(a, b int64) string {
	switch op {
	case Div, Mod, CDiv:
		if b == 0 {
			return fmt.Sprintf("%d is divided by 0", a)
		}
		return fmt.Sprintf("%d is divided by %d; a grid needs no negative numbers", a, b)
	}
	return fmt.Sprintf("the result of %d %s %d has more than 64 bits", a, operators[op].text, b)
}

func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		return -int64(low), high == 0 && low <= 1<<63
	}
	return int64(low), high == 0 && low <= math.MaxInt64
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}
