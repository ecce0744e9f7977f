package kernrt_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/gridexpr"
)

// sizesArgs has an integer of every type.
type sizesArgs struct {
	P   kernrt.Ptr[float32]
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	U8  uint8
	U16 uint16
	U32 uint32
	U64 uint64
}

// sizes is a kernel for sizesArgs with a declared grid.
func sizes(grid ...string) *kernrt.Kernel {
	params := []kernrt.Param{{Name: "p", Type: "*fp32"}}
	for _, t := range []string{"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"} {
		params = append(params, kernrt.Param{Name: t, Type: t})
	}
	k := kernelOf(params, nil)
	k.Configs = []kernrt.Config{{Grid: grid}}
	return k
}

func sizesOf(i32 int32) *sizesArgs {
	return &sizesArgs{kernrt.PtrFromAddr[float32](memory), -8, -16, i32, 64, 8, 16, 32, 65}
}

func TestDeclaredGrid(t *testing.T) {
	for _, test := range []struct {
		dims []string
		want [3]uint32
	}{
		{[]string{"7"}, [3]uint32{7, 1, 1}},
		{[]string{"cdiv(i32, 1024)"}, [3]uint32{2, 1, 1}},
		{[]string{"cdiv(i32, 128) * cdiv(i64, 3)"}, [3]uint32{9 * 22, 1, 1}},
		{[]string{"i32", "i64", "u8"}, [3]uint32{1025, 64, 8}},
		{[]string{"i8 + i16 + 30", "u16 * u32", "u64 % 7"}, [3]uint32{6, 512, 2}},
		{[]string{"i32 - (i64 - (u32 - u8))", "min(i32, max(u8, 3) * 2, 100) / 5"}, [3]uint32{1025 - 64 + 24, 3, 1}},
		{[]string{"1 + (2 + (3 + (4 + (5 + (6 + i32 * 2)))))"}, [3]uint32{21 + 2050, 1, 1}},
		{[]string{"u64 / (i64 - 62)"}, [3]uint32{32, 1, 1}},
	} {
		t.Run(strings.Join(test.dims, ", "), func(t *testing.T) {
			d, _, stream := onDevice0(t)
			must(t, kernrt.Launch(sizes(test.dims...), stream, kernrt.Grid{}, sizesOf(1025)))
			if got := only(t, d).Grid; got != test.want {
				t.Errorf("grid %v, want %v", got, test.want)
			}
		})
	}
}

// TestDeclaredGridAgrees compares with the expression's own evaluation.
func TestDeclaredGridAgrees(t *testing.T) {
	d, _, stream := onDevice0(t)
	names := map[string]int64{"i8": -8, "i16": -16, "i32": 17, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 65}
	for range 300 {
		text := randomExpr(4)
		e, err := gridexpr.Parse(text)
		must(t, err)
		want, evalErr := e.Eval(func(name string) (int64, bool) { v, ok := names[name]; return v, ok })
		d.Reset()
		err = kernrt.Launch(sizes(text), stream, kernrt.Grid{}, sizesOf(17))
		switch launches := d.Launches(); {
		case evalErr != nil || want < 0:
			if !errors.Is(err, kernrt.ErrArgument) || len(launches) > 0 {
				t.Errorf("%s is %d (%v), but launching gives %v", text, want, evalErr, err)
			}
		case want > math.MaxInt32:
			if !errors.Is(err, kernrt.ErrLimit) || len(launches) > 0 {
				t.Errorf("%s is %d, but launching gives %v", text, want, err)
			}
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case want == 0 && len(launches) > 0, want > 0 && (len(launches) != 1 || int64(launches[0].Grid[0]) != want):
			t.Errorf("%s is %d; launches %v", text, want, launches)
		}
	}
}

// randomExpr is an expression of at most so many levels over sizesArgs.
func randomExpr(levels int) string {
	if levels == 0 || rand.N(5) == 0 {
		leaves := []string{"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "0", "1", "3", "1000", "3037000500"}
		return leaves[rand.N(len(leaves))]
	}
	forms := []string{"(%s + %s)", "(%s - %s)", "(%s * %s)", "(%s / %s)", "(%s %% %s)", "cdiv(%s, %s)", "min(%s, %s)", "max(%s, %s)"}
	return fmt.Sprintf(forms[rand.N(len(forms))], randomExpr(levels-1), randomExpr(levels-1))
}

func TestDeclaredGridRefused(t *testing.T) {
	d, _, stream := onDevice0(t)
	huge := *sizesOf(5)
	huge.U64, huge.I64 = 1<<63, math.MaxInt64
	for _, test := range []struct {
		dims []string
		args *sizesArgs
		kind error
		text string
	}{
		{[]string{"cdiv(i32, 4)"}, sizesOf(-5), kernrt.ErrArgument,
			"(0, 0, 0): the grid (cdiv(i32, 4)), with i32 = -5, cannot be computed: cdiv(i32, 4): -5 is divided by 4; a grid needs no negative numbers"},
		{[]string{"8", "64 / i32"}, sizesOf(0), kernrt.ErrArgument,
			"(0, 0, 0): the grid (8, 64 / i32), with i32 = 0, cannot be computed: 64 / i32: 64 is divided by 0"},
		{[]string{"i64 * i32"}, &huge, kernrt.ErrArgument,
			"(0, 0, 0): the grid (i64 * i32), with i32 = 5, i64 = 9223372036854775807, cannot be computed: i64 * i32: the result of 9223372036854775807 * 5 has more than 64 bits"},
		{[]string{"u64"}, &huge, kernrt.ErrArgument,
			"(0, 0, 0): the grid (u64), with u64 = 9223372036854775808, cannot be computed: u64 has more than 63 bits"},
		{[]string{"4", "i32 - 10"}, sizesOf(3), kernrt.ErrArgument,
			"(4, -7, 1): the grid (4, i32 - 10), with i32 = 3, has a negative dimension"},
		{[]string{"1", "i32"}, sizesOf(65536), kernrt.ErrLimit,
			"(1, 65536, 1): the grid (1, i32), with i32 = 65536, is too large: a grid has at most 2147483647, 65535 and 65535 programs in x, y and z on this device"},
		{[]string{"70000", "70000"}, sizesOf(1), kernrt.ErrLimit,
			"(70000, 70000, 1): the grid (70000, 70000) is too large: a grid has at most 2147483647, 65535 and 65535 programs in x, y and z on this device"},
		{[]string{"i32"}, nil, kernrt.ErrArgument, "(0, 0, 0): args is nil"},
	} {
		prefix := "launch k on "
		if test.kind == kernrt.ErrLimit { // which the image sets
			prefix = "launch k (sm_80 PTX) on "
		}
		wantError(t, kernrt.Launch(sizes(test.dims...), stream, kernrt.Grid{}, test.args), test.kind, prefix+h200+", grid "+test.text)
	}
	if n := len(d.Launches()); n != 0 {
		t.Errorf("%d launches, want none", n)
	}
}

// A grid of nothing succeeds whatever the pointers, and loads nothing; a grid
// that is given goes before the declared one.
func TestDeclaredGridOfNothing(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := sizes("cdiv(i32, 16)", "u8")
	must(t, kernrt.Launch(k, stream, kernrt.Grid{}, &sizesArgs{}))
	if len(d.Loads()) != 0 {
		t.Error("an image was loaded for a grid of nothing")
	}
	must(t, kernrt.Launch(k, stream, kernrt.Grid2D(3, 4), sizesOf(16)))
	if got := only(t, d).Grid; got != [3]uint32{3, 4, 1} {
		t.Errorf("grid %v, want that given", got)
	}
}

// Each configuration has its own grid and its own variants, dispatched as if it
// were a kernel by itself.
func TestConfigs(t *testing.T) {
	params := []kernrt.Param{{Name: "n", Type: "i32"}}
	type args struct{ N int32 }
	d, _, stream := onDevice0(t)
	k := kernelOf(params, []kernrt.Guard{{Param: 0, Is: kernrt.DivisibleBy16}}, nil, []kernrt.Guard{{Param: 0, Is: kernrt.EqualTo1}}, []kernrt.Guard{{Param: 0, Is: kernrt.DivisibleBy16}})
	k.Configs = []kernrt.Config{{Name: "BLOCK=64", Grid: []string{"cdiv(n, 64)"}}, {Name: "BLOCK=32", Grid: []string{"cdiv(n, 32)"}}}
	for v := range k.Variants {
		k.Variants[v].Config = v / 2
		k.Variants[v].Images[0].NumWarps = v + 1 // the block tells which it is
	}
	const second, none = "launch k with BLOCK=32 on " + h200 + ", grid ", "launch k on " + h200 + ", grid "
	for _, test := range []struct {
		config  int
		n       int32
		variant uint32
		grid    uint32
		fault   string
	}{
		{0, 128, 1, 2, ""},
		{0, 65, 2, 2, ""},
		{1, 1, 3, 1, ""},
		{1, 128, 4, 4, ""},
		{1, 65, 0, 0, second + "(3, 1, 1): variant 3: n = 65 is not equal to 1, as the kernel was compiled for; variant 4: n = 65 is not divisible by 16, as the kernel was compiled for"},
		{2, 65, 0, 0, none + "(0, 0, 0): there is no configuration 2; there are 2"},
		{-1, 65, 0, 0, none + "(0, 0, 0): there is no configuration -1; there are 2"},
	} {
		before := len(d.Launches())
		err := kernrt.LaunchConfig(k, stream, test.config, kernrt.Grid{}, &args{test.n})
		if test.fault != "" {
			wantError(t, err, kernrt.ErrArgument, test.fault)
			continue
		}
		must(t, err)
		launches := d.Launches()[before:]
		if len(launches) != 1 {
			t.Fatalf("%d launches, want 1", len(launches))
		}
		if l := launches[0]; l.Block[0] != 32*test.variant || l.Grid[0] != test.grid {
			t.Errorf("configuration %d, n = %d: variant %d with grid %d, want %d with %d", test.config, test.n, l.Block[0]/32, l.Grid[0], test.variant, test.grid)
		}
	}
	wantError(t, kernrt.LaunchConfig(add(t), stream, 1, kernrt.Grid1D(1), addArgsOf(16)), kernrt.ErrArgument,
		onH200+"(1, 1, 1): there is no configuration 1; there are 1")
}
