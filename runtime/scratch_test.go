package kernrt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

func scratch(global, profile kernrt.Scratch) func(*kernrt.Image) {
	return func(m *kernrt.Image) { m.GlobalScratch, m.ProfileScratch = global, profile }
}

// scratchOf is the addresses of global and profile scratch that a launch was given.
func scratchOf(l fakecuda.Launch) (global, profile uint64) {
	hidden := l.Params[len(l.Params)-2:]
	return binary.NativeEndian.Uint64(hidden[0]), binary.NativeEndian.Uint64(hidden[1])
}

// allocated is the sizes of the memory that is alive, ascending.
func allocated(d *fakecuda.Driver) []int {
	var sizes []int
	for _, leak := range d.Leaks() {
		if leak.Kind == "memory" {
			sizes = append(sizes, int(leak.Amount))
		}
	}
	slices.Sort(sizes)
	return sizes
}

func wantAllocated(t *testing.T, d *fakecuda.Driver, want ...int) {
	t.Helper()
	if diff := cmp.Diff(want, allocated(d)); diff != "" {
		t.Errorf("memory that is alive (-want +got):\n%s", diff)
	}
}

func TestScratchIsOfTheGridsSize(t *testing.T) {
	none := kernrt.Scratch{}
	tests := []struct {
		name            string
		global, profile kernrt.Scratch
		cluster         int
		grid            kernrt.Grid
		want            []int
	}{
		{"grid", kernrt.Scratch{Size: 384, Align: 128}, none, 1, kernrt.Grid3D(2, 3, 5), []int{384 * 30}},
		{"grid of clusters", kernrt.Scratch{Size: 384, Align: 128}, none, 4, kernrt.Grid2D(2, 3), []int{384 * 24}},
		{"no alignment", kernrt.Scratch{Size: 7}, none, 1, kernrt.Grid1D(3), []int{21}},
		{"the driver's alignment", kernrt.Scratch{Size: 256, Align: 256}, none, 1, kernrt.Grid1D(3), []int{768}},
		{"a larger alignment", kernrt.Scratch{Size: 1024, Align: 1024}, none, 1, kernrt.Grid1D(3), []int{3072 + 768}},
		{"a huge alignment", kernrt.Scratch{Size: 16, Align: 1 << 16}, none, 1, kernrt.Grid1D(1), []int{16 + 1<<16 - 256}},
		{"profile", none, kernrt.Scratch{Size: 128, Align: 16}, 1, kernrt.Grid1D(2), []int{256}},
		{"both", kernrt.Scratch{Size: 64, Align: 2048}, kernrt.Scratch{Size: 128, Align: 512}, 2, kernrt.Grid1D(2), []int{64*4 + 2048 - 256, 128*4 + 512 - 256}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _, stream := onDevice0(t)
			k := add(t, scratch(test.global, test.profile), func(m *kernrt.Image) { m.Cluster = [3]int{test.cluster, 1, 1} })
			must(t, kernrt.Launch(k, stream, test.grid, addArgsOf(16)))
			slices.Sort(test.want)
			wantAllocated(t, d, test.want...)
			global, profile := scratchOf(only(t, d))
			for _, s := range []struct {
				address uint64
				need    kernrt.Scratch
			}{{global, test.global}, {profile, test.profile}} {
				if (s.address != 0) != (s.need.Size > 0) || s.need.Align > 0 && s.address%uint64(s.need.Align) != 0 {
					t.Errorf("address %#x for %+v", s.address, s.need)
				}
				if s.address != 0 && !holds(d, s.address, uint64(s.need.Size)) {
					t.Errorf("address %#x lies in no memory", s.address)
				}
			}
		})
	}
}

// holds reports whether so many bytes from address are in one allocation.
func holds(d *fakecuda.Driver, address, size uint64) bool {
	return slices.ContainsFunc(d.Leaks(), func(l fakecuda.Leak) bool {
		return l.Kind == "memory" && uint64(l.Handle) <= address && address+size <= uint64(l.Handle)+l.Amount
	})
}

func TestScratchGrowsAndStays(t *testing.T) {
	for _, pools := range []bool{true, false} {
		d := driver(t)
		name, alloc := "with pools", "cuMemAllocAsync"
		if !pools {
			name, alloc = "without pools", "cuMemAlloc_v2"
			d.SetAttribute(0, 115, 0)
		}
		t.Run(name, func(t *testing.T) {
			stream := newStream(t, open(t, 0))
			k := add(t, scratch(kernrt.Scratch{Size: 100, Align: 4}, kernrt.Scratch{}))
			launch := func(grid int, allocations int, alive ...int) uint64 {
				t.Helper()
				d.Reset()
				must(t, kernrt.Launch(k, stream, kernrt.Grid1D(grid), addArgsOf(16)))
				if n := d.Count(alloc); n != allocations || d.Count("cuMemAlloc_v2")+d.Count("cuMemAllocAsync") != allocations {
					t.Errorf("grid %d: %d allocations, want %d", grid, n, allocations)
				}
				if d.Count("cuMemsetD8Async") != 0 {
					t.Errorf("grid %d: scratch was filled", grid)
				}
				if d.Count("cuStreamSynchronize") != 0 {
					t.Errorf("grid %d: the launch waited", grid)
				}
				wantAllocated(t, d, alive...)
				global, _ := scratchOf(only(t, d))
				return global
			}
			first := launch(10, 1, 1000)
			for _, grid := range []int{10, 3, 10} {
				if launch(grid, 0, 1000) != first {
					t.Error("a steady launch was given other memory")
				}
			}
			if pools {
				launch(11, 1, 2000) // doubled; outgrown memory is freed in the stream's order
				launch(20, 0, 2000)
				launch(100, 1, 10000)
				launch(1, 0, 10000)
			} else {
				launch(11, 1, 1000, 2000) // queued launches may still use what was outgrown
				launch(20, 0, 1000, 2000)
				launch(100, 1, 1000, 2000, 10000)
				launch(1, 0, 1000, 2000, 10000)
			}
			d.Reset()
			must(t, stream.Close())
			calls := d.Calls()
			if len(calls) == 0 || slices.ContainsFunc(calls, func(c fakecuda.Call) bool { return c.Name == "cuStreamDestroy_v2" }) != true {
				t.Error("the stream was not destroyed")
			}
			wantAllocated(t, d)
			must(t, stream.Device().Close())
		})
	}
}

func TestScratchThatDoesNotFit(t *testing.T) {
	d, dev, stream := onDevice0(t)
	k := add(t, scratch(kernrt.Scratch{Size: 1000}, kernrt.Scratch{}))
	launch := func(grid int) error { return kernrt.Launch(k, stream, kernrt.Grid1D(grid), addArgsOf(16)) }
	d.SetMemory(0, 10_000)
	must(t, launch(4))
	must(t, launch(5)) // not doubled, as 8,000 do not fit beside 4,000
	wantAllocated(t, d, 5000)
	err := launch(20)
	wantError(t, err, kernrt.ErrOutOfMemory, loadedOnH200+"(20, 1, 1): scratch of 20000 bytes: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")
	wantCall(t, err, "cuMemAllocAsync")
	must(t, launch(5))
	wantAllocated(t, d, 5000)
	must(t, dev.Close())
}

// readDevice returns memory of device 0.
func readDevice(t *testing.T, d *fakecuda.Driver, address uint64, n int) []byte {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var context uintptr
	d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&context)), 0)
	defer d.Call("cuDevicePrimaryCtxRelease_v2", 0)
	d.Call("cuCtxSetCurrent", context)
	b := make([]byte, n)
	if r := d.Call("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&b[0])), uintptr(address), uintptr(n), 0); r != 0 {
		t.Fatalf("reading %d bytes at %#x: CUresult %d", n, address, r)
	}
	return b
}

func TestScratchIsFilledWhereAsked(t *testing.T) {
	tests := []struct {
		name   string
		debug  string
		option []kernrt.StreamOption
		want   byte
	}{
		{"zeroed", "", []kernrt.StreamOption{kernrt.WithZeroedScratch()}, 0},
		{"poisoned", "1", nil, 0xa5},
		{"zeroed, not poisoned", "1", []kernrt.StreamOption{kernrt.WithZeroedScratch()}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KERNGEN_DEBUG", test.debug)
			d := driver(t)
			dev := open(t, 0)
			stream := newStream(t, dev, test.option...)
			x, err := kernrt.Alloc[float32](dev, 4)
			must(t, err)
			k := add(t, scratch(kernrt.Scratch{Size: 100, Align: 1024}, kernrt.Scratch{Size: 40}))
			args := addArgs{x.Ptr(), x.Ptr(), x.Ptr(), 16}
			for i := range 2 {
				must(t, kernrt.Launch(k, stream, kernrt.Grid1D(3), &args))
				global, profile := scratchOf(d.Launches()[i])
				for address, size := range map[uint64]int{global: 300, profile: 120} {
					if got := readDevice(t, d, address, size); !bytes.Equal(got, bytes.Repeat([]byte{test.want}, size)) {
						t.Errorf("launch %d: scratch holds % x", i, got)
					}
				}
			}
			if n := d.Count("cuMemsetD8Async"); n != 4 {
				t.Errorf("%d fills, want 4", n)
			}
		})
	}
}

func TestNoScratchInACapture(t *testing.T) {
	for name, options := range map[string][]kernrt.StreamOption{"plain": nil, "zeroed": {kernrt.WithZeroedScratch()}} {
		t.Run(name, func(t *testing.T) {
			d, dev, _ := onDevice0(t)
			stream := newStream(t, dev, options...)
			plain, k := add(t), add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{Size: 64}))
			// Before the stream has scratch, once it has, and where it must grow.
			for _, grid := range []int{8, 8, 100} {
				d.Reset()
				d.SetCapture(stream.Handle(), 1)
				before := allocated(d)
				err := kernrt.Launch(k, stream, kernrt.Grid1D(grid), addArgsOf(16))
				if !errors.Is(err, kernrt.ErrCapturing) {
					t.Errorf("error %v is not %q", err, kernrt.ErrCapturing)
				}
				must(t, kernrt.Launch(plain, stream, kernrt.Grid1D(grid), addArgsOf(16)))
				if len(only(t, d).Params) != 6 || d.Count("cuMemsetD8Async") != 0 || d.Count("cuMemAllocAsync") != 0 {
					t.Error("the capture holds more than the plain launch")
				}
				wantAllocated(t, d, before...)
				d.SetCapture(stream.Handle(), 0)
				must(t, kernrt.Launch(k, stream, kernrt.Grid1D(8), addArgsOf(16)))
			}
			d.FailNext("cuStreamIsCapturing", 906, 0)
			wantCall(t, kernrt.Launch(k, stream, kernrt.Grid1D(8), addArgsOf(16)), "cuStreamIsCapturing")
		})
	}
}

func TestScratchOfConcurrentLaunches(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{Size: 32}))
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 40 {
				if err := kernrt.Launch(k, stream, kernrt.Grid1D(1+g*i), addArgsOf(16)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := len(d.Launches()); n != 320 {
		t.Errorf("%d launches, want 320", n)
	}
	if n := len(allocated(d)); n != 2 {
		t.Errorf("%d buffers, want one of each kind", n)
	}
}

func TestScratchIsTheStreams(t *testing.T) {
	d, dev, one := onDevice0(t)
	two := newStream(t, dev)
	k := add(t, scratch(kernrt.Scratch{Size: 64}, kernrt.Scratch{}))
	for _, s := range []*kernrt.Stream{one, two} {
		must(t, kernrt.Launch(k, s, kernrt.Grid1D(1), addArgsOf(16)))
	}
	first, _ := scratchOf(d.Launches()[0])
	second, _ := scratchOf(d.Launches()[1])
	if first == second {
		t.Error("two streams share scratch memory")
	}
	must(t, one.Close())
	wantAllocated(t, d, 64)
}

func TestOutgrownScratchThatCannotBeFreedIsKept(t *testing.T) {
	d, dev, stream := onDevice0(t)
	k := add(t, scratch(kernrt.Scratch{Size: 100, Align: 4}, kernrt.Scratch{}))
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(10), addArgsOf(16)))
	d.FailNext("cuMemFreeAsync", 900, 0)
	if err := kernrt.Launch(k, stream, kernrt.Grid1D(100), addArgsOf(16)); err == nil {
		t.Error("the launch succeeded")
	}
	wantAllocated(t, d, 1000, 10000)
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(100), addArgsOf(16)))
	must(t, dev.Close())
	wantAllocated(t, d)
}

// A caller's memory is used as it is, by a struct's launches and by Args', into a
// graph too; what does not fit is refused.
func TestGivenScratch(t *testing.T) {
	d, dev, _ := onDevice0(t)
	b, err := kernrt.Alloc[uint8](dev, 1024)
	must(t, err)
	whole, err := b.Slice(0, 1024)
	must(t, err)
	stream := newStream(t, dev, kernrt.WithScratch(whole))
	k := add(t, scratch(kernrt.Scratch{Size: 100, Align: 4}, kernrt.Scratch{Size: 8, Align: 64}))
	x := kernrt.PtrFromAddr[float32](memory)
	args := newArgs(t, k, x, x, x, 16)
	d.Reset()
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(2), addArgsOf(16)))
	must(t, args.Launch(stream, kernrt.Grid1D(2)))
	for _, l := range d.Launches() {
		global, profile := scratchOf(l)
		base := whole.Ptr().Addr()
		if global != base || profile != (base+200+63)&^63 {
			t.Errorf("scratch at %#x and %#x of %#x", global, profile, base)
		}
	}
	if d.Count("cuMemAllocAsync")+d.Count("cuMemAlloc_v2")+d.Count("cuMemsetD8Async") != 0 {
		t.Error("the stream allocated or filled memory")
	}
	wantError(t, kernrt.Launch(k, stream, kernrt.Grid1D(11), addArgsOf(16)), kernrt.ErrLimit,
		loadedOnH200+fmt.Sprintf("(11, 1, 1): the launch needs at least 1100 bytes of scratch memory at %v, of which WithScratch gave the stream 1024", whole.Ptr()))
	d.SetCapture(stream.Handle(), 1)
	must(t, args.Launch(stream, kernrt.Grid1D(1)))
	d.SetCapture(stream.Handle(), 0)

	zeroed := newStream(t, dev, kernrt.WithScratch(whole), kernrt.WithZeroedScratch())
	d.Reset()
	must(t, args.Launch(zeroed, kernrt.Grid1D(2)))
	if fills := d.Fills(); len(fills) != 2 || fills[0].Count != 200 || fills[1].Count != 16 {
		t.Errorf("fills %+v", fills)
	}
	d.FailNext("cuMemsetD8Async", 999, 1)
	wantCall(t, args.Launch(zeroed, kernrt.Grid1D(2)), "cuMemsetD8Async")

	must(t, b.Free())
	wantError(t, args.Launch(stream, kernrt.Grid1D(1)), kernrt.ErrClosed, loadedOnH200+"(1, 1, 1): the stream's scratch memory is freed")
	_, err = dev.NewStream(kernrt.WithScratch(kernrt.Slice[uint8]{}))
	wantError(t, err, kernrt.ErrArgument, "new stream: the scratch memory is empty")
	d.SetDeviceCount(2)
	other := open(t, 1)
	c, err := kernrt.Alloc[uint8](other, 8)
	must(t, err)
	there, err := c.Slice(0, 8)
	must(t, err)
	if _, err = dev.NewStream(kernrt.WithScratch(there)); !errors.Is(err, kernrt.ErrOtherDevice) {
		t.Errorf("memory of another device: %v", err)
	}
}
