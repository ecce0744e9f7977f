package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestForms executes single instructions. %r1 to %r3 or %rd4 to %rd6 are the operands, the result goes to %r9 or %rd9; a form whose result is a predicate sets %p1.
func TestForms(t *testing.T) {
	const one, half, tiny, nan, inf = 0x3f800000, 0x3f000000, 1, 0x7fc12345, 0x7f800000
	d := func(f float64) uint64 { return math.Float64bits(f) }
	s := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
	const neg = 1 << 31
	for _, c := range []struct {
		form string
		args []uint64
		want uint64
	}{
		{"add.s32 r, r, r", []uint64{0x7fffffff, 1}, 0x80000000},
		{"add.sat.s32 r, r, r", []uint64{0x7fffffff, 1}, 0x7fffffff},
		{"sub.sat.s32 r, r, r", []uint64{0x80000000, 1}, 0x80000000},
		{"mul.hi.u32 r, r, r", []uint64{0xffffffff, 0xffffffff}, 0xfffffffe},
		{"mul.hi.s32 r, r, r", []uint64{0xffffffff, 5}, 0xffffffff},
		{"mul.hi.s64 d, d, d", []uint64{math.MaxUint64, 5}, math.MaxUint64},
		{"mul.hi.u64 d, d, d", []uint64{math.MaxUint64, 5}, 4},
		{"mul.wide.s32 d, r, r", []uint64{0xffffffff, 7}, math.MaxUint64 - 6},
		{"mad.wide.u32 d, r, r, d", []uint64{0xffffffff, 2, 5}, 0x200000003},
		{"mad.hi.s32 r, r, r, r", []uint64{0x40000000, 8, 3}, 5},
		{"mul24.lo.u32 r, r, r", []uint64{0xff000003, 5}, 15},
		{"sad.s32 r, r, r, r", []uint64{0xfffffffe, 3, 10}, 15},
		{"sad.u32 r, r, r, r", []uint64{3, 0xfffffffe, 10}, 5},
		{"dp4a.s32.u32 r, r, r, r", []uint64{0xff010203, 0x02030405, 100}, 100 - 2 + 3 + 8 + 15},
		{"abs.s32 r, r", []uint64{0x80000000}, 0x80000000},
		{"div.s32 r, r, r", []uint64{0xfffffff9, 2}, 0xfffffffd},
		{"rem.s32 r, r, r", []uint64{0xfffffff9, 2}, 0xffffffff},
		{"div.u32 r, r, r", []uint64{7, 0}, 0xffffffff},
		{"rem.u32 r, r, r", []uint64{7, 0}, 7},
		{"div.s64 d, d, d", []uint64{1 << 63, math.MaxUint64}, 1 << 63},
		{"shl.b32 r, r, r", []uint64{3, 31}, 0x80000000}, {"shl.b32 r, r, r", []uint64{3, 32}, 0},
		{"shr.u32 r, r, r", []uint64{0x80000000, 40}, 0}, {"shr.s32 r, r, r", []uint64{0x80000000, 40}, 0xffffffff},
		{"shr.s64 d, d, r", []uint64{1 << 63, 63}, math.MaxUint64}, {"shl.b64 d, d, r", []uint64{1, 64}, 0},
		{"shf.l.wrap.b32 r, r, r, r", []uint64{0x80000001, 2, 1}, 5}, {"shf.r.wrap.b32 r, r, r, r", []uint64{0x80000001, 3, 33}, 0xc0000000},
		{"shf.l.clamp.b32 r, r, r, r", []uint64{0x80000001, 2, 99}, 0x80000001}, {"shf.r.clamp.b32 r, r, r, r", []uint64{0x80000001, 3, 99}, 3},
		{"clz.b32 r, r", []uint64{0}, 32}, {"clz.b64 r, d", []uint64{1}, 63}, {"popc.b64 r, d", []uint64{math.MaxUint64}, 64}, {"brev.b32 r, r", []uint64{2}, 0x40000000},
		{"bfind.u32 r, r", []uint64{0}, 0xffffffff}, {"bfind.s32 r, r", []uint64{0xfffffff0}, 3}, {"bfind.shiftamt.u32 r, r", []uint64{0x00010000}, 15},
		{"bfe.u32 r, r, r, r", []uint64{0xf0000000, 28, 8}, 0xf}, {"bfe.s32 r, r, r, r", []uint64{0xf0000000, 28, 8}, 0xffffffff}, {"bfe.s32 r, r, r, r", []uint64{0x70, 4, 4}, 7},
		{"bfe.s32 r, r, r, r", []uint64{0xf0, 4, 4}, 0xffffffff}, {"bfe.u32 r, r, r, r", []uint64{0xf0, 4, 0}, 0}, {"bfe.s64 d, d, r, r", []uint64{1 << 63, 63, 1}, math.MaxUint64},
		{"bfi.b32 r, r, r, r, r", []uint64{0xab, 0x12345678, 8, 8}, 0x1234ab78}, {"bfi.b32 r, r, r, r, r", []uint64{0xff, 0, 28, 32}, 0xf0000000}, {"bfi.b32 r, r, r, r, r", []uint64{1, 9, 32, 1}, 9},
		{"prmt.b32 r, r, r, r", []uint64{0x33221100, 0x77665544, 0x7531}, 0x77553311}, {"prmt.b32 r, r, r, r", []uint64{0x00008000, 0, 0x9999}, 0xffffffff},
		{"prmt.b32.f4e r, r, r, r", []uint64{0x33221100, 0x77665544, 1}, 0x44332211}, {"prmt.b32.rc16 r, r, r, r", []uint64{0x33221100, 0, 1}, 0x33223322},
		{"lop3.b32 r, r, r, r, 0x96", []uint64{0xff00, 0xf0f0, 0xaaaa}, 0xff00 ^ 0xf0f0 ^ 0xaaaa}, {"lop3.b32 r, r, r, r, 0xe8", []uint64{0b1100, 0b1010, 0b1001}, 0b1000},
		{"rcp.approx.ftz.f64 d, d", []uint64{d(math.NaN())}, 0x7fffffff_00000000}, {"rsqrt.approx.ftz.f64 d, d", []uint64{d(-1)}, 0x7fffffff_00000000},
		{"rcp.approx.ftz.f64 d, d", []uint64{d(math.Inf(-1))}, 1 << 63}, {"rcp.approx.ftz.f64 d, d", []uint64{neg<<32 | 1}, 0xfff00000_00000000}, {"rsqrt.approx.ftz.f64 d, d", []uint64{1}, 0x7ff00000_00000000},
		{"cnot.b32 r, r", []uint64{0}, 1}, {"not.b64 d, d", []uint64{1}, math.MaxUint64 - 1},

		{"add.rn.f32 r, r, r", []uint64{one, 0x33800000}, one}, {"add.rp.f32 r, r, r", []uint64{one, tiny}, one + 1}, {"add.rz.f32 r, r, r", []uint64{one, neg | tiny}, one - 1},
		{"add.rm.f32 r, r, r", []uint64{one, neg | one}, neg}, {"add.rn.f32 r, r, r", []uint64{one, neg | one}, 0}, {"add.ftz.f32 r, r, r", []uint64{tiny, tiny}, 0}, {"add.f32 r, r, r", []uint64{tiny, tiny}, 2},
		{"add.sat.f32 r, r, r", []uint64{one, one}, one}, {"add.sat.f32 r, r, r", []uint64{nan, one}, 0}, {"add.f32 r, r, r", []uint64{nan, one}, nan32}, {"sub.f32 r, r, r", []uint64{inf, inf}, nan32},
		{"fma.rn.f32 r, r, r, r", []uint64{one + 1, one + 1, neg | (one + 2)}, 0x28800000}, {"fma.rz.f32 r, r, r, r", []uint64{one + 1, one + 1, 0}, one + 2}, {"fma.rp.f32 r, r, r, r", []uint64{one + 1, one + 1, 0}, one + 3},
		{"mul.rm.f32 r, r, r", []uint64{neg | tiny, half}, neg | tiny}, {"mul.rz.f32 r, r, r", []uint64{0x7f7fffff, 0x40000000}, 0x7f7fffff}, {"mul.f32 r, r, r", []uint64{0x7f7fffff, 0x40000000}, inf},
		{"div.rn.f32 r, r, r", []uint64{one, s(3)}, 0x3eaaaaab}, {"div.rz.f32 r, r, r", []uint64{one, s(3)}, 0x3eaaaaaa}, {"div.rn.f32 r, r, r", []uint64{one, 0}, inf},
		{"rcp.rp.f32 r, r", []uint64{s(3)}, 0x3eaaaaab}, {"rcp.rm.f32 r, r", []uint64{s(3)}, 0x3eaaaaaa}, {"sqrt.rn.f32 r, r", []uint64{s(2)}, 0x3fb504f3}, {"sqrt.rp.f32 r, r", []uint64{s(2)}, 0x3fb504f4}, {"sqrt.rn.f32 r, r", []uint64{neg | one}, nan32},
		{"max.f32 r, r, r", []uint64{nan, one}, one}, {"max.f32 r, r, r", []uint64{neg, 0}, 0}, {"min.f32 r, r, r", []uint64{0, neg}, neg}, {"max.NaN.f32 r, r, r", []uint64{nan, one}, nan32}, {"min.f32 r, r, r", []uint64{nan, nan}, nan32},
		{"copysign.f32 r, r, r", []uint64{neg, one}, neg | one}, {"neg.f32 r, r", []uint64{0}, neg},
		{"div.approx.f32 r, r, r", []uint64{one, 0x7f000000}, 0}, {"rcp.approx.ftz.f32 r, r", []uint64{tiny}, inf}, {"ex2.approx.ftz.f32 r, r", []uint64{s(-127)}, 0}, {"ex2.approx.f32 r, r", []uint64{s(-127)}, 0x400000},
		{"ex2.approx.f32 r, r", []uint64{s(10)}, s(1024)}, {"ex2.approx.f32 r, r", []uint64{neg | inf}, 0}, {"lg2.approx.f32 r, r", []uint64{0}, neg | inf}, {"rsqrt.approx.f32 r, r", []uint64{neg}, neg | inf},

		{"add.rz.f64 d, d, d", []uint64{d(1), d(-1e-300)}, d(1) - 1}, {"add.rp.f64 d, d, d", []uint64{d(1), d(1e-300)}, d(1) + 1}, {"sub.rm.f64 d, d, d", []uint64{d(1), d(1)}, 1 << 63}, {"mul.rz.f64 d, d, d", []uint64{d(1e300), d(1e300)}, d(math.MaxFloat64)},
		{"mul.rp.f64 d, d, d", []uint64{1, d(0.25)}, 1}, {"mul.rn.f64 d, d, d", []uint64{1, d(0.25)}, 0}, {"div.rz.f64 d, d, d", []uint64{d(2), d(3)}, 0x3fe5555555555555}, {"div.rp.f64 d, d, d", []uint64{d(2), d(3)}, 0x3fe5555555555556},
		{"rcp.rm.f64 d, d", []uint64{d(-3)}, d(-1.0/3) + 1}, {"rcp.rz.f64 d, d", []uint64{0}, d(math.Inf(1))}, {"sqrt.rz.f64 d, d", []uint64{d(2)}, 0x3ff6a09e667f3bcc}, {"fma.rm.f64 d, d, d, d", []uint64{d(1), d(1), d(-1)}, 1 << 63},
		{"max.f64 d, d, d", []uint64{d(math.NaN()), d(1)}, d(1)}, {"rcp.approx.ftz.f64 d, d", []uint64{d(4)}, d(0.25)},

		{"add.f16 h, h, h", []uint64{0x3c00, 0x1000}, 0x3c00}, {"add.f16x2 r, r, r", []uint64{0x3c003c00, 0x40003c00}, 0x42004000}, {"fma.rn.f16 h, h, h, h", []uint64{0x3c01, 0x3c01, 0xbc02}, 0x0010},
		{"fma.rn.relu.bf16 h, h, h, h", []uint64{0x3f80, 0xbf80, 0}, 0}, {"fma.rn.bf16 h, h, h, h", []uint64{0x3f81, 0x3f81, 0}, 0x3f82}, {"max.NaN.f16 h, h, h", []uint64{0x7e00, 0x3c00}, 0x7fff}, {"max.bf16 h, h, h", []uint64{0x7fc0, 0x3f80}, 0x3f80},
		{"ex2.approx.ftz.bf16 h, h", []uint64{0xc2fe}, 0}, {"ex2.approx.ftz.bf16x2 r, r", []uint64{0xc2fec2fc}, 0x0080}, {"ex2.approx.f16 h, h", []uint64{0xcd00}, 0x0010},
		{"neg.bf16x2 r, r", []uint64{0x3f80bf80}, 0xbf803f80}, {"abs.f16 h, h", []uint64{0xbc00}, 0x3c00}, {"mul.f16 h, h, h", []uint64{0x7bff, 0x4000}, 0x7c00},

		{"cvt.rni.s32.f32 r, r", []uint64{s(2.5)}, 2}, {"cvt.rni.s32.f32 r, r", []uint64{s(3.5)}, 4}, {"cvt.rzi.s32.f32 r, r", []uint64{s(-2.9)}, 0xfffffffe}, {"cvt.rmi.s32.f32 r, r", []uint64{s(-2.1)}, 0xfffffffd}, {"cvt.rpi.s32.f32 r, r", []uint64{s(2.1)}, 3},
		{"cvt.rzi.s32.f32 r, r", []uint64{nan}, 0}, {"cvt.rzi.s32.f32 r, r", []uint64{inf}, 0x7fffffff}, {"cvt.rzi.u32.f32 r, r", []uint64{s(-5)}, 0}, {"cvt.rzi.s64.f32 d, r", []uint64{nan}, 1 << 63}, {"cvt.rzi.u64.f64 d, d", []uint64{d(1 << 63)}, 1 << 63},
		{"cvt.rzi.u64.f64 d, d", []uint64{d(1e30)}, math.MaxUint64}, {"cvt.rzi.s8.f32 r, r", []uint64{s(-200)}, 0xffffff80}, {"cvt.rni.f32.f32 r, r", []uint64{s(2.5)}, s(2)}, {"cvt.rzi.ftz.f32.f32 r, r", []uint64{tiny}, 0},
		{"cvt.s64.s32 d, r", []uint64{0x80000000}, 0xffffffff80000000}, {"cvt.u64.u32 d, r", []uint64{0x80000000}, 0x80000000}, {"cvt.u32.u64 r, d", []uint64{0x1_0000_0002}, 2}, {"cvt.s32.s8 r, r", []uint64{0x1ff}, 0xffffffff}, {"cvt.u32.u8 r, r", []uint64{0x1ff}, 0xff},
		{"cvt.s8.s32 r, r", []uint64{0x180}, 0xffffff80}, {"cvt.u16.u32 h, r", []uint64{0x12345}, 0x2345}, {"cvt.sat.u8.s32 r, r", []uint64{0xffffffff}, 0}, {"cvt.sat.s8.s32 r, r", []uint64{300}, 127}, {"cvt.sat.s32.u32 r, r", []uint64{0xffffffff}, 0x7fffffff},
		{"cvt.rn.f32.s32 r, r", []uint64{0xffffffff}, s(-1)}, {"cvt.rn.f32.u64 r, d", []uint64{1<<63 + 1<<39 + 1}, 0x5f000001}, {"cvt.rz.f32.u64 r, d", []uint64{math.MaxUint64}, 0x5f7fffff}, {"cvt.rp.f32.s64 r, d", []uint64{1<<62 + 1}, 0x5e800001},
		{"cvt.rn.f64.u32 d, r", []uint64{7}, d(7)}, {"cvt.rn.f64.s64 d, d", []uint64{math.MaxUint64}, d(-1)}, {"cvt.rn.f16.s32 h, r", []uint64{65519}, 0x7bff}, {"cvt.rn.f16.s32 h, r", []uint64{65520}, 0x7c00},
		{"cvt.rn.f16.f32 h, r", []uint64{one + 0x1000}, 0x3c00}, {"cvt.rp.f16.f32 h, r", []uint64{one + 1}, 0x3c01}, {"cvt.rz.f16.f32 h, r", []uint64{one + 0x1fff}, 0x3c00}, {"cvt.f32.f16 r, h", []uint64{0x8001}, s(-0x1p-24)}, {"cvt.f64.f16 d, h", []uint64{0x3c00}, d(1)},
		{"cvt.rn.bf16.f32 h, r", []uint64{one + 0x8000}, 0x3f80}, {"cvt.rn.relu.bf16.f32 h, r", []uint64{neg | one}, 0}, {"cvt.f32.bf16 r, h", []uint64{0x3f81}, one + 0x10000}, {"cvt.sat.f32.f32 r, r", []uint64{s(3)}, one},
		{"cvt.rm.f32.f64 r, d", []uint64{d(1 - 1e-12)}, one - 1}, {"cvt.rn.f32.f64 r, d", []uint64{d(1e-46)}, 0}, {"cvt.rp.f32.f64 r, d", []uint64{d(1e-46)}, 1}, {"cvt.f64.f32 d, r", []uint64{one}, d(1)},
		{"cvt.rn.f16x2.f32 r, r, r", []uint64{one, s(2)}, 0x3c004000}, {"cvt.rz.bf16x2.f32 r, r, r", []uint64{one + 0xffff, s(2)}, 0x3f804000}, {"cvt.rna.tf32.f32 r, r", []uint64{one + 0x1000}, one + 0x2000}, {"cvt.rn.tf32.f32 r, r", []uint64{one + 0x1000}, one},
		{"cvt.rn.satfinite.e4m3x2.f32 h, r, r", []uint64{s(1000), s(-1)}, 0x7eb8}, {"cvt.rn.satfinite.e5m2x2.f32 h, r, r", []uint64{nan, s(1e9)}, 0x7f7b}, {"cvt.rn.f16x2.e5m2x2 r, h", []uint64{0x3cfc}, 0x3c00fc00}, {"cvt.rn.satfinite.e4m3x2.f16x2 h, r", []uint64{0x3c007bff}, 0x387e},

		{"setp.lt.s32 p, r, r", []uint64{0xffffffff, 0}, 1}, {"setp.lt.u32 p, r, r", []uint64{0xffffffff, 0}, 0}, {"setp.hi.u32 p, r, r", []uint64{2, 1}, 1}, {"setp.gt.s64 p, d, d", []uint64{1 << 63, 0}, 0}, {"setp.ne.b16 p, h, h", []uint64{1, 1}, 0},
		{"setp.lt.f32 p, r, r", []uint64{nan, one}, 0}, {"setp.ltu.f32 p, r, r", []uint64{nan, one}, 1}, {"setp.neu.f32 p, r, r", []uint64{nan, nan}, 1}, {"setp.ne.f32 p, r, r", []uint64{nan, nan}, 0}, {"setp.num.f32 p, r, r", []uint64{one, one}, 1},
		{"setp.nan.f64 p, d, d", []uint64{d(math.NaN()), 0}, 1}, {"setp.eq.ftz.f32 p, r, r", []uint64{tiny, 0}, 1}, {"setp.eq.f32 p, r, r", []uint64{neg, 0}, 1}, {"setp.ge.f16 p, h, h", []uint64{0x4000, 0x3c00}, 1}, {"setp.lt.and.s32 p, r, r, %p7", []uint64{1, 2}, 0}, {"setp.lt.or.s32 p, r, r, !%p7", []uint64{3, 2}, 1},
		{"testp.subnormal.f32 p, r", []uint64{tiny}, 1}, {"testp.finite.f64 p, d", []uint64{d(math.Inf(1))}, 0}, {"testp.notanumber.f32 p, r", []uint64{nan}, 1},
		{"set.lt.u32.s32 r, r, r", []uint64{1, 2}, 0xffffffff}, {"set.eq.f32.f32 r, r, r", []uint64{one, one}, one}, {"slct.b32.s32 r, r, r, r", []uint64{7, 8, 0xffffffff}, 8}, {"selp.b32 r, r, r, !%p7", []uint64{7, 8}, 7}, {"selp.b64 d, d, d, %p7", []uint64{7, 8}, 8},
		{"set.nan.f16x2.f16x2 r, r, r", []uint64{0x7e003c00, 0x3c003c00}, 0x3c000000}, {"set.lt.bf16x2.bf16x2 r, r, r", []uint64{0x3f803f80, 0x40000000}, 0x3f800000},
		{"isspacep.global p, d", []uint64{0x7f0000000000}, 1}, {"isspacep.shared p, d", []uint64{0x7f0000000000}, 0},
	} {
		name, operands, _ := strings.Cut(c.form, " ")
		t.Run(fmt.Sprintf("%s %x", name, c.args), func(t *testing.T) {
			if got := evaluate(t, name, strings.Split(operands, ", "), c.args); got != c.want {
				t.Errorf("the result is %#x, want %#x", got, c.want)
			}
		})
	}
}

// evaluate executes an instruction whose operands are classes of registers (r, d, h, p of 32, 64, 16 bits and predicates) or text.
func evaluate(t *testing.T, name string, classes []string, args []uint64) uint64 {
	t.Helper()
	var before, list []string
	for i, class := range classes {
		reg, ok := map[string]string{"r": "%r", "d": "%rd", "h": "%rs", "p": "%p"}[class]
		switch {
		case !ok:
			list = append(list, class)
		case i == 0:
			list = append(list, map[string]string{"r": "%r9", "d": "%rd9", "h": "%rs7", "p": "%p1"}[class])
		default:
			n := fmt.Sprintf("%s%d", reg, i+2)
			list = append(list, n)
			before = append(before, fmt.Sprintf("mov.%s %s, %#x;", map[string]string{"r": "b32", "d": "b64", "h": "b16"}[class], n, args[len(before)]))
		}
	}
	after := map[string]string{"r": "st.global.u32 [%rd8], %r9;", "d": "st.global.u64 [%rd8], %rd9;", "h": "st.global.u16 [%rd8], %rs7;", "p": "selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd8], %r9;"}[classes[0]]
	lines := "shl.b64 %rd8, %rd1, 1; add.s64 %rd8, %rd8, %rd0; setp.ne.u32 %p7, %r0, %r0; setp.gt.u32 %p6, %r0, 31; @%p6 bra $L9; st.global.u64 [%rd8], 0;\n" +
		strings.Join(before, " ") + "\n" + name + " " + strings.Join(list, ", ") + ";\n" + after + "\n$L9:"
	words, err := run(t, NewDevice(Options{}), lines)
	if err != nil {
		t.Fatal(err)
	}
	b := bytesOf(words)
	// Every lane has computed the same.
	first := binary.LittleEndian.Uint64(b)
	for i := 8; i < len(b); i += 8 {
		if v := binary.LittleEndian.Uint64(b[i:]); v != first {
			t.Fatalf("lane %d has %#x, lane 0 %#x", i/8, v, first)
		}
	}
	return first
}
