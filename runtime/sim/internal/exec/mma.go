package exec

import (
	"fmt"
	"math"

	"github.com/kerngen/kerngen/runtime/sim/internal/float"
	"github.com/kerngen/kerngen/runtime/sim/internal/ptx"
)

func init() {
	families["mma"] = compileMMA
}

// One layout serves every shape of mma with 8 columns. With e elements in a register, four neighbouring lanes hold a chunk of 4*e columns of a row; lane/4 is the row within eight.
//
//	A, M x K: register r has rows 8*(r%2)+lane/4 of chunk r/2; with M = 8 there is only the first half, and register r has chunk r.
//	B, K x 8: register r has column lane/4 of chunk r, chunks being along K.
//	C and D, M x 8: pairs of columns 2*(lane%4) and the next, of rows lane/4 and then 8 more.
//
// A product is exact in binary64 except for that of two binary64s, so a result is the sum of C and K products in binary64, in the order of K, rounded once. PTX leaves the order and the
// precision of the sums open; hardware keeps fewer bits.

// mmaElement is a type of the elements of A and B.
type mmaElement struct {
	count  int // in a register of 32 bits
	decode func(v uint32, n int) float64
}

var mmaElements = map[ptx.Type]mmaElement{
	"f16":  {2, func(v uint32, n int) float64 { return half64(v >> (16 * n)) }},
	"bf16": {2, func(v uint32, n int) float64 { return float64(f32(v >> (16 * n) << 16)) }},
	"tf32": {1, func(v uint32, _ int) float64 { return float64(f32(v &^ 0x1fff)) }},
	"s8":   {4, func(v uint32, n int) float64 { return float64(int8(v >> (8 * n))) }},
	"u8":   {4, func(v uint32, n int) float64 { return float64(uint8(v >> (8 * n))) }},
	"e4m3": {4, func(v uint32, n int) float64 { return e4m3Values[uint8(v>>(8*n))] }},
	"e5m2": {4, func(v uint32, n int) float64 { return e5m2Values[uint8(v>>(8*n))] }},
}

var e4m3Values, e5m2Values = valuesOf(&float.E4M3), valuesOf(&float.E5M2)

func valuesOf(f *float.Format) (t [256]float64) {
	for i := range t {
		t[i] = f.Value(uint32(i))
	}
	return t
}

// half64 widens the lower 16 bits, a binary16.
func half64(v uint32) float64 {
	if v&0x7c00 == 0x7c00 {
		return float64(float.FromF16(uint16(v)))
	}
	f := math.Float64frombits(uint64(v&0x7fff)<<42) * 0x1p1008
	return math.Float64frombits(math.Float64bits(f) | uint64(v&0x8000)<<48)
}

// mma is one instruction of the family.
type mma struct {
	m, k       int
	a, b       mmaElement
	fastHalf   bool // A and B are binary16
	ra, rb     []int
	rc, rd     []int
	cHalf      bool // C is packed binary16
	dHalf      bool
	integers   bool
	saturating bool
}

// fragments are the matrices of one mma, decoded.
type fragments struct {
	a [16][32]float64
	b [32][8]float64
	c [16][8]float64
}

func compileMMA(c *compiler, in *inst) (step, error) {
	mods := &c.mods
	if !mods.has("sync") || !mods.has("aligned") {
		return nil, fmt.Errorf("only the .sync.aligned form is known")
	}
	var p mma
	shape := mods.any("m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m8n8k4", "m8n8k16")
	if _, err := fmt.Sscanf(shape, "m%dn8k%d", &p.m, &p.k); err != nil {
		return nil, fmt.Errorf("the shape is not supported")
	}
	if !mods.has("row") || !mods.has("col") {
		return nil, fmt.Errorf("only A by rows and B by columns is supported")
	}
	p.saturating = mods.has("satfinite")
	var t [4]ptx.Type // D, A, B, C
	for i := range t {
		var err error
		if t[i], err = mods.typ(); err != nil {
			return nil, err
		}
	}
	if err := wants(in.ops, 4); err != nil {
		return nil, err
	}
	if t == [4]ptx.Type{"f64", "f64", "f64", "f64"} {
		return c.mma64(in, p.m, p.k)
	}
	if !mmaExists(p.m, p.k, t) || p.saturating && t[0] != "s32" {
		return nil, fmt.Errorf("this combination of shape and types is not supported")
	}
	p.a, p.b = mmaElements[t[1]], mmaElements[t[2]]
	p.fastHalf = t[1] == "f16"
	p.dHalf, p.cHalf, p.integers = t[0] == "f16", t[3] == "f16", t[0] == "s32"
	regs := func(i, n int, half bool) []int {
		if half {
			n /= 2
		}
		return c.fragment(&in.ops[i], n)
	}
	p.rd = regs(0, p.m/4, p.dHalf)
	p.ra = regs(1, p.m/8*p.k/(4*p.a.count), false)
	p.rb = regs(2, p.k/(4*p.b.count), false)
	p.rc = regs(3, p.m/4, p.cHalf)
	if p.rd == nil || p.ra == nil || p.rb == nil || p.rc == nil {
		return nil, fmt.Errorf("the numbers of registers do not fit the shape")
	}
	return p.run, nil
}

// mmaExists lists the combinations of shape and types.
func mmaExists(m, k int, t [4]ptx.Type) bool {
	d, a, b, c := t[0], t[1], t[2], t[3]
	floats := (d == "f32" || d == "f16") && (c == "f32" || c == "f16")
	switch a {
	case "f16":
		return m == 16 && (k == 8 || k == 16) && b == a && floats
	case "bf16":
		return m == 16 && (k == 8 || k == 16) && b == a && d == "f32" && c == "f32"
	case "tf32":
		return m == 16 && (k == 4 || k == 8) && b == a && d == "f32" && c == "f32"
	case "s8", "u8":
		return (m == 16 && (k == 16 || k == 32) || m == 8 && k == 16) && (b == "s8" || b == "u8") && d == "s32" && c == "s32"
	case "e4m3", "e5m2":
		return m == 16 && (k == 16 || k == 32) && (b == "e4m3" || b == "e5m2") && floats
	}
	return false
}

// fragment gives the n registers of 32 bits of a matrix, or nil.
func (c *compiler) fragment(o *operand, n int) []int {
	list := []operand{*o}
	if o.kind == opVec {
		list = o.elems
	}
	if len(list) != n {
		return nil
	}
	var regs []int
	for _, e := range list {
		r, err := c.src32(e, "b32")
		if err != nil || e.kind != opReg && o.kind != opVec {
			return nil
		}
		regs = append(regs, r)
	}
	return regs
}

func (p *mma) run(w *warp) {
	if w.exec != allLanes {
		w.divergent("mma")
		return
	}
	f := &w.fragments
	p.load(w, f)
	f.multiply(p.m, p.k)
	p.store(w, f)
}

// load decodes A, B and C.
func (p *mma) load(w *warp, f *fragments) {
	halves := p.m / 8
	for r, reg := range p.ra {
		row, col := r%halves*8, r/halves*4*p.a.count
		src := &w.r32[reg]
		if p.fastHalf {
			for i, v := range src {
				a := f.a[row+i>>2][col+i&3*2:]
				a[0], a[1] = half64(v), half64(v>>16)
			}
			continue
		}
		for i, v := range src {
			for n := range p.a.count {
				f.a[row+i>>2][col+i&3*p.a.count+n] = p.a.decode(v, n)
			}
		}
	}
	for r, reg := range p.rb {
		k := r * 4 * p.b.count
		src := &w.r32[reg]
		if p.fastHalf {
			for i, v := range src {
				f.b[k+i&3*2][i>>2], f.b[k+i&3*2+1][i>>2] = half64(v), half64(v>>16)
			}
			continue
		}
		for i, v := range src {
			for n := range p.b.count {
				f.b[k+i&3*p.b.count+n][i>>2] = p.b.decode(v, n)
			}
		}
	}
	for r, reg := range p.rc {
		for i, v := range &w.r32[reg] {
			switch {
			case p.cHalf:
				f.c[r*8+i>>2][i&3*2], f.c[r*8+i>>2][i&3*2+1] = half64(v), half64(v>>16)
			case p.integers:
				f.c[r>>1*8+i>>2][i&3*2+r&1] = float64(int32(v))
			default:
				f.c[r>>1*8+i>>2][i&3*2+r&1] = float64(f32(v))
			}
		}
	}
}

// multiply adds A times B to C.
func (f *fragments) multiply(m, k int) {
	for r := range m {
		c := &f.c[r]
		s0, s1, s2, s3, s4, s5, s6, s7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
		for n, a := range f.a[r][:k] {
			b := &f.b[n]
			s0 += a * b[0]
			s1 += a * b[1]
			s2 += a * b[2]
			s3 += a * b[3]
			s4 += a * b[4]
			s5 += a * b[5]
			s6 += a * b[6]
			s7 += a * b[7]
		}
		*c = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	}
}

// store rounds the result to D.
func (p *mma) store(w *warp, f *fragments) {
	for r, reg := range p.rd {
		d := &w.r32[reg]
		for i := range d {
			switch {
			case p.dHalf:
				c := f.c[r*8+i>>2][i&3*2:]
				d[i] = float.F16.Round(c[0], float.RN) | float.F16.Round(c[1], float.RN)<<16
			case p.saturating:
				d[i] = clamp32(int64(f.c[r>>1*8+i>>2][i&3*2+r&1]))
			case p.integers:
				d[i] = uint32(int64(f.c[r>>1*8+i>>2][i&3*2+r&1]))
			default:
				d[i] = bits32(float32(f.c[r>>1*8+i>>2][i&3*2+r&1]))
			}
		}
	}
}

// mma64 compiles the shapes of binary64; each product is added with one rounding, in the order of K.
func (c *compiler) mma64(in *inst, m, k int) (step, error) {
	if !(m == 8 && k == 4 || m == 16 && k <= 16) {
		return nil, fmt.Errorf("this shape of f64 is not supported")
	}
	halves := m / 8
	var regs [4][]int
	for i, n := range []int{m / 4, halves * k / 4, k / 4, m / 4} {
		list, err := elements(in.ops[i], n)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			r, err := c.src64(e, "f64")
			if err != nil {
				return nil, err
			}
			regs[i] = append(regs[i], r)
		}
	}
	return func(w *warp) {
		if w.exec != allLanes {
			w.divergent("mma")
			return
		}
		f := &w.fragments
		for r, reg := range regs[1] {
			for i, v := range &w.r64[reg] {
				f.a[r%halves*8+i>>2][r/halves*4+i&3] = f64(v)
			}
		}
		for r, reg := range regs[2] {
			for i, v := range &w.r64[reg] {
				f.b[r*4+i&3][i>>2] = f64(v)
			}
		}
		for r, reg := range regs[3] {
			for i, v := range &w.r64[reg] {
				f.c[r>>1*8+i>>2][i&3*2+r&1] = f64(v)
			}
		}
		for row := range m {
			for col := range 8 {
				s := f.c[row][col]
				for n := range k {
					s = math.FMA(f.a[row][n], f.b[n][col], s)
				}
				f.c[row][col] = s
			}
		}
		for r, reg := range regs[0] {
			for i := range 32 {
				w.r64[reg][i] = bits64(f.c[r>>1*8+i>>2][i&3*2+r&1])
			}
		}
	}, nil
}
