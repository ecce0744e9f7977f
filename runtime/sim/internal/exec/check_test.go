package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// body makes a kernel "k" of one parameter, p, with registers to use.
func body(lines string) string {
	return `.version 8.7
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 smem[];
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 format[17] = {105, 61, 37, 105, 32, 102, 61, 37, 46, 50, 102, 32, 37, 37, 10, 0};
.global .align 1 .b8 text[4] = {98, 97, 100, 0};
.visible .entry k(.param .u64 p)
{
	.local .align 8 .b8 depot[16];
	.reg .pred %p<8>;
	.reg .b16 %rs<8>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<16>;
	.reg .b64 %SP, %SPL;
	.loc 1 7 3
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.s64 %rd2, %rd0, %rd1;
` + lines + `
	ret;
}
.file 1 "kernel.py"
`
}

// run launches a kernel of body with 64 threads and a buffer of 64 words, which are 0, 1, 2...
func run(t *testing.T, d *Device, lines string) ([]uint32, error) {
	t.Helper()
	m, err := d.Load(body(lines))
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("k")
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, 64)
	for i := range words {
		words[i] = uint32(i)
	}
	p := upload(t, d, words)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = e.Launch(ctx, Config{Grid: Dim{1, 1, 1}, Block: Dim{64, 1, 1}, Shared: 256, Params: params(p)})
	return download[uint32](t, d, p, 64), err
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		want  []string
	}{
		"past the end":  {"ld.global.u32 %r1, [%rd2+4];", []string{`kernel "k", ptx line 22 (kernel.py:7)`, "thread (63, 0, 0)", "0 bytes past the end of allocation", "parameter 0 (p)"}},
		"before":        {"st.global.u32 [%rd2-4], %r0;", []string{"thread (0, 0, 0)", "write of 4 bytes"}},
		"misaligned":    {"ld.global.u32 %r1, [%rd2+2];", []string{"thread (0, 0, 0)", "is not a multiple of 4"}},
		"null":          {"mov.u64 %rd3, 0; ld.u32 %r1, [%rd3];", []string{"read of 4 bytes at 0x0, in no allocation"}},
		"shared":        {"mov.u32 %r1, smem; ld.shared.u32 %r2, [%r1+256];", []string{"outside the 256 bytes of shared memory"}},
		"uninitialised": {"mov.u32 %r1, smem; ld.shared.u32 %r2, [%r1];", []string{"have never been written"}},
		"race": {`mov.u32 %r1, smem; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0;
			xor.b32 %r4, %r2, 128; add.u32 %r3, %r1, %r4; ld.shared.u32 %r5, [%r3];`, []string{"never been written"}},
		"write and read": {`mov.u32 %r1, smem; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0; bar.sync 0;
			ld.shared.u32 %r5, [%r1]; setp.eq.u32 %p1, %r0, 32; @%p1 st.shared.u32 [%r1], %r0;`, []string{"warp 0 reads 4 bytes of shared memory at 0x0 that warp 1 wrote with no barrier between"}},
		"two writers":        {"mov.u32 %r1, smem; shr.u32 %r2, %r0, 5; st.shared.u32 [%r1], %r2;", []string{"thread (32, 0, 0)", "warp 1 writes 4 bytes of shared memory at 0x0 that warp 0 wrote otherwise with no barrier between"}},
		"divergent barrier":  {"setp.lt.u32 %p1, %r0, 7; @%p1 bar.sync 0;", []string{"bar.sync: a barrier with 7 of the warp's 32 running threads: thread (7, 0, 0) has taken another way"}},
		"divergent branches": {"setp.lt.u32 %p1, %r0, 7; @%p1 bra $L1; bar.sync 0; bra $L2; $L1: bar.sync 1; $L2:", []string{"a barrier with", "has taken another way"}},
		"barrier missed":     {"setp.lt.u32 %p1, %r0, 32; @!%p1 bra $L1; bar.sync 0; $L1:", []string{"barrier 0 waits for 64 threads, 32 have come", "1 of 2 warps have ended"}},
		"shuffle apart":      {"setp.lt.u32 %p1, %r0, 7; @%p1 bra $L1; bra $L2; $L1: shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; $L2:", []string{"member mask 0xffffffff names thread (7, 0, 0)"}},
		"shuffle of others":  {"shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff;", []string{"thread (16, 0, 0)", "member mask 0xffff does not name the thread that gives it"}},
		"vote of others":     {"setp.eq.u32 %p1, %r0, 0; vote.sync.ballot.b32 %r1, %p1, 0;", []string{"thread (0, 0, 0)", "member mask 0x0 does not name"}},
		"two groups":         {"setp.lt.u32 %p1, %r0, 16; selp.b32 %r1, 0x0000ffff, 0xffff0000, %p1; redux.sync.add.u32 %r2, %r0, %r1;", []string{"thread (16, 0, 0)", "member masks 0xffff and 0xffff0000 of threads that execute this together"}},
		"two stmatrix":       {"mov.u32 %r1, smem; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};", []string{"warp 1 writes 16 bytes of shared memory at 0x0 that warp 0 wrote otherwise"}},
		"trap":               {"trap;", []string{"the kernel trapped"}},
		"unwaited copy":      {"mov.u32 %r1, smem; cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.commit_group; ld.shared.u32 %r2, [%r1];", []string{"an asynchronous copy writes that has not been waited for"}},
		"assertion": {`mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3; setp.ne.u32 %p1, %r0, 5; @%p1 bra $L1; {
			.param .b64 a0; st.param.b64 [a0], %rd3; .param .b64 a1; st.param.b64 [a1], %rd3; .param .b32 a2; st.param.b32 [a2], 12; .param .b64 a3; st.param.b64 [a3], %rd3; .param .b64 a4; st.param.b64 [a4], 1;
			call.uni __assertfail, (a0, a1, a2, a3, a4); } $L1:`, []string{"thread (5, 0, 0)", "assertion failed: bad (bad:12, in bad)"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, NewDevice(Options{}), c.lines)
			var f *Fault
			if !errors.As(err, &f) {
				t.Fatalf("the launch gives %v, not a fault", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

// TestPlanted plants faults in real kernels.
func TestPlanted(t *testing.T) {
	add := image(t, "runtime/testdata/add.sm80.ptx")
	softmax := image(t, "runtime/sim/internal/exec/testdata/softmax.sm80.ptx")
	matmul := image(t, "runtime/sim/internal/exec/testdata/matmul.rows.sm80.ptx")
	const n = 2000
	vector := func(d *Device, px, py, pz uint64, count uint32) Config {
		return Config{Grid: Dim{2, 1, 1}, Block: Dim{128, 1, 1}, Params: params(px, py, pz, count, uint64(0), uint64(0))}
	}
	for name, c := range map[string]struct {
		text, kernel string
		config       func(t *testing.T, d *Device) Config
		want         []string
		argument     int
	}{
		"off by one": {add, "add_kernel", func(t *testing.T, d *Device) Config {
			z := make([]float32, n)
			return vector(d, upload(t, d, z), upload(t, d, z), upload(t, d, z), n+1)
		}, []string{"/src/kernels.py:9", "program (1, 0, 0), thread (116, 0, 0)", "parameter 0 (add_kernel_param_0)"}, 0},
		"misaligned": {add, "add_kernel", func(t *testing.T, d *Device) Config {
			z := make([]float32, n+4)
			return vector(d, upload(t, d, z), upload(t, d, z)+4, upload(t, d, z), n)
		}, []string{"/src/kernels.py:10", "is not a multiple of 16", "parameter 1 (add_kernel_param_1)"}, 1},
		"freed": {add, "add_kernel", func(t *testing.T, d *Device) Config {
			z := make([]float32, n)
			p := upload(t, d, z)
			if err := d.Memory.Free(p); err != nil {
				t.Fatal(err)
			}
			return vector(d, upload(t, d, z), upload(t, d, z), p, n)
		}, []string{"/src/kernels.py:11", "write of 16 bytes", "freed allocation", "parameter 2"}, 2},
		"never written": {add, "add_kernel", func(t *testing.T, d *Device) Config {
			z := make([]float32, n)
			p, err := d.Memory.Alloc(n * 4)
			if err != nil {
				t.Fatal(err)
			}
			return vector(d, p, upload(t, d, z), upload(t, d, z), n)
		}, []string{"/src/kernels.py:9", "have never been written", "parameter 0"}, 0},
		"no barrier": {strings.ReplaceAll(softmax, "bar.sync", "// bar.sync"), "softmax", func(t *testing.T, d *Device) Config {
			z := make([]float32, n)
			return Config{Grid: Dim{1, 1, 1}, Block: Dim{256, 1, 1}, Shared: 32, Params: params(upload(t, d, z), upload(t, d, z), int32(n), int32(n), int32(n), uint64(0), uint64(0))}
		}, []string{"triton/language/standard.py", "ld.shared.b32"}, -1},
		"no wait": {strings.ReplaceAll(matmul, "cp.async.wait_group", "// cp.async.wait_group"), "matmul", func(t *testing.T, d *Device) Config {
			z := make([]uint16, 128*128)
			return Config{Grid: Dim{1, 1, 1}, Block: Dim{256, 1, 1}, Shared: 49152, Params: params(upload(t, d, z), upload(t, d, z), upload(t, d, z), int32(128), int32(128), int32(128), int32(128), int32(128), int32(128), uint64(0), uint64(0))}
		}, []string{"kernels/matmul.py", "ldmatrix", "an asynchronous copy writes that has not been waited for"}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDevice(Options{})
			m, err := d.Load(c.text)
			if err != nil {
				t.Fatal(err)
			}
			e, err := m.Entry(c.kernel)
			if err != nil {
				t.Fatal(err)
			}
			err = e.Launch(context.Background(), c.config(t, d))
			var f *Fault
			if !errors.As(err, &f) {
				t.Fatalf("the launch gives %v, not a fault", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if f.Argument != c.argument {
				t.Errorf("the fault is of argument %d, want %d: %v", f.Argument, c.argument, err)
			}
		})
	}
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	_, err := run(t, NewDevice(Options{Output: &out}), `mov.b64 %SPL, depot; cvta.local.u64 %SP, %SPL; add.u64 %rd3, %SP, 0; add.u64 %rd4, %SPL, 0;
		cvt.rn.f64.u32 %rd5, %r0; st.local.u32 [%rd4], %r0; st.local.f64 [%rd4+8], %rd5; mov.u64 %rd6, format; cvta.global.u64 %rd6, %rd6;
		setp.gt.u32 %p1, %r0, 1; @%p1 bra $L1; {
		.param .b64 param0; st.param.b64 [param0], %rd6; .param .b64 param1; st.param.b64 [param1], %rd3; .param .b32 retval0;
		call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r1, [retval0]; }
		$L1:`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "i=0 f=0.00 %\ni=1 f=1.00 %\n"; out.String() != want {
		t.Errorf("the kernel prints %q, want %q", out.String(), want)
	}
}

func TestCancel(t *testing.T) {
	d := NewDevice(Options{})
	m, err := d.Load(body("$L1: add.u32 %r1, %r1, 1; bra $L1;"))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.Entry("k")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	err = e.Launch(ctx, Config{Grid: Dim{100, 1, 1}, Block: Dim{64, 1, 1}, Params: params(uint64(0))})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a kernel without an end gives %v", err)
	}
}

func TestDivergence(t *testing.T) {
	// Each lane counts down from its number, then all store at once: lanes leave the loop one after another.
	got, err := run(t, NewDevice(Options{}), `mov.u32 %r1, %r0; mov.u32 %r2, 0;
		$L1: setp.eq.u32 %p1, %r1, 0; @%p1 bra $L2; and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra $L3; add.u32 %r2, %r2, 100; bra $L4;
		$L3: add.u32 %r2, %r2, 1; $L4: sub.u32 %r1, %r1, 1; bra $L1;
		$L2: activemask.b32 %r4; popc.b32 %r5, %r4; add.u32 %r2, %r2, %r5; st.global.u32 [%rd2], %r2;`)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := uint32(i/2 + (i+1)/2*100 + 32); v != want {
			t.Fatalf("thread %d has %d, want %d", i, v, want)
		}
	}
}

// TestBarrierAfterExit lets some lanes of a warp end before the others come to a barrier.
func TestBarrierAfterExit(t *testing.T) {
	got, err := run(t, NewDevice(Options{}), "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @!%p1 bra $L1; bar.sync 0; st.global.u32 [%rd2], 7; ret; $L1: ")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if want := []uint32{7, uint32(i)}[i%2]; v != want {
			t.Errorf("thread %d has %d, want %d", i, v, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"instruction": {"frobnicate.u32 %r1, %r0;", `kernel "k", ptx line 22 (kernel.py:7): frobnicate.u32: the instruction is not supported`},
		"modifier":    {"ld.global.sideways.u32 %r1, [%rd0];", `modifier ".sideways" is not supported`},
		"form":        {"add.rn.u32 %r1, %r0, %r0;", "add.rn.u32: "},
		"register":    {"add.u32 %r99, %r0, %r0;", `"%r99" is neither declared`},
		"width":       {"add.u32 %rd3, %r0, %r0;", "%rd3 is not a register for a result of 32 bits"},
		"label":       {"bra $L9;", `label "$L9" is not defined`},
		"operands":    {"add.u32 %r1, %r0;", "operands"},
		"function":    {"call.uni nobody;", `function "nobody" is not defined`},
		"local":       {".local .b8 big[600000];", "bytes of local memory per thread"},
		"parameter":   {"ld.param.u32 %r1, [p+8];", "load of 4 bytes at 8 of a parameter of 8"},
	} {
		_, err := NewDevice(Options{}).Load(body(c.lines))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: loading gives %v, want %q", name, err, c.want)
		}
	}
}

func TestAdmission(t *testing.T) {
	d := NewDevice(Options{})
	e := kernel(t, d, "runtime/testdata/add.sm80.ptx", "add_kernel")
	good := func() Config {
		return Config{Grid: Dim{1, 1, 1}, Block: Dim{128, 1, 1}, Params: params(uint64(0), uint64(0), uint64(0), uint32(0), uint64(0), uint64(0))}
	}
	for want, change := range map[string]func(c *Config){
		"":                               func(*Config) {},
		"requires [128 1 1]":             func(c *Config) { c.Block.X = 64 },
		"1 to 1024":                      func(c *Config) { c.Block.Y = 9 },
		"5 parameters; the kernel has 6": func(c *Config) { c.Params = c.Params[:5] },
		"parameter 3 (add_kernel_param_3) of 8 bytes; the kernel has 4": func(c *Config) { c.Params[3] = make([]byte, 8) },
		"bytes of shared memory": func(c *Config) { c.Shared = 1 << 20 },
	} {
		c := good()
		change(&c)
		err := e.Launch(context.Background(), c)
		if (err == nil) != (want == "") || !strings.Contains(fmt.Sprint(err), want) && want != "" {
			t.Errorf("the launch gives %v, want %q", err, want)
		}
	}
}

// TestShuffleOfTwoGroups: halves of a warp may shuffle together, each with its own mask.
func TestShuffleOfTwoGroups(t *testing.T) {
	got, err := run(t, NewDevice(Options{}), `and.b32 %r3, %r0, 16; setp.eq.u32 %p1, %r3, 0; selp.b32 %r1, 0x0000ffff, 0xffff0000, %p1;
		shfl.sync.bfly.b32 %r2, %r0, 1, 31, %r1; st.global.u32 [%rd2], %r2;`)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != uint32(i^1) {
			t.Errorf("thread %d has %d, want %d", i, v, i^1)
		}
	}
}

// TestEpochsAreReused: what was marked as many barriers ago as there are epochs is not of the present one.
func TestEpochsAreReused(t *testing.T) {
	c := &cta{races: newRaces(4)}
	c.shared.data = alignedBytes(4)
	a := &access{size: 4}
	first, second := &warp{cta: c, exec: 1}, &warp{cta: c, exec: 1, index: 1}
	if !c.races.write(first, a) {
		t.Fatal(first.fault)
	}
	for range 1 << epochBits {
		c.nextEpoch()
	}
	if now := second.mark(); c.races.writer[0].conflicts(now) {
		t.Error("a write before the barriers conflicts with an access after them")
	}
}
