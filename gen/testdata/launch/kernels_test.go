package launch

import (
	"math"
	"reflect"
	"slices"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// What each kernel of ../versions/kernels.py computes. Sums of floats are in the
// source's order, and each is rounded once, so that results are exact.

func cdiv(a, b int) int { return (a + b - 1) / b }

func add(r *run) error { return addSome(r, r.IntN(2) == 0) } // where there is a variant for it

// addBy16 is add where the only image wants a multiple of 16.
func addBy16(r *run) error { return addSome(r, true) }

func addSome(r *run, by16 bool) error {
	n := 16 + r.IntN(3000)
	x, y := draw(n, r.pattern), draw(n, r.pattern)
	if by16 {
		n -= n % 16
	}
	want := poisoned[float32](len(x))
	for i := range n {
		want[i] = x[i] + y[i]
	}
	out := output[float32](r, len(x))
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], kernrt.Ptr[float32], kernrt.Ptr[float32], int32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(cdiv(n, 256)), upload(r, x, 0).ptr(), upload(r, y, 0).ptr(), out.ptr(), int32(n))
	if err == nil {
		compare(r, "out", out, want)
	}
	return err
}

// scalars adds up the integers in 64 bits, round the end, and all else in fp64.
func scalars(r *run) error {
	small := func() int64 { return int64(r.Uint64()) >> r.IntN(64) }
	b, i8, i16, i32, i64 := r.IntN(2) == 1, int8(small()), int16(small()), int32(small()), small()
	u8, u16, u32, u64 := uint8(small()), uint16(small()), uint32(small()), uint64(small())
	h, bf := float64(r.integer(2047))/16, float64(r.integer(255))/4 // exact in 11 and 8 bits
	f, d := float32(r.NormFloat64()), 1000*r.NormFloat64()

	ints := int64(i8) + int64(i16) + int64(i32) + i64 + int64(u8) + int64(u16) + int64(u32) + int64(u64)
	if b {
		ints++
	}
	floats := h + bf
	floats += float64(f)
	floats += d
	out := output[float64](r, 1)
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float64], bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
		kernrt.Float16, kernrt.BFloat16, float32, float64) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(1), out.ptr(), b, i8, i16, i32, i64, u8, u16, u32, u64,
		kernrt.NewFloat16(float32(h)), kernrt.NewBFloat16(float32(bf)), f, d)
	if err == nil {
		compare(r, "out", out, []float64{float64(ints) + floats})
	}
	return err
}

func rows(r *run) error {
	const block = 128
	programs, stride, n := 1+r.IntN(5), 16*(8+r.IntN(4)), 1+r.IntN(block)
	x := draw(programs*stride, r.pattern)
	want := poisoned[float32](programs * block)
	// Up to 3.7 Triton subtracts from zero, which has a zero's sign lost.
	negate := func(v float32) float32 { return 0 - v }
	if r.release >= "3.8" {
		negate = func(v float32) float32 { return math.Float32frombits(math.Float32bits(v) ^ 1<<31) }
	}
	for row := range programs {
		for col := range n {
			want[row*block+col] = negate(x[row*stride+col])
		}
	}
	out := output[float32](r, len(want))
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], kernrt.Ptr[float32], kernrt.Ptr[float32], int64, int32, uint32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(programs), upload(r, x, 0).ptr(), kernrt.Ptr[float32]{}, out.ptr(), int64(stride), 1, uint32(n))
	if err == nil {
		compare(r, "out", out, want)
	}
	return err
}

// dot multiplies small whole numbers, whose products add up exactly in any order.
func dot(r *run) error {
	const block = 64
	small := func() float32 { return float32(r.integer(8)) }
	a, b := draw(block*block, small), draw(block*block, small)
	want := make([]float32, block*block)
	for row := range block {
		for col := range block {
			for k := range block {
				want[row*block+col] += a[row*block+k] * b[k*block+col]
			}
		}
	}
	out := output[float32](r, len(want))
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[kernrt.Float16], kernrt.Ptr[kernrt.Float16], kernrt.Ptr[float32]) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(1), upload(r, halves(a), 0).ptr(), upload(r, halves(b), 0).ptr(), out.ptr())
	if err == nil {
		compare(r, "out", out, want)
	}
	return err
}

func halves(values []float32) []kernrt.Float16 {
	converted := make([]kernrt.Float16, len(values))
	for i, v := range values {
		converted[i] = kernrt.NewFloat16(v)
	}
	return converted
}

// descriptor copies the first columns, and of the last tile no more rows than
// there are.
func descriptor(r *run) error {
	const block = 32
	rows, cols := 16*(1+r.IntN(8)), 16*(2+r.IntN(4))
	x := draw(rows*cols, func() kernrt.Float16 { return kernrt.Float16(r.Uint32()) })
	want := poisoned[kernrt.Float16](len(x))
	for row := range rows {
		copy(want[row*cols:], x[row*cols:row*cols+block])
	}
	out := output[kernrt.Float16](r, len(x))
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[kernrt.Float16], kernrt.Ptr[kernrt.Float16], int32, int32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(cdiv(rows, block)), upload(r, x, 0).ptr(), out.ptr(), int32(rows), int32(cols))
	if err == nil {
		compare(r, "out", out, want)
	}
	return err
}

// host copies the tiles below row n from a tensor with a pitch to a larger one:
// what lies outside the former is zero or, from 3.5 on, NaN if asked for.
func host(r *run) error {
	const block = 32
	rows, cols, pitch := 1+r.IntN(100), 1+r.IntN(block), 8*(4+r.IntN(4))
	outRows, outPitch := rows+r.IntN(40), 8*(4+r.IntN(2))
	n := 1 + r.IntN(outRows)
	x := draw(rows*pitch, func() kernrt.Float16 { return kernrt.Float16(r.Uint32()) })
	outside := kernrt.Float16(0)
	in, out := upload(r, x, 0), output[kernrt.Float16](r, outRows*outPitch)
	xDesc := kernrt.NewTensorDesc(in.ptr(), rows, cols).WithStrides(pitch, 1)
	if r.release >= "3.5" && r.IntN(2) == 0 {
		xDesc, outside = xDesc.WithNaN(), kernrt.NewFloat16(float32(math.NaN()))
	}
	want := poisoned[kernrt.Float16](outRows * outPitch)
	for row := range min(block*cdiv(n, block), outRows) {
		for col := range block {
			v := outside
			if row < rows && col < cols {
				v = x[row*pitch+col]
			}
			want[row*outPitch+col] = v
		}
	}
	outDesc := kernrt.NewTensorDesc(out.ptr(), outRows, block).WithStrides(outPitch, 1)
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.TensorDesc[kernrt.Float16], kernrt.TensorDesc[kernrt.Float16], int32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(cdiv(outRows, block)+1), xDesc, outDesc, int32(n))
	if err == nil {
		compare(r, "out", out, want)
	}
	return err
}

// tuples copies to an address that nothing is promised of.
func tuples(r *run) error {
	const block = 64
	rows, cols, n := 1+r.IntN(7), 1+r.IntN(7), r.IntN(8)
	x := draw(block, r.pattern)
	want := poisoned[float32](block)
	copy(want, x[:rows*cols+n])
	out := upload(r, poisoned[float32](block), 1)
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], kernrt.Ptr[float32], int32, int64, int32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(1), upload(r, x, 0).ptr(), out.ptr(), int32(rows), int64(cols), int32(n))
	if err == nil {
		compare(r, "ptrs.1", out, want)
	}
	return err
}

// pdl copies twice: the second launch may begin before the first has ended, and
// must wait for it.
func pdl(r *run) error {
	n := 1 + r.IntN(100_000)
	x := draw(n, r.pattern)
	between, out := output[float32](r, n), output[float32](r, n)
	in, grid := upload(r, x, 0), kernrt.Grid1D(cdiv(n, 128))
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], kernrt.Ptr[float32], int32) error
	err := function[launch](r)(r.stream, grid, in.ptr(), between.ptr(), int32(n))
	if err == nil {
		err = function[launch](r)(r.stream, grid, between.ptr(), out.ptr(), int32(n))
	}
	if err == nil {
		compare(r, "between", between, x)
		compare(r, "out", out, x)
	}
	return err
}

func scale(r *run) error {
	n := 1 + r.IntN(1000)
	x := draw(n, r.pattern)
	want := slices.Clone(x)
	for i := range want {
		want[i] *= 2
	}
	v := upload(r, x, 1)
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], int32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(cdiv(n, 128)), v.ptr(), int32(n))
	if err == nil {
		compare(r, "x", v, want)
	}
	return err
}

func scaleHalves(r *run) error {
	n := 1 + r.IntN(1000)
	x := draw(n, func() float32 { return float32(r.integer(1023)) })
	want := slices.Clone(x)
	for i := range want {
		want[i] *= 2
	}
	v := upload(r, halves(x), 1)
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[kernrt.Float16], int32) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(cdiv(n, 128)), v.ptr(), int32(n))
	if err == nil {
		compare(r, "x", v, halves(want))
	}
	return err
}

// fp8 adds any values of the two formats.
func fp8(r *run) error {
	const block = 128
	e4 := draw(block, func() kernrt.Float8E4M3FN { return kernrt.Float8E4M3FN(r.Uint32()) })
	e5 := draw(block, func() kernrt.Float8E5M2 { return kernrt.Float8E5M2(r.Uint32()) })
	want := make([]float32, block)
	for i := range want {
		want[i] = fromE4M3FN(uint8(e4[i])) + fromE5M2(uint8(e5[i]))
	}
	out := output[float32](r, block)
	type launch = func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[kernrt.Float8E4M3FN], kernrt.Ptr[kernrt.Float8E5M2], kernrt.Ptr[float32]) error
	err := function[launch](r)(r.stream, kernrt.Grid1D(1), upload(r, e4, 0).ptr(), upload(r, e5, 0).ptr(), out.ptr())
	if err == nil {
		compare(r, "out", out, want)
	}
	return err
}

// fromE4M3FN has no infinities, and one NaN of each sign.
func fromE4M3FN(b uint8) float32 {
	if b&0x7f == 0x7f {
		return float32(math.NaN())
	}
	return fromBits(b, 3, 7)
}

func fromE5M2(b uint8) float32 {
	switch v := fromBits(b, 2, 15); {
	case b&0x7f > 0x7c:
		return float32(math.NaN())
	case b&0x7f == 0x7c:
		return float32(math.Copysign(math.Inf(1), float64(v)))
	default:
		return v
	}
}

// fromBits is a finite number of 8 bits.
func fromBits(b uint8, mantissa, bias int) float32 {
	exponent, fraction := int(b&0x7f)>>mantissa, int(b)&(1<<mantissa-1)
	if exponent == 0 {
		exponent = 1 // subnormal
	} else {
		fraction += 1 << mantissa
	}
	v := math.Ldexp(float64(fraction), exponent-bias-mantissa)
	if b&0x80 != 0 {
		v = -v
	}
	return float32(v)
}

func calls(r *run) error {
	x := r.pattern()
	out := upload(r, poisoned[float32](1), 1)
	err := function[func(*kernrt.Stream, kernrt.Grid, kernrt.Ptr[float32], float32) error](r)(r.stream, kernrt.Grid1D(1), out.ptr(), x)
	if err == nil {
		compare(r, "out", out, []float32{x * x})
	}
	return err
}

// wide is called by reflection, being so.
func wide(r *run) error {
	a := draw(72, func() int32 { return int32(r.Uint32()) })
	out := upload(r, poisoned[int32](1), 1)
	args := []reflect.Value{reflect.ValueOf(r.stream), reflect.ValueOf(kernrt.Grid1D(1)), reflect.ValueOf(out.ptr())}
	for _, v := range a {
		args = append(args, reflect.ValueOf(v))
	}
	if err, _ := reflect.ValueOf(r.launch).Call(args)[0].Interface().(error); err != nil {
		return err
	}
	compare(r, "out", out, []int32{a[0] + a[1] + a[36] + a[70] + a[71]})
	return nil
}
