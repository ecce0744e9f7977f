package exec

import (
	"fmt"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

// convertPacked converts two binary32 values, the first becoming the upper half, or two halves of a packed source.
func (c *compiler) convertPacked(in *inst, v *conversion) (step, error) {
	formats := map[ptx.Type]*float.Format{"f16x2": &float.F16, "bf16x2": &float.BF16, "e4m3x2": &float.E4M3, "e5m2x2": &float.E5M2}
	to, from := formats[v.to], formats[v.from]
	narrow := v.to.Bits() == 16
	if narrow != v.satfinite && !(v.satfinite && v.from == "f32") || v.sat || v.ftz {
		return nil, fmt.Errorf("the modifiers of this conversion are not supported")
	}
	round := func(x float64) uint32 {
		if v.relu && x < 0 {
			x = 0
		}
		if v.satfinite {
			return to.RoundFinite(x, v.mode)
		}
		return to.Round(x, v.mode)
	}
	shift := v.to.Bits() / 2
	switch {
	case v.from == "f32" && (v.rounding == "rn" || v.rounding == "rz" && !narrow):
		return c.lanes(in, form{each2(func(a, b uint32) uint32 { return round(float64(f32(a)))<<shift | round(float64(f32(b))) }), "f32"})
	case from != nil && (v.to == "f16x2" && v.from.Bits() == 16 || narrow && v.from == "f16x2") && v.rounding == "rn":
		sh := v.from.Bits() / 2
		return c.lanes(in, form{each1(func(a uint32) uint32 {
			return round(from.Value(a>>sh))<<shift | round(from.Value(a&(1<<sh-1)))
		}), v.from})
	}
	return nil, fmt.Errorf("conversion from %s to %s with rounding %q is not supported", v.from, v.to, v.rounding)
}

// convertTF32 rounds binary32 to the 19 bits of TF32, which stay in their place.
func (c *compiler) convertTF32(in *inst, v *conversion) (step, error) {
	if v.from != "f32" || v.rounding != "rna" && v.rounding != "rn" && v.rounding != "rz" || v.ftz || v.sat {
		return nil, fmt.Errorf("conversion from %s to tf32 with rounding %q is not supported", v.from, v.rounding)
	}
	return c.lanes(in, form{each1(func(a uint32) uint32 {
		x := float64(f32(a))
		if v.relu && x < 0 {
			x = 0
		}
		if v.satfinite {
			return float.TF32.RoundFinite(x, v.mode) << 13
		}
		return float.TF32.Round(x, v.mode) << 13
	}), "f32"})
}
