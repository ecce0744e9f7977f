package grid

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
		if left, err = e.Op.apply(left, right); err != nil {
			return 0, fmt.Errorf("%s: %w", e, err)
		}
	}
	return left, nil
}

// apply computes one operation on two values.
func (op Op) apply(a, b int64) (int64, error) {
	switch op {
	case Min:
		return min(a, b), nil
	case Max:
		return max(a, b), nil
	case Div, Mod, CDiv:
		if b == 0 {
			return 0, fmt.Errorf("%d is divided by 0", a)
		}
		if a < 0 || b < 0 {
			return 0, fmt.Errorf("%d is divided by %d; a grid needs no negative numbers", a, b)
		}
	}
	result, fits := int64(0), true
	switch op {
	case Add:
		result = a + b
		fits = (result > a) == (b > 0)
	case Sub:
		result = a - b
		fits = (result < a) == (b > 0)
	case Mul:
		result, fits = multiply(a, b)
	case Div:
		result = a / b
	case Mod:
		result = a % b
	case CDiv:
		result = a / b
		if a%b != 0 {
			result++
		}
	}
	if !fits {
		return 0, fmt.Errorf("the result of %d %s %d has more than 64 bits", a, operators[op].text, b)
	}
	return result, nil
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
