//go:build cgo && linux

package fakecuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

var shared = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fakecuda")
	if err != nil {
		return "", err
	}
	return Build(dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := shared(); err == nil {
		os.RemoveAll(filepath.Dir(filepath.Dir(path)))
	}
	os.Exit(code)
}

// open returns a reset fake, initialised and with a current context on this
// test's thread.
func open(t *testing.T) (*Driver, uintptr) {
	t.Helper()
	path, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	d.Reset()
	must(t, d.Call("cuInit", 0))
	var context uintptr
	must(t, d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), 0))
	must(t, d.Call("cuCtxSetCurrent", context))
	t.Cleanup(func() {
		d.Reset()
		must(t, d.Call("cuDevicePrimaryCtxRelease_v2", 0))
		if leaks := d.Leaks(); len(leaks) != 0 {
			t.Errorf("still alive: %v", leaks)
		}
	})
	return d, context
}

func must(t *testing.T, result int) {
	t.Helper()
	want(t, result, 0)
}

func want(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("got CUresult %d, want %d", got, want)
	}
}

func image(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "runtime", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return append(b, 0)
}

func load(t *testing.T, d *Driver, name, kernel string) uintptr {
	t.Helper()
	b := image(t, name)
	var module, function uintptr
	must(t, d.Call("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&b[0])), 0, 0, 0))
	symbol := append([]byte(kernel), 0)
	must(t, d.Call("cuModuleGetFunction", uintptr(unsafe.Pointer(&function)), module, uintptr(unsafe.Pointer(&symbol[0]))))
	return function
}

// As the driver's CUlaunchConfig and CUlaunchAttribute.
type config struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attributes  *attribute
	count       uint32
}

type attribute struct {
	id, _ uint32
	value [16]uint32
}

func launch(d *Driver, function uintptr, c *config, params ...[]byte) int {
	pointers := make([]unsafe.Pointer, len(params)+1)
	for i := range params {
		pointers[i] = unsafe.Pointer(&params[i][0])
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, p := range pointers[:len(params)] {
		pin.Pin(p)
	}
	if c.attributes != nil {
		pin.Pin(c.attributes)
	}
	return d.Call("cuLaunchKernelEx", uintptr(unsafe.Pointer(c)), function, uintptr(unsafe.Pointer(&pointers[0])), 0)
}

func TestParameterSizes(t *testing.T) {
	scalars := [][2]int{
		{0, 8}, {8, 1}, {9, 1}, {10, 2}, {12, 4}, {16, 8}, {24, 1}, {26, 2}, {28, 4}, {32, 8},
		{40, 2}, {42, 2}, {44, 4}, {48, 8}, {56, 8}, {64, 8},
	}
	add := [][2]int{{0, 8}, {8, 8}, {16, 8}, {24, 4}, {32, 8}, {40, 8}}
	tests := []struct {
		image, kernel string
		major         int
		want          [][2]int // offset, size
	}{
		{"scalars.sm90.cubin", "scalars_kernel", 9, scalars},
		{"scalars.sm90.ptx", "scalars_kernel", 9, scalars},
		{"add.sm80.cubin", "add_kernel", 8, add},
		{"add.sm80.ptx", "add_kernel", 9, add},
		{"add.sm90.cubin", "add_kernel", 9, add},
		{"add.sm100.cubin", "add_kernel", 10, add},
	}
	for _, test := range tests {
		t.Run(test.image, func(t *testing.T) {
			d, _ := open(t)
			d.SetAttribute(0, 75, test.major)
			function := load(t, d, test.image, test.kernel)
			var got [][2]int
			for i := uintptr(0); ; i++ {
				var offset, size uintptr
				if d.Call("cuFuncGetParamInfo", function, i, uintptr(unsafe.Pointer(&offset)), uintptr(unsafe.Pointer(&size))) != 0 {
					break
				}
				got = append(got, [2]int{int(offset), int(size)})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImagesOfOtherDevicesAreRefused(t *testing.T) {
	tests := []struct {
		image              string
		major, minor, cuda int
		want               int
		log                string
	}{
		{"add.sm90.cubin", 9, 0, 13000, 0, ""},
		{"add.sm90.cubin", 10, 0, 13000, 209, ""},
		{"add.sm90.cubin", 8, 0, 13000, 209, ""},
		{"add.sm80.cubin", 8, 6, 13000, 0, ""},
		{"add.sm80.cubin", 9, 0, 13000, 209, ""},
		{"add.sm100.cubin", 10, 0, 13000, 0, ""},
		{"add.sm100.cubin", 10, 3, 13000, 209, ""},
		{"add.sm80.ptx", 9, 0, 13000, 0, ""},
		{"add.sm80.ptx", 7, 5, 13000, 218, "fake driver: the target is newer than the device"},
		{"add.sm90.ptx", 9, 0, 12080, 0, ""},
		{"add.sm90.ptx", 9, 0, 12040, 222, "fake driver: the PTX version is newer than the driver"},
		{"add.sm90.ptx", 10, 0, 13000, 218, "fake driver: the target runs on its very architecture only"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s on %d.%d with CUDA %d", test.image, test.major, test.minor, test.cuda), func(t *testing.T) {
			d, _ := open(t)
			d.SetAttribute(0, 75, test.major)
			d.SetAttribute(0, 76, test.minor)
			d.SetDriverVersion(test.cuda)
			b := image(t, test.image)
			var module uintptr
			log := make([]byte, 100)
			options := []int32{5, 6}
			values := []uintptr{uintptr(unsafe.Pointer(&log[0])), 100}
			got := d.Call("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&b[0])),
				2, uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])))
			text, _, _ := strings.Cut(string(log), "\x00")
			if got != test.want || text != test.log {
				t.Errorf("got %d %q, want %d %q", got, text, test.want, test.log)
			}
			if got == 0 {
				loads := d.Loads()
				if len(loads) != 1 || loads[0].PTX != strings.HasSuffix(test.image, "ptx") || len(loads[0].Options) != 2 {
					t.Errorf("recorded %+v", loads)
				}
			}
		})
	}
}

func TestRubbishIsNoImage(t *testing.T) {
	d, _ := open(t)
	for _, rubbish := range []string{"\x00", "rubbish\x00", ".version 8.7\n.target sm_80\n\x00", ".version 8.7\n.target sm_80\n.entry k(.param .u32\x00"} {
		b := []byte(rubbish)
		var module uintptr
		got := d.Call("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
		if got != 200 && got != 218 {
			t.Errorf("%q: got %d, want 200 or 218", rubbish, got)
		}
	}
}

func TestLaunchIsRecorded(t *testing.T) {
	d, context := open(t)
	function := load(t, d, "scalars.sm90.cubin", "scalars_kernel")
	var stream uintptr
	must(t, d.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&stream)), 1, 0))
	var params [][]byte
	var sent [][]byte // of each parameter only its own bytes
	for i, size := range []int{8, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 8} {
		p := bytes.Repeat([]byte{byte(i + 1)}, 16)
		params, sent = append(params, p), append(sent, p[:size])
	}
	pdl := attribute{id: 6, value: [16]uint32{1}}
	c := config{grid: [3]uint32{3, 2, 1}, block: [3]uint32{32, 1, 1}, shared: 1024, stream: stream, attributes: &pdl, count: 1}
	must(t, launch(d, function, &c, params...))

	got := d.Launches()
	value := [64]byte{}
	binary.NativeEndian.PutUint32(value[:], 1)
	expected := []Launch{{
		Function: "scalars_kernel", Module: got[0].Module,
		Grid: c.grid, Block: c.block, Shared: 1024, Stream: stream, Context: context, Thread: got[0].Thread,
		Attributes: []Attribute{{6, value}}, Params: sent,
	}}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("launches (-want +got):\n%s", diff)
	}
	if n := d.Count("cuLaunchKernelEx"); n != 1 {
		t.Errorf("%d launches in the log of calls, want 1", n)
	}
	if last := d.Calls()[len(d.Calls())-1]; last.Context != context || last.Thread != got[0].Thread {
		t.Errorf("last call %+v, want it in context %#x on thread %d", last, context, got[0].Thread)
	}

	d.Record(false)
	must(t, launch(d, function, &c, params...))
	if n := len(d.Launches()); n != 1 {
		t.Errorf("%d launches after one that was not recorded, want 1", n)
	}
	must(t, d.Call("cuStreamDestroy_v2", stream))
	want(t, launch(d, function, &c, params...), 400)
}

func TestLaunchIsChecked(t *testing.T) {
	dim := func(id uint32, dim ...uint32) *attribute {
		a := &attribute{id: id}
		copy(a.value[:], dim)
		return a
	}
	tests := []struct {
		name   string
		image  string
		change func(d *Driver, function uintptr, c *config)
		want   int
	}{
		{"as it should be", "add", func(*Driver, uintptr, *config) {}, 0},
		{"zero grid", "add", func(_ *Driver, _ uintptr, c *config) { c.grid[1] = 0 }, 1},
		{"grid beyond the limit", "add", func(_ *Driver, _ uintptr, c *config) { c.grid[2] = 65536 }, 1},
		{"another block than required", "add", func(_ *Driver, _ uintptr, c *config) { c.block[0] = 64 }, 1},
		{"shared memory not asked for", "add", func(_ *Driver, _ uintptr, c *config) { c.shared = 49153 }, 1},
		{"shared memory asked for", "add", func(d *Driver, f uintptr, c *config) {
			c.shared = 232448
			d.Call("cuFuncSetAttribute", f, 8, 232448)
		}, 0},
		{"more shared memory than the device's", "add", func(d *Driver, f uintptr, c *config) {
			c.shared = 232449
			d.Call("cuFuncSetAttribute", f, 8, 232449)
		}, 1},
		{"cluster that does not divide the grid", "add", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(4, 3, 1, 1) }, 912},
		{"cluster of 8", "add", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(4, 8, 1, 1) }, 0},
		{"cluster of 16", "add", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(4, 16, 1, 1) }, 912},
		{"cluster of 16, allowed", "add", func(d *Driver, f uintptr, c *config) {
			c.attributes = dim(4, 16, 1, 1)
			d.Call("cuFuncSetAttribute", f, 14, 1)
		}, 0},
		{"cluster on a device without", "add", func(d *Driver, _ uintptr, c *config) {
			c.attributes = dim(4, 8, 1, 1)
			d.SetAttribute(0, 120, 0)
		}, 1},
		{"cooperative", "add", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(2, 1) }, 0},
		{"cooperative beyond the device", "add", func(_ *Driver, _ uintptr, c *config) {
			c.attributes, c.grid = dim(2, 1), [3]uint32{132*16 + 1, 1, 1}
		}, 720},
		{"unknown attribute", "add", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(99, 1) }, 1},
		{"cluster that the kernel requires", "matmul", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(4, 2, 1, 1) }, 0},
		{"another cluster than required", "matmul", func(_ *Driver, _ uintptr, c *config) { c.attributes = dim(4, 4, 1, 1) }, 912},
		{"stream of another context", "add", func(d *Driver, _ uintptr, c *config) {
			var here, there uintptr
			d.SetDeviceCount(2)
			d.Call("cuCtxGetCurrent", uintptr(unsafe.Pointer(&here)))
			d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&there)), 1)
			d.Call("cuCtxSetCurrent", there)
			d.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&c.stream)), 1, 0)
			d.Call("cuCtxSetCurrent", here)
		}, 400},
		{"no context", "add", func(d *Driver, _ uintptr, _ *config) { d.Call("cuCtxSetCurrent", 0) }, 201},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _ := open(t)
			c := config{grid: [3]uint32{16, 1, 1}, block: [3]uint32{128, 1, 1}, count: 1}
			name, kernel := "add.sm90.cubin", "add_kernel"
			if test.image == "matmul" {
				name, kernel, c.block[0] = "matmul_cta2.sm90.cubin", "matmul_kernel", 256
			}
			function := load(t, d, name, kernel)
			test.change(d, function, &c)
			if c.attributes == nil {
				c.count = 0
			}
			params := make([][]byte, 11)
			for i := range params {
				params[i] = make([]byte, 8)
			}
			want(t, launch(d, function, &c, params...), test.want)
			d.Call("cuDevicePrimaryCtxRelease_v2", 1)
		})
	}
}

func TestMemory(t *testing.T) {
	d, _ := open(t)
	d.SetMemory(0, 1000)
	var p, q uintptr
	must(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 600))
	want(t, d.Call("cuMemAllocAsync", uintptr(unsafe.Pointer(&q)), 401, 0), 2)
	must(t, d.Call("cuMemAllocAsync", uintptr(unsafe.Pointer(&q)), 400, 0))
	want(t, d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&q)), 0), 1)

	in, out := bytes.Repeat([]byte{7}, 600), make([]byte, 600)
	must(t, d.Call("cuMemcpyHtoDAsync_v2", p, uintptr(unsafe.Pointer(&in[0])), 600, 0))
	must(t, d.Call("cuMemsetD8Async", p+1, 9, 2, 0))
	must(t, d.Call("cuMemcpyDtoDAsync_v2", q, p, 400, 0))
	must(t, d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&out[0])), q, 400, 0))
	in[1], in[2] = 9, 9
	if !bytes.Equal(in[:400], out[:400]) {
		t.Error("a copy there and back differs")
	}
	want(t, d.Call("cuMemcpyHtoDAsync_v2", p+1, uintptr(unsafe.Pointer(&in[0])), 600, 0), 1)
	want(t, d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&out[0])), p+599, 2, 0), 1)
	want(t, d.Call("cuMemsetD8Async", 64, 0, 1, 0), 1)

	var ordinal int32 = -1
	must(t, d.Call("cuPointerGetAttribute", uintptr(unsafe.Pointer(&ordinal)), 9, p+5))
	want(t, int(ordinal), 0)
	want(t, d.Call("cuPointerGetAttribute", uintptr(unsafe.Pointer(&ordinal)), 9, uintptr(unsafe.Pointer(&out[0]))), 1)

	want(t, d.Call("cuMemFree_v2", p+1), 1)
	must(t, d.Call("cuMemFree_v2", p))
	want(t, d.Call("cuMemFree_v2", p), 1)
	want(t, d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&out[0])), p, 1, 0), 1)
	if leaks := d.Leaks(); len(leaks) != 2 || leaks[1].Kind != "memory" || leaks[1].Handle != q || leaks[1].Amount != 400 {
		t.Errorf("alive: %+v, want the context and 400 bytes at %#x", leaks, q)
	}
	must(t, d.Call("cuMemFreeAsync", q, 0))
}

func TestFailuresOnCue(t *testing.T) {
	d, _ := open(t)
	d.FailNext("cuCtxSynchronize", 719, 1)
	must(t, d.Call("cuCtxSynchronize"))
	want(t, d.Call("cuCtxSynchronize"), 719)
	must(t, d.Call("cuCtxSynchronize"))
	for code := range 3 {
		d.FailNext("cuCtxSynchronize", 900+code, 0)
	}
	for code := range 3 {
		want(t, d.Call("cuCtxSynchronize"), 900+code)
	}
	d.FailAlways("*", 700)
	want(t, d.Call("cuCtxSynchronize"), 700)
	want(t, d.Call("cuMemFree_v2", 0), 700)
	d.Reset()
	must(t, d.Call("cuCtxSynchronize"))
}

func TestCapture(t *testing.T) {
	alloc := func(name string) func(d *Driver, stream, other uintptr) int {
		return func(d *Driver, stream, other uintptr) int {
			var p uintptr
			result := d.Call(name, uintptr(unsafe.Pointer(&p)), 64, stream)
			d.SetCapture(stream, 0)
			if p != 0 {
				d.Call("cuMemFree_v2", p)
			}
			return result
		}
	}
	sync := func(d *Driver, stream, _ uintptr) int { return d.Call("cuStreamSynchronize", stream) }
	tests := []struct {
		name    string
		relaxed bool // the thread's capture mode
		status  int  // before
		call    func(d *Driver, stream, other uintptr) int
		want    int
		after   int // 0: the call's own function ends the capture
	}{
		{"allocation in the stream's order", false, 1, alloc("cuMemAllocAsync"), 0, 0},
		{"allocation in another stream's order", false, 1, func(d *Driver, _, other uintptr) int {
			return alloc("cuMemAllocAsync")(d, other, 0)
		}, 900, 2},
		{"allocation", false, 1, alloc("cuMemAlloc_v2"), 900, 0},
		{"allocation by a relaxed thread", true, 1, alloc("cuMemAlloc_v2"), 0, 0},
		{"synchronisation", false, 1, sync, 900, 2},
		{"synchronisation by a relaxed thread", true, 1, sync, 900, 2},
		{"synchronisation of another stream", false, 1, func(d *Driver, _, other uintptr) int { return sync(d, other, 0) }, 900, 2},
		{"synchronisation of another stream by a relaxed thread", true, 1, func(d *Driver, _, other uintptr) int { return sync(d, other, 0) }, 0, 1},
		{"synchronisation of the context by a relaxed thread", true, 1, func(d *Driver, _, _ uintptr) int { return d.Call("cuCtxSynchronize") }, 900, 2},
		{"allocation in a spoilt capture", false, 2, alloc("cuMemAllocAsync"), 901, 0},
		{"fill of nothing in a spoilt capture", false, 2, func(d *Driver, stream, _ uintptr) int {
			return d.Call("cuMemsetD8Async", 0, 0, 0, stream)
		}, 901, 2},
		{"load", false, 1, func(d *Driver, _, _ uintptr) int {
			load(t, d, "add.sm90.cubin", "add_kernel")
			return 0
		}, 0, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _ := open(t)
			var stream, other uintptr
			must(t, d.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&stream)), 1, 0))
			must(t, d.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&other)), 1, 0))
			if test.relaxed {
				mode := int32(2)
				must(t, d.Call("cuThreadExchangeStreamCaptureMode", uintptr(unsafe.Pointer(&mode))))
				defer d.Call("cuThreadExchangeStreamCaptureMode", uintptr(unsafe.Pointer(&mode)))
			}
			d.SetCapture(stream, test.status)
			want(t, test.call(d, stream, other), test.want)
			var after int32
			must(t, d.Call("cuStreamIsCapturing", stream, uintptr(unsafe.Pointer(&after))))
			want(t, int(after), test.after)
		})
	}
}

func TestHandlesEnd(t *testing.T) {
	d, context := open(t)
	b := image(t, "add.sm90.cubin")
	var module, function, stream uintptr
	must(t, d.Call("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(&b[0])), 0, 0, 0))
	missing := []byte("nosuch\x00")
	want(t, d.Call("cuModuleGetFunction", uintptr(unsafe.Pointer(&function)), module, uintptr(unsafe.Pointer(&missing[0]))), 500)
	must(t, d.Call("cuModuleUnload", module))
	want(t, d.Call("cuModuleUnload", module), 400)
	want(t, d.Call("cuModuleGetFunction", uintptr(unsafe.Pointer(&function)), module, uintptr(unsafe.Pointer(&missing[0]))), 400)

	must(t, d.Call("cuStreamCreateWithPriority", uintptr(unsafe.Pointer(&stream)), 1, 0))
	must(t, d.Call("cuDevicePrimaryCtxRelease_v2", 0))
	want(t, d.Call("cuCtxSynchronize"), 709)
	must(t, d.Call("cuCtxSetCurrent", context))
	must(t, d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), 0))
	want(t, d.Call("cuStreamSynchronize", stream), 400)
}

func TestNothingBeforeInit(t *testing.T) {
	path, err := Build(t.TempDir(), "FAKE_VERSION=11070")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var n int32
	want(t, d.Call("cuDeviceGetCount", uintptr(unsafe.Pointer(&n))), 3)
	must(t, d.Call("cuDriverGetVersion", uintptr(unsafe.Pointer(&n))))
	want(t, int(n), 11070)
	d.SetDeviceCount(0)
	want(t, d.Call("cuInit", 0), 100)
	d.SetDeviceCount(2)
	must(t, d.Call("cuInit", 0))
	must(t, d.Call("cuDeviceGetCount", uintptr(unsafe.Pointer(&n))))
	want(t, int(n), 2)
	want(t, d.Call("cuDeviceGet", uintptr(unsafe.Pointer(&n)), 2), 101)
	for name, has := range map[string]bool{"cuMemAllocAsync": true, "cuLaunchKernelEx": false, "cuFuncGetParamInfo": false} {
		if d.Has(name) != has {
			t.Errorf("a driver of CUDA 11.7 has %s: %t, want %t", name, d.Has(name), has)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	d, context := open(t)
	function := load(t, d, "add.sm90.cubin", "add_kernel")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			d.Call("cuCtxSetCurrent", context)
			params := make([][]byte, 6)
			for i := range params {
				params[i] = make([]byte, 8)
			}
			for range 50 {
				var p uintptr
				if d.Call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), 64) != 0 || d.Call("cuMemFree_v2", p) != 0 {
					t.Error("allocation failed")
				}
				c := config{grid: [3]uint32{1, 1, 1}, block: [3]uint32{128, 1, 1}}
				if launch(d, function, &c, params...) != 0 {
					t.Error("launch failed")
				}
			}
		})
	}
	wait.Wait()
	if n := len(d.Launches()); n != 400 {
		t.Errorf("%d launches recorded, want 400", n)
	}
}
