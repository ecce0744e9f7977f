package kernrt_test

import (
	"encoding/binary"
	"math"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// wide is add_kernel with 64 bits for n, of which the image takes 32.
func wide(t *testing.T, n string) *kernrt.Kernel {
	k := add(t)
	k.Params = append([]kernrt.Param(nil), k.Params...)
	k.Params[3].Type = n
	k.Variants[0].Guards = []kernrt.Guard{{Param: 3, Is: kernrt.Fits32}}
	return k
}

type signedArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         int64
}

type unsignedArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         uint64
}

func TestFits32(t *testing.T) {
	d, _, stream := onDevice0(t)
	p := kernrt.PtrFromAddr[float32](memory)
	signed, unsigned := wide(t, "i64"), wide(t, "u64")
	last := func() []byte {
		launches := d.Launches()
		return launches[len(launches)-1].Params[3]
	}
	for _, n := range []int64{0, 1, -1, 1000, math.MaxInt32, math.MinInt32} {
		must(t, kernrt.Launch(signed, stream, kernrt.Grid1D(1), &signedArgs{p, p, p, n}))
		if got := last(); len(got) != 4 || int64(int32(binary.NativeEndian.Uint32(got))) != n {
			t.Errorf("%d is passed as % x", n, got)
		}
	}
	for _, n := range []uint64{0, 1, math.MaxInt32 + 1, math.MaxUint32} {
		must(t, kernrt.Launch(unsigned, stream, kernrt.Grid1D(1), &unsignedArgs{p, p, p, n}))
		if got := last(); len(got) != 4 || uint64(binary.NativeEndian.Uint32(got)) != n {
			t.Errorf("%d is passed as % x", n, got)
		}
	}
	launched := len(d.Launches())
	for n, text := range map[int64]string{
		math.MaxInt32 + 1: "n_elements = 2147483648 is not within 32 bits, as the kernel was compiled for",
		math.MinInt32 - 1: "n_elements = -2147483649 is not within 32 bits, as the kernel was compiled for",
		1 << 32:           "n_elements = 4294967296 is not within 32 bits, as the kernel was compiled for",
	} {
		wantError(t, kernrt.Launch(signed, stream, kernrt.Grid1D(1), &signedArgs{p, p, p, n}), kernrt.ErrArgument, onH200+"(1, 1, 1): "+text)
	}
	wantError(t, kernrt.Launch(unsigned, stream, kernrt.Grid1D(1), &unsignedArgs{p, p, p, math.MaxUint32 + 1}), kernrt.ErrArgument,
		onH200+"(1, 1, 1): n_elements = 4294967296 is not within 32 bits, as the kernel was compiled for")
	if n := len(d.Launches()); n != launched {
		t.Errorf("%d launches of values that do not fit", n-launched)
	}
}

// Of two variants the one that takes 32 bits is tried first.
func TestFits32Dispatch(t *testing.T) {
	d, _, stream := onDevice0(t)
	p := kernrt.PtrFromAddr[float32](memory)
	k := wide(t, "i64")
	second := k.Variants[0]
	second.Guards = []kernrt.Guard{{Param: 3, Is: kernrt.DivisibleBy16}, {Param: 3, Is: kernrt.Fits32}}
	second.Images = append([]kernrt.Image(nil), second.Images...)
	k.Variants = []kernrt.Variant{second, k.Variants[0]}
	k.Variants[0].Images[0].Shared = 256
	for n, shared := range map[int64]uint32{32: 256, 33: 0} {
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), &signedArgs{p, p, p, n}))
		launches := d.Launches()
		if got := launches[len(launches)-1].Shared; got != shared {
			t.Errorf("n = %d is launched with %d bytes of shared memory, want %d", n, got, shared)
		}
	}
}

func TestFits32Malformed(t *testing.T) {
	_, _, stream := onDevice0(t)
	k := wide(t, "i32")
	wantError(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)), kernrt.ErrMalformed,
		onH200+"(1, 1, 1): variant 1: guard within 32 bits does not suit parameter n_elements, a i32")
}
