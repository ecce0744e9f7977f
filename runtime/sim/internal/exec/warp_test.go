package exec

import "testing"

// TestLanes executes instructions in which lanes differ: %r0 is the thread, %r9 the result, of thread i of 64 what want(i) gives.
func TestLanes(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		want  func(i int) int
	}{
		"shuffle up":        {"shfl.sync.up.b32 %r9|%p1, %r0, 3, 0, -1; @!%p1 mov.u32 %r9, 99;", func(i int) int { return pick(i%32 >= 3, i-3, 99) }},
		"shuffle down":      {"shfl.sync.down.b32 %r9|%p1, %r0, 3, 31, -1; @!%p1 mov.u32 %r9, 99;", func(i int) int { return pick(i%32 < 29, i+3, 99) }},
		"shuffle butterfly": {"shfl.sync.bfly.b32 %r9, %r0, 5, 31, -1;", func(i int) int { return i ^ 5 }},
		"shuffle index":     {"shfl.sync.idx.b32 %r9, %r0, 7, 31, -1;", func(i int) int { return i&^31 + 7 }},
		"shuffle segments":  {"shfl.sync.idx.b32 %r9, %r0, 2, 0x181f, -1;", func(i int) int { return i&^7 + 2 }},
		"shuffle part":      {"setp.lt.u32 %p1, %r0, 8; mov.u32 %r9, 1; @%p1 shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xff;", func(i int) int { return pick(i < 8, i^1, 1) }},
		"ballot":            {"and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %r9, %p1, -1;", func(int) int { return 0xaaaaaaaa }},
		"vote all":          {"setp.lt.u32 %p1, %r0, 40; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", func(i int) int { return pick(i < 32, 1, 0) }},
		"vote any":          {"setp.eq.u32 %p1, %r0, 40; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;", func(i int) int { return pick(i < 32, 0, 1) }},
		"vote uni":          {"setp.lt.u32 %p1, %r0, 40; vote.sync.uni.pred %p2, !%p1, -1; selp.u32 %r9, 1, 0, %p2;", func(i int) int { return pick(i < 32, 1, 0) }},
		"match any":         {"and.b32 %r1, %r0, 3; match.any.sync.b32 %r9, %r1, -1;", func(i int) int { return 0x11111111 << (i & 3) }},
		"match all":         {"shr.u32 %r1, %r0, 6; match.all.sync.b32 %r9|%p1, %r1, -1;", func(int) int { return 0xffffffff }},
		"redux add":         {"redux.sync.add.s32 %r9, %r0, -1;", func(i int) int { return i/32*1024 + 496 }},
		"redux max":         {"redux.sync.max.u32 %r9, %r0, -1;", func(i int) int { return i | 31 }},
		"active lanes":      {"setp.lt.u32 %p1, %r0, 5; mov.u32 %r9, 1; @%p1 activemask.b32 %r9;", func(i int) int { return pick(i < 5, 31, 1) }},
		"elect":             {"setp.gt.u32 %p1, %r0, 99; mov.u32 %r9, 4; mov.u32 %r1, %laneid; setp.ge.u32 %p2, %r1, 4; @%p2 elect.sync %r9|%p1, 0xfffffff0; @%p1 mov.u32 %r9, 77;", func(i int) int { return pick(i%32 == 4, 77, 4) }},
		"lane masks":        {"mov.u32 %r1, %lanemask_lt; mov.u32 %r2, %lanemask_ge; popc.b32 %r3, %r1; popc.b32 %r4, %r2; mul.lo.u32 %r4, %r4, 100; add.u32 %r9, %r3, %r4;", func(i int) int { return i%32 + (32-i%32)*100 }},
		"special registers": {"mov.u32 %r1, %laneid; mov.u32 %r2, %warpid; mov.u32 %r3, %ntid.x; mad.lo.u32 %r9, %r2, 1000, %r1; mad.lo.u32 %r9, %r3, 10000, %r9;", func(i int) int { return 640000 + i/32*1000 + i%32 }},
		"carry":             {"add.cc.u32 %r1, %r0, 0xfffffff0; addc.u32 %r9, 0, 10;", func(i int) int { return pick(i >= 16, 11, 10) }},
		"borrow":            {"sub.cc.u32 %r1, %r0, 16; subc.u32 %r9, 10, 0;", func(i int) int { return pick(i < 16, 9, 10) }},
		"multiply carry":    {"mad.lo.cc.u32 %r1, %r0, 1, 0xffffffff; madc.hi.u32 %r9, %r0, 0, 5;", func(i int) int { return pick(i > 0, 6, 5) }},
		"packing":           {"cvt.u16.u32 %rs1, %r0; mov.b32 %r1, {%rs1, %rs1}; mov.b32 {%rs2, %rs3}, %r1; mov.b64 %rd3, {%r1, %r0}; mov.b64 {_, %r2}, %rd3; cvt.u32.u16 %r3, %rs3; add.u32 %r9, %r2, %r3;", func(i int) int { return 2 * i }},
		"barrier sum":       {"setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r9, 0, %p1;", func(int) int { return 40 }},
		"barrier and":       {"setp.lt.u32 %p1, %r0, 63; bar.red.and.pred %p2, 0, %p1; selp.u32 %r9, 1, 2, %p2;", func(int) int { return 2 }},
		"named barriers":    {"mov.u32 %r9, 3; setp.lt.u32 %p1, %r0, 32; @%p1 bra $L1; bar.sync 1, 32; bra $L2; $L1: bar.sync 2, 32; $L2: bar.sync 0;", func(int) int { return 3 }},
		"shared atomics": {`mov.u32 %r1, smem; st.shared.u32 [%r1], 0; st.shared.u32 [%r1+4], 100; bar.sync 0; atom.shared.add.u32 %r2, [%r1], 2; red.shared.max.u32 [%r1+4], %r0; bar.sync 0;
			ld.shared.v2.u32 {%r3, %r4}, [%r1]; add.u32 %r9, %r3, %r4;`, func(int) int { return 228 }},
		"atomic order":   {"mov.u32 %r1, smem; st.shared.u32 [%r1], 5; bar.sync 0; setp.lt.u32 %p1, %r0, 32; @%p1 atom.shared.exch.b32 %r9, [%r1], %r0; @!%p1 mov.u32 %r9, 0;", func(i int) int { return pick(i >= 32, 0, pick(i == 0, 5, i-1)) }},
		"swap if":        {"atom.global.cas.b32 %r1, [%rd2], %r0, 1000; ld.global.u32 %r9, [%rd2];", func(int) int { return 1000 }},
		"wrapping count": {"atom.global.inc.u32 %r1, [%rd2], 10; ld.global.u32 %r9, [%rd2];", func(i int) int { return pick(i >= 10, 0, i+1) }},
		"local memory":   {"mov.b64 %SPL, depot; st.local.u32 [%SPL+4], %r0; cvta.local.u64 %SP, %SPL; ld.u32 %r9, [%SP+4];", func(i int) int { return i }},
		"generic shared": {"mov.u64 %rd3, smem; cvta.shared.u64 %rd3, %rd3; add.s64 %rd3, %rd3, %rd1; st.u32 [%rd3], %r0; ld.u32 %r9, [%rd3];", func(i int) int { return i }},
		"narrow loads":   {"mov.u32 %r1, 0x8180; st.global.u32 [%rd2], %r1; ld.global.s8 %r2, [%rd2]; ld.global.u8 %r3, [%rd2+1]; add.u32 %r9, %r2, %r3;", func(int) int { return 1 }},
		"two allocations": {`mov.u32 %r1, smem; setp.lt.u32 %p1, %r0, 16; mov.u64 %rd3, format; cvta.global.u64 %rd3, %rd3; selp.b64 %rd4, %rd2, %rd3, %p1; ld.u8 %r9, [%rd4]; setp.lt.u32 %p2, %r0, 16;`,
			func(i int) int { return pick(i < 16, i, 'i') }},
		"matrix": {`mov.u32 %r1, smem; and.b32 %r3, %r0, 31; shl.b32 %r2, %r3, 2; add.u32 %r2, %r1, %r2; setp.lt.u32 %p1, %r0, 32; @%p1 st.shared.u32 [%r2], %r0; bar.sync 0;
			and.b32 %r3, %r0, 7; shl.b32 %r3, %r3, 4; add.u32 %r3, %r1, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r3];`, func(i int) int { return i % 32 }},
		"matrix transposed": {`mov.u32 %r1, smem; and.b32 %r3, %r0, 31; shl.b32 %r2, %r3, 2; add.u32 %r2, %r1, %r2; setp.lt.u32 %p1, %r0, 32; @%p1 st.shared.u32 [%r2], %r0; bar.sync 0;
			and.b32 %r3, %r0, 7; shl.b32 %r3, %r3, 4; add.u32 %r3, %r1, %r3; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r3]; movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r4;`, func(i int) int { return i % 32 }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, unchecked := range []bool{false, true} {
				got, err := run(t, NewDevice(Options{Unchecked: unchecked}), c.lines+"\nst.global.u32 [%rd2], %r9;")
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range got {
					if want := uint32(c.want(i)); v != want {
						t.Fatalf("thread %d has %#x, want %#x", i, v, want)
					}
				}
			}
		})
	}
}

func pick(yes bool, a, b int) int {
	if yes {
		return a
	}
	return b
}
