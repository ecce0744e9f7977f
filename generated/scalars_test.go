package generated_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kerngen/kerngen/generated/scalars"
	kernrt "github.com/kerngen/kerngen/runtime"
)

// Every type's scalars arrive bit for bit.
func TestScalars(t *testing.T) {
	s := newStream(t)
	r := random(1)
	float16 := func() kernrt.Float16 { return kernrt.NewFloat16(float32(100 * r.NormFloat64())) }
	bfloat16 := func() kernrt.BFloat16 { return kernrt.NewBFloat16(float32(100 * r.NormFloat64())) }
	cases := []scalars.ScalarsArgs{
		{},
		{
			I8: math.MinInt8, I16: math.MinInt16, I32: math.MinInt32, I64: math.MinInt64,
			Fp16: 0xfbff, Bf16: 0x8001, Fp32: -math.SmallestNonzeroFloat32, Fp64: -math.SmallestNonzeroFloat64,
		},
		{
			I1: true, I8: math.MaxInt8, I16: math.MaxInt16, I32: math.MaxInt32, I64: math.MaxInt64,
			U8: math.MaxUint8, U16: math.MaxUint16, U32: math.MaxUint32, U64: math.MaxUint64,
			Fp16: 1, Bf16: kernrt.NewBFloat16(float32(math.Inf(1))), Fp32: math.MaxFloat32, Fp64: math.MaxFloat64,
		},
		{I1: true, I8: -1, I16: -1, I32: -1, I64: -1, U8: 1, U16: 1, U32: 1, U64: 1, Fp64: math.Copysign(0, -1)},
	}
	for range 20 {
		cases = append(cases, scalars.ScalarsArgs{
			I1: r.IntN(2) == 1, I8: int8(r.Uint32()), I16: int16(r.Uint32()), I32: int32(r.Uint32()), I64: int64(r.Uint64()),
			U8: uint8(r.Uint32()), U16: uint16(r.Uint32()), U32: r.Uint32(), U64: r.Uint64(),
			Fp16: float16(), Bf16: bfloat16(), Fp32: float32(r.NormFloat64()), Fp64: r.NormFloat64(),
		})
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			ints, floats := upload(t, s, poisoned[int64](9)), upload(t, s, poisoned[float64](4))
			launched(t, scalars.LaunchScalars(s, ints.ptr(), floats.ptr(),
				c.I1, c.I8, c.I16, c.I32, c.I64, c.U8, c.U16, c.U32, c.U64, c.Fp16, c.Bf16, c.Fp32, c.Fp64))
			var i1 int64
			if c.I1 {
				i1 = 1
			}
			equal(t, "ints", ints.read(t, s), []int64{i1, int64(c.I8), int64(c.I16), int64(c.I32), c.I64,
				int64(c.U8), int64(c.U16), int64(c.U32), int64(c.U64)})
			equal(t, "bits of floats", each(floats.read(t, s), math.Float64bits),
				each([]float64{float64(c.Fp16.Float32()), float64(c.Bf16.Float32()), float64(c.Fp32), c.Fp64}, math.Float64bits))
		})
	}
}
