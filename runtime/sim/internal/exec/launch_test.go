package exec

import (
	"bytes"
	"context"
	"math"
	"slices"
	"sync"
	"testing"
)

// TestConcurrentLaunches launches one kernel from many goroutines, with memory that comes and goes.
func TestConcurrentLaunches(t *testing.T) {
	d := NewDevice(Options{Workers: 3})
	e := kernel(t, d, "runtime/testdata/add.sm80.ptx", "add_kernel")
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			const n = 3000
			x, y := random(n, uint64(g)), random(n, uint64(g+100))
			px, py, pz := upload(t, d, x), upload(t, d, y), upload(t, d, make([]float32, n))
			if err := e.Launch(context.Background(), Config{Grid: Dim{3, 1, 1}, Block: Dim{128, 1, 1}, Params: params(px, py, pz, uint32(n), uint64(0), uint64(0))}); err != nil {
				t.Error(err)
			}
			for i, v := range download[float32](t, d, pz, n) {
				if v != x[i]+y[i] {
					t.Errorf("goroutine %d: element %d is %v", g, i, v)
					break
				}
			}
			for _, p := range []uint64{px, py, pz} {
				if err := d.Memory.Free(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if d.Memory.used != 0 {
		t.Errorf("%d bytes are still in use", d.Memory.used)
	}
}

// TestDeterministic sums floats whose sum depends on the order, in many CTAs.
func TestDeterministic(t *testing.T) {
	text := body("red.global.add.f32 [%rd0], 0f00000000;")
	text = text[:len(text)-len("\n\tret;\n}\n.file 1 \"kernel.py\"\n")]
	text += `
	mov.u32 %r1, %ctaid.x; cvt.rn.f32.u32 %r2, %r1; mul.f32 %r2, %r2, 0f3DCCCCCD; setp.eq.u32 %p1, %r0, 0; @%p1 red.global.add.f32 [%rd0], %r2;
	ret;
}
`
	d := NewDevice(Options{Workers: 4})
	m, err := d.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.Entry("k")
	want := float32(0)
	for i := range 2000 {
		want += float32(float32(i) * 0.1)
	}
	for range 3 {
		p := upload(t, d, make([]float32, 64))
		launched(t, e, Config{Grid: Dim{2000, 1, 1}, Block: Dim{32, 1, 1}, Deterministic: true, Params: params(p)})
		if got := download[float32](t, d, p, 1); math.Float32bits(got[0]) != math.Float32bits(want) {
			t.Errorf("the sum is %v, want %v", got[0], want)
		}
	}
}

// TestGrid launches a grid of three dimensions, each thread storing its linear number.
func TestGrid(t *testing.T) {
	d := NewDevice(Options{})
	m, err := d.Load(body(`mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
		mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1; mov.u32 %r7, %tid.y; mov.u32 %r8, %tid.z; mov.u32 %r9, %ntid.x; mov.u32 %r10, %ntid.y; mov.u32 %r11, %ntid.z;
		mad.lo.u32 %r12, %r8, %r10, %r7; mad.lo.u32 %r12, %r12, %r9, %r0; mul.lo.u32 %r13, %r9, %r10; mul.lo.u32 %r13, %r13, %r11; mad.lo.u32 %r12, %r6, %r13, %r12;
		mul.wide.u32 %rd3, %r12, 4; add.s64 %rd3, %rd0, %rd3; st.global.u32 [%rd3], %r12;`))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.Entry("k")
	const n = 2 * 3 * 4 * 3 * 5 * 7
	p := upload(t, d, make([]uint32, n))
	launched(t, e, Config{Grid: Dim{2, 3, 4}, Block: Dim{3, 5, 7}, Params: params(p)})
	want := make([]uint32, n)
	for i := range want {
		want[i] = uint32(i)
	}
	if got := download[uint32](t, d, p, n); !slices.Equal(got, want) {
		t.Errorf("the numbers are %v", got)
	}
	if err := e.Launch(context.Background(), Config{Grid: Dim{2, 0, 4}}); err != nil {
		t.Errorf("an empty grid gives %v", err)
	}
}

func TestMemory(t *testing.T) {
	m := newMemory(1<<20, true)
	if _, err := m.Alloc(0); err == nil {
		t.Error("an allocation of 0 bytes succeeds")
	}
	if _, err := m.Alloc(1<<20 + 1); err == nil {
		t.Error("more than all memory is allocated")
	}
	p, err := m.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"write past the end": m.Write(p+99, make([]byte, 2)), "read of nothing": m.Read(make([]byte, 1), 8), "read before": m.Read(make([]byte, 1), p-1),
		"free within": m.Free(p + 1), "free of nothing": m.Free(0),
	} {
		if err == nil {
			t.Errorf("%s succeeds", what)
		}
	}
	q, err := m.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(p, bytes.Repeat([]byte{1, 2, 3, 4}, 25)); err != nil {
		t.Error(err)
	}
	if err := m.Copy(q+8, p+4, 20); err != nil {
		t.Error(err)
	}
	b := make([]byte, 32)
	if err := m.Read(b, q); err != nil {
		t.Error(err)
	}
	if want := append(append(make([]byte, 8), bytes.Repeat([]byte{1, 2, 3, 4}, 5)...), 0, 0, 0, 0); !bytes.Equal(b, want) {
		t.Errorf("the copy is %v, want %v", b, want)
	}
	if m.Copy(q, p+90, 20) == nil {
		t.Error("a copy that does not fit succeeds")
	}
	if err := m.Free(p); err != nil {
		t.Error(err)
	}
	if m.Free(p) == nil || m.Write(p, []byte{1}) == nil {
		t.Error("freed memory is still there")
	}
}
