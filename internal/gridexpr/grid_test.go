package gridexpr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var values = map[string]int64{"M": 1000, "N": 130, "BLOCK_M": 128, "BLOCK_N": 64, "zero": 0, "minus": -5, "größe": 7,
	"most": math.MaxInt64, "least": math.MinInt64}

func lookUp(name string) (int64, bool) {
	v, ok := values[name]
	return v, ok
}

func TestEval(t *testing.T) {
	for text, want := range map[string]int64{
		"7":                                    7,
		"M":                                    1000,
		"cdiv(M, BLOCK_M)":                     8,
		"cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)":  24,
		"cdiv(most, 2)":                        1 << 62,
		"cdiv(0, 4)":                           0,
		"1 + 2 * 3":                            7,
		"(1 + 2) * 3":                          9,
		"10 - 3 - 2":                           5,
		"10 - (3 - 2)":                         9,
		"100 / 7 / 2":                          7,
		"100 % 7 * 2":                          4,
		"min(M, N, 5) + max(1,2)":              7,
		"minus + 5":                            0,
		"minus * minus":                        25,
		"least + most":                         -1,
		" ( ( M ) ) ":                          1000,
		"größe * 2":                            14,
		"max(0 - 1, minus)":                    -1,
		"least * 1":                            math.MinInt64,
		"min(cdiv(M, BLOCK_M), 4) % 3\n+\tM/M": 2,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := e.Eval(lookUp); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
		again, err := Parse(e.String())
		if err != nil {
			t.Errorf("%q is printed as %q: %v", text, e, err)
			continue
		}
		if again.String() != e.String() {
			t.Errorf("%q, printed and read again, is %q", e, again)
		}
		if got, _ := again.Eval(lookUp); got != want {
			t.Errorf("%q, printed as %q, is %d, want %d", text, e, got, want)
		}
	}
}

func TestEvalFaults(t *testing.T) {
	for text, want := range map[string]string{
		"most + 1":         "most + 1: the result of 9223372036854775807 + 1 has more than 64 bits",
		"1 + (least - 1)":  "least - 1: the result of -9223372036854775808 - 1 has more than 64 bits",
		"most * 2":         "most * 2: the result of 9223372036854775807 * 2 has more than 64 bits",
		"least * minus":    "least * minus: the result of -9223372036854775808 * -5 has more than 64 bits",
		"M / zero":         "M / zero: 1000 is divided by 0",
		"cdiv(M, zero)":    "cdiv(M, zero): 1000 is divided by 0",
		"M % zero":         "M % zero: 1000 is divided by 0",
		"cdiv(minus, 4)":   "cdiv(minus, 4): -5 is divided by 4; a grid needs no negative numbers",
		"least / (0 - 1)":  "least / (0 - 1): -9223372036854775808 is divided by -1; a grid needs no negative numbers",
		"min(1, K)":        "K has no value",
		"0 * (K + 1)":      "K has no value",
		"max(1, 2 / zero)": "2 / zero: 2 is divided by 0",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := e.Eval(lookUp); err == nil || err.Error() != want {
			t.Errorf("%q is %d (%v), want %q", text, got, err, want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		want string
	}{
		{"", 0, "the expression ends where a value is missing"},
		{"M +", 3, "the expression ends where a value is missing"},
		{"M N", 2, `unexpected "N" after "M "`},
		{"(M", 2, `no ")" for the "(" at byte 1`},
		{"cdiv(M, 2", 9, `no ")" for the "(" at byte 5`},
		{"M)", 1, `unexpected ")" after "M"`},
		{"M // 2", 2, `there is no "//": "/" divides whole numbers already`},
		{"ceil(M)", 0, `there is no function "ceil"; there are cdiv, min and max`},
		{"1 + cdiv(M)", 4, "cdiv takes 2 arguments, not 1"},
		{"cdiv(M, 1, 2)", 0, "cdiv takes 2 arguments, not 3"},
		{"min(M)", 0, "min takes 2 arguments or more, not 1"},
		{"min()", 4, `unexpected ")" where a value should be`},
		{"-M", 0, "a grid needs no negative numbers"},
		{"M * -1", 4, "a grid needs no negative numbers"},
		{"1.5", 1, `unexpected "." after "1"`},
		{"99999999999999999999", 0, `"99999999999999999999" is not a whole number of 64 bits`},
		{"12ab", 0, `"12ab" is not a whole number of 64 bits`},
		{"M ** 2", 3, `unexpected "*" where a value should be`},
		{"M; N", 1, `unexpected ";" after "M"`},
		{"\xff", 0, `unexpected "\xff" where a value should be`},
		{strings.Repeat("(", 60), 16, "more than 16 levels of parentheses and operators"},
		{strings.Repeat("1+", 600), 1000, "the expression is longer than 1000 bytes"},
	} {
		_, err := Parse(c.text)
		if diff := cmp.Diff(&SyntaxError{At: c.at, Msg: c.want}, err); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", c.text, diff)
		}
	}
}

func TestFold(t *testing.T) {
	constants := func(name string) (int64, bool) {
		v, ok := values[name]
		return v, ok && name != "M" && name != "N"
	}
	for text, want := range map[string]string{
		"cdiv(M, BLOCK_M)":            "cdiv(M, 128)",
		"cdiv(M, BLOCK_M * 2) * N":    "cdiv(M, 256) * N",
		"BLOCK_M - (BLOCK_N - 1)":     "65",
		"M + (BLOCK_N - BLOCK_M)":     "M + (64 - 128)",
		"min(M, BLOCK_M, BLOCK_N)":    "min(M, 128, 64)",
		"M * (BLOCK_M + K)":           "M * (128 + K)",
		"max(BLOCK_M, 3) / zero":      "max(BLOCK_M, 3) / zero divides by 0",
		"cdiv(M, zero)":               "cdiv(M, zero) divides by 0",
		"M % (BLOCK_M - 2 * BLOCK_N)": "M % (BLOCK_M - 2 * BLOCK_N) divides by 0",
		"M * minus":                   "minus is -5; a grid needs no negative numbers",
		"M * (most + 1)":              "9223372036854775807 + 1: the result of 9223372036854775807 + 1 has more than 64 bits",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		folded, err := e.Fold(constants)
		got := folded.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is folded to %q, want %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	e, err := Parse("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N) + M")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"BLOCK_M", "BLOCK_N", "M", "N"}, e.Names()); diff != "" {
		t.Error(diff)
	}
}

// TestArithmetic compares with numbers of any size.
func TestArithmetic(t *testing.T) {
	edge := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, 3, 1 << 31, 1 << 32, math.MaxInt64 - 1, math.MaxInt64}
	pick := func() int64 {
		if rand.N(2) == 0 {
			return edge[rand.N(len(edge))]
		}
		return int64(rand.Uint64()) >> rand.N(64)
	}
	for range 100_000 {
		a, b := pick(), pick()
		arithmetic := map[Op]*big.Int{
			Add: new(big.Int).Add(big.NewInt(a), big.NewInt(b)),
			Sub: new(big.Int).Sub(big.NewInt(a), big.NewInt(b)),
			Mul: new(big.Int).Mul(big.NewInt(a), big.NewInt(b)),
		}
		if a >= 0 && b > 0 {
			quotient, rest := new(big.Int).QuoRem(big.NewInt(a), big.NewInt(b), new(big.Int))
			up := new(big.Int).Add(quotient, big.NewInt(int64(rest.Sign())))
			arithmetic[Div], arithmetic[Mod], arithmetic[CDiv] = quotient, rest, up
		}
		for op, want := range arithmetic {
			got, ok := op.Apply(a, b)
			if want.IsInt64() != ok || ok && got != want.Int64() {
				t.Fatalf("%d %s %d is %d (%v), want %s", a, operators[op].text, b, got, ok, want)
			}
		}
	}
}

// What Parse reads is printed so that it reads the same, and its value is that
// of whole numbers without bounds, or an error.
func FuzzParse(f *testing.F) {
	f.Add("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)", int64(1000), int64(128))
	f.Add("((1+2)*min(3,M,4)%5", int64(-1), int64(math.MaxInt64))
	f.Add("((1+2)*min(3,M,4)%5)-max(N,M)/(N*N)", int64(math.MinInt64), int64(2))
	f.Fuzz(func(t *testing.T, text string, valueOfM, other int64) {
		value := func(name string) (int64, bool) {
			if name == "M" {
				return valueOfM, true
			}
			return other, name != "none"
		}
		e, err := Parse(text)
		if err != nil {
			return
		}
		got, err := e.Eval(value)
		if want := exact(e, value); (want == nil) != (err != nil) || want != nil && want.Int64() != got {
			t.Fatalf("%q is %d (%v), want %v", text, got, err, want)
		}
		m := func(name string) (int64, bool) {
			if name == "M" {
				return value(name)
			}
			return 0, false
		}
		if folded, err2 := e.Fold(m); err2 == nil {
			if v, err2 := folded.Eval(value); v != got || (err == nil) != (err2 == nil) {
				t.Fatalf("%q is %d (%v), folded to %q %d (%v)", text, got, err, folded, v, err2)
			}
		}
		if len(e.String()) > maxText {
			return
		}
		again, err2 := Parse(e.String())
		if err2 != nil {
			t.Fatalf("%q, printed as %q: %v", text, e, err2)
		}
		if v, err2 := again.Eval(value); v != got || (err == nil) != (err2 == nil) {
			t.Fatalf("%q is %d (%v), printed as %q %d (%v)", text, got, err, e, v, err2)
		}
	})
}

// exact is the value of e, nil where it has none, or a part of it none, of 64
// bits.
func exact(e Expr, value func(string) (int64, bool)) *big.Int {
	switch e.Op {
	case Int:
		return big.NewInt(e.Int)
	case Name:
		if v, ok := value(e.Name); ok {
			return big.NewInt(v)
		}
		return nil
	}
	result := exact(e.Args[0], value)
	for _, arg := range e.Args[1:] {
		a, b := result, exact(arg, value)
		if a == nil || b == nil {
			return nil
		}
		result = new(big.Int)
		divides := e.Op == Div || e.Op == Mod || e.Op == CDiv
		switch {
		case divides && (a.Sign() < 0 || b.Sign() <= 0):
			return nil
		case e.Op == Add:
			result.Add(a, b)
		case e.Op == Sub:
			result.Sub(a, b)
		case e.Op == Mul:
			result.Mul(a, b)
		case e.Op == Div:
			result.Quo(a, b)
		case e.Op == Mod:
			result.Rem(a, b)
		case e.Op == CDiv:
			result.Quo(result.Add(a, b).Sub(result, big.NewInt(1)), b)
		case (e.Op == Min) == (a.Cmp(b) < 0):
			result = a
		default:
			result = b
		}
		if !result.IsInt64() {
			return nil
		}
	}
	return result
}
