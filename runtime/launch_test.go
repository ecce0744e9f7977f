package kernrt_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

// only is the one launch that was recorded.
func only(t *testing.T, d *fakecuda.Driver) fakecuda.Launch {
	t.Helper()
	launches := d.Launches()
	if len(launches) != 1 {
		t.Fatalf("%d launches, want 1", len(launches))
	}
	return launches[0]
}

func bytesOf(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

type scalarsArgs struct {
	Out kernrt.Ptr[float64]
	B   bool
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	U8  uint8
	U16 uint16
	U32 uint32
	U64 uint64
	F16 kernrt.Float16
	BF  kernrt.BFloat16
	F32 float32
	F64 float64
}

func scalars(t *testing.T) *kernrt.Kernel {
	k := &kernrt.Kernel{Name: "scalars_kernel"}
	var args []int
	for i, typ := range []string{"*fp64", "i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"} {
		k.Params = append(k.Params, kernrt.Param{Name: "p_" + typ, Type: typ})
		args = append(args, i)
	}
	k.Variants = []kernrt.Variant{{Images: []kernrt.Image{{
		Target: "sm_90a", Code: code(t, "scalars.sm90.cubin"), Symbol: "scalars_kernel", Args: args, Hidden: 2, NumWarps: 1,
	}}}}
	return k
}

func TestEveryArgumentArrivesAsItIs(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := scalars(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		d.Reset()
		args := scalarsArgs{
			Out: kernrt.PtrFromAddr[float64](r.Uint64() | 1), B: r.IntN(2) == 1,
			I8: int8(r.Uint32()), I16: int16(r.Uint32()), I32: int32(r.Uint32()), I64: int64(r.Uint64()),
			U8: uint8(r.Uint32()), U16: uint16(r.Uint32()), U32: r.Uint32(), U64: r.Uint64(),
			F16: kernrt.Float16(r.Uint32()), BF: kernrt.BFloat16(r.Uint32()), F32: r.Float32(), F64: r.NormFloat64(),
		}
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &args))
		none := make([]byte, 8) // a scratch pointer, passed always and null without need
		want := [][]byte{
			bytesOf(args.Out.Addr()), bytesOf(args.B), bytesOf(args.I8), bytesOf(args.I16), bytesOf(args.I32), bytesOf(args.I64),
			bytesOf(args.U8), bytesOf(args.U16), bytesOf(args.U32), bytesOf(args.U64), bytesOf(args.F16), bytesOf(args.BF),
			bytesOf(args.F32), bytesOf(args.F64), none, none,
		}
		if diff := cmp.Diff(want, only(t, d).Params); diff != "" {
			t.Fatalf("%+v (-want +got):\n%s", args, diff)
		}
	}
}

// attribute is a CUlaunchAttribute with the first numbers of its value.
type attribute struct {
	ID    uint32
	Value [3]uint32
}

func attributes(l fakecuda.Launch, numbers map[uint32]int) []attribute {
	var all []attribute
	for _, a := range l.Attributes {
		got := attribute{ID: a.ID}
		for i := range numbers[a.ID] {
			got.Value[i] = binary.NativeEndian.Uint32(a.Value[4*i:])
		}
		all = append(all, got)
	}
	return all
}

func TestLaunchIsWhatTheImageSays(t *testing.T) {
	pdl, cooperative := attribute{6, [3]uint32{1}}, attribute{2, [3]uint32{1}}
	spread := attribute{5, [3]uint32{1}}
	numbers := map[uint32]int{2: 1, 4: 3, 5: 1, 6: 1}
	wide := func(m *kernrt.Image) {
		m.Target, m.PTX, m.Cluster = "sm_80", true, [3]int{8, 2, 1}
		m.Code, m.Symbol = ptx(".reqntid 256", "*fp16", "*fp16", "*fp16", "i32", "i32", "i32", "i32", "i32", "i32"), "kernel"
	}
	tests := []struct {
		name        string
		kernel      string
		change      func(*kernrt.Image)
		grid        kernrt.Grid
		wantGrid    [3]uint32
		wantBlock   uint32
		wantShared  uint32
		want        []attribute
		nonPortable int // how often the function was told to allow large clusters
	}{
		{"plain", "add", func(*kernrt.Image) {}, kernrt.Grid3D(7, 5, 3), [3]uint32{7, 5, 3}, 128, 0, nil, 0},
		{"largest", "add", func(*kernrt.Image) {}, kernrt.Grid3D(2147483647, 65535, 65535), [3]uint32{2147483647, 65535, 65535}, 128, 0, nil, 0},
		{"cooperative", "add", func(m *kernrt.Image) { m.Cooperative = true }, kernrt.Grid2D(4, 2), [3]uint32{4, 2, 1}, 128, 0, []attribute{cooperative}, 0},
		{"PDL", "add", func(m *kernrt.Image) { m.PDL = true }, kernrt.Grid1D(1), [3]uint32{1, 1, 1}, 128, 0, []attribute{pdl}, 0},
		{"PDL with scratch memory", "add", func(m *kernrt.Image) {
			m.PDL, m.GlobalScratch = true, kernrt.Scratch{Size: 16}
		}, kernrt.Grid1D(1), [3]uint32{1, 1, 1}, 128, 0, nil, 0},
		{"PDL with profile scratch memory", "add", func(m *kernrt.Image) {
			m.PDL, m.ProfileScratch = true, kernrt.Scratch{Size: 16}
		}, kernrt.Grid1D(1), [3]uint32{1, 1, 1}, 128, 0, nil, 0},
		{"cluster of one", "add", func(m *kernrt.Image) { m.Cluster = [3]int{1, 1, 1} }, kernrt.Grid1D(5), [3]uint32{5, 1, 1}, 128, 0, nil, 0},
		{"cluster", "matmul", func(*kernrt.Image) {}, kernrt.Grid2D(5, 3), [3]uint32{10, 3, 1}, 256, 98304,
			[]attribute{{4, [3]uint32{2, 1, 1}}, spread}, 0},
		{"cluster in two dimensions beyond what is portable", "matmul", wide, kernrt.Grid3D(5, 3, 2), [3]uint32{40, 6, 2}, 256, 98304,
			[]attribute{{4, [3]uint32{8, 2, 1}}, spread}, 1},
		{"all at once", "matmul", func(m *kernrt.Image) { m.PDL, m.Cooperative = true, true }, kernrt.Grid1D(1), [3]uint32{2, 1, 1}, 256, 98304,
			[]attribute{pdl, cooperative, {4, [3]uint32{2, 1, 1}}, spread}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _, stream := onDevice0(t)
			if test.kernel == "add" {
				must(t, kernrt.Launch(add(t, test.change), stream, test.grid, addArgsOf(1024)))
			} else {
				must(t, kernrt.Launch(matmul(t, test.change), stream, test.grid, matmulArgsOf()))
			}
			l := only(t, d)
			if l.Grid != test.wantGrid || l.Block != [3]uint32{test.wantBlock, 1, 1} || l.Shared != test.wantShared || l.Stream != stream.Handle() {
				t.Errorf("grid %v block %v shared %d stream %#x, want grid %v block %d shared %d stream %#x",
					l.Grid, l.Block, l.Shared, l.Stream, test.wantGrid, test.wantBlock, test.wantShared, stream.Handle())
			}
			if diff := cmp.Diff(test.want, attributes(l, numbers)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			sets := d.Count("cuFuncSetAttribute")
			if test.kernel == "matmul" {
				sets-- // its shared memory
			}
			if sets != test.nonPortable {
				t.Errorf("%d other function attributes were set, want %d", sets, test.nonPortable)
			}
		})
	}
}

func currentContext(d *fakecuda.Driver) uintptr {
	var c uintptr
	d.Call("cuCtxGetCurrent", uintptr(unsafe.Pointer(&c)))
	return c
}

func TestContextIsCurrentForTheCallAlone(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := driver(t)
	d.SetDeviceCount(2)
	var ours, other uintptr
	for i, c := range []*uintptr{&ours, &other} {
		d.Call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(c)), uintptr(i))
		defer d.Call("cuDevicePrimaryCtxRelease_v2", uintptr(i))
	}
	defer d.Call("cuCtxSetCurrent", 0)
	calls := []struct {
		name string
		make func(*kernrt.Stream) error
	}{
		{"launch", func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid1D(1), addArgsOf(16)) }},
		{"launch with scratch memory", func(s *kernrt.Stream) error {
			return kernrt.Launch(add(t, func(m *kernrt.Image) { m.GlobalScratch.Size = 8 }), s, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"allocation", func(s *kernrt.Stream) error { _, err := kernrt.Alloc[int32](s.Device(), 9); return err }},
		{"synchronisation", func(s *kernrt.Stream) error { return s.Synchronize() }},
	}
	for _, before := range []struct {
		name          string
		context, want uintptr
	}{
		{"none, which keeps ours", 0, ours},
		{"ours", ours, ours},
		{"another", other, other},
	} {
		for _, call := range calls {
			t.Run(call.name+" with "+before.name, func(t *testing.T) {
				dev := open(t, 0)
				defer dev.Close()
				stream := newStream(t, dev)
				d.Call("cuCtxSetCurrent", before.context)
				must(t, call.make(stream))
				if got := currentContext(d); got != before.want {
					t.Errorf("context %#x is current afterwards, want %#x", got, before.want)
				}
				for _, l := range d.Launches() {
					if l.Context != ours {
						t.Errorf("launched in context %#x, want %#x", l.Context, ours)
					}
				}
			})
		}
	}
	// A driver that refuses the way back is heard of.
	dev := open(t, 0)
	defer dev.Close()
	stream := newStream(t, dev)
	d.Call("cuCtxSetCurrent", other)
	d.FailNext("cuCtxSetCurrent", 999, 1)
	wantCall(t, stream.Synchronize(), "cuCtxSetCurrent")
}

func TestGoroutinesNeedNoThread(t *testing.T) {
	d, dev, stream := onDevice0(t)
	k := add(t)
	var wait sync.WaitGroup
	for g := range 16 {
		wait.Go(func() {
			own, err := dev.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 50 {
				s := stream
				if i%2 == 0 {
					s = own
				}
				if err := kernrt.Launch(k, s, kernrt.Grid1D(g+1), addArgsOf(int32(16*i))); err != nil {
					t.Error(err)
				}
				runtime.Gosched()
			}
			if err := own.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	launches := d.Launches()
	if len(launches) != 16*50 || len(d.Loads()) != 1 {
		t.Errorf("%d launches and %d loads, want 800 and 1", len(launches), len(d.Loads()))
	}
	count := map[uint32]int{}
	for _, l := range launches {
		count[l.Grid[0]]++
	}
	for g := range uint32(16) {
		if count[g+1] != 50 {
			t.Errorf("%d launches of grid %d, want 50", count[g+1], g+1)
		}
	}
}

// wantCall wants an error that tells which driver function failed.
func wantCall(t *testing.T, err error, call string) {
	t.Helper()
	var de *kernrt.DriverError
	if !asDriverError(err, &de) || de.Call != call {
		t.Errorf("error %v, want one of %s", err, call)
	}
}
