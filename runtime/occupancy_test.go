package kernrt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// The fake's H200 has 132 multiprocessors of 2048 threads, and says no more than
// 16 CTAs of add_kernel's 128 threads run on one.
const addPerSM, addPrograms = 16, 16 * 132

func TestOccupancy(t *testing.T) {
	d, dev, stream := onDevice0(t)
	k := add(t)
	x := kernrt.PtrFromAddr[float32](memory)
	args := newArgs(t, k, x, x, x, 16)
	want := kernrt.Occupancy{CTAsPerSM: addPerSM, Programs: addPrograms}
	for range 2 {
		for _, ask := range []func() (kernrt.Occupancy, error){
			func() (kernrt.Occupancy, error) { return kernrt.OccupancyOf(k, dev, addArgsOf(16)) },
			func() (kernrt.Occupancy, error) { return args.Occupancy(dev) },
		} {
			o, err := ask()
			must(t, err)
			if diff := cmp.Diff(want, o); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	const call = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
	if n := d.Count(call); n != 1 {
		t.Errorf("the driver was asked %d times, want 1", n)
	}
	clusters := matmul(t)
	o, err := kernrt.OccupancyOf(clusters, dev, matmulArgsOf())
	must(t, err)
	if o.CTAsPerSM < 1 || o.Programs != o.CTAsPerSM*132/2 {
		t.Errorf("clusters of two: %+v", o)
	}

	_, err = kernrt.OccupancyOf(k, dev, &addArgs{})
	wantError(t, err, kernrt.ErrArgument, onH200+"(1, 1, 1): occupancy: x_ptr is null; pass device memory")
	d.FailNext(call, 999, 0)
	_, err = kernrt.OccupancyOf(add(t), dev, addArgsOf(16))
	wantCall(t, err, call)
	d.FailNext("cuOccupancyMaxActiveClusters", 999, 0)
	_, err = kernrt.OccupancyOf(matmul(t), dev, matmulArgsOf())
	wantCall(t, err, "cuOccupancyMaxActiveClusters")
	unset, err := kernrt.NewArgs(k)
	must(t, err)
	if _, err := unset.Occupancy(dev); !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("values not set: %v", err)
	}
	if _, err := kernrt.OccupancyOf[addArgs](nil, dev, nil); !errors.Is(err, kernrt.ErrArgument) {
		t.Errorf("no kernel: %v", err)
	}
	must(t, stream.Device().Close())
	if _, err := args.Occupancy(dev); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("a closed device: %v", err)
	}
}

func TestResidentGrid(t *testing.T) {
	d, _, stream := onDevice0(t)
	must(t, kernrt.Launch(add(t), stream, kernrt.ResidentGrid(), addArgsOf(16)))
	must(t, kernrt.Launch(matmul(t), stream, kernrt.ResidentGrid(), matmulArgsOf()))
	launches := d.Launches()
	if launches[0].Grid != [3]uint32{addPrograms, 1, 1} || launches[1].Grid[0]%2 != 0 || launches[1].Grid[0] == 0 {
		t.Errorf("grids %v and %v", launches[0].Grid, launches[1].Grid)
	}
	d.FailNext("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 999, 0)
	err := kernrt.Launch(add(t), stream, kernrt.ResidentGrid(), addArgsOf(16))
	wantCall(t, err, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")
	wantError(t, kernrt.Launch(add(t), stream, kernrt.ResidentGrid(), &addArgs{}), kernrt.ErrArgument,
		"launch add_kernel on "+h200+", grid (as many as run at once): x_ptr is null; pass device memory")
	d.SetAttribute(0, 106, 0) // CTAs on a multiprocessor
	wantError(t, kernrt.Launch(add(t), stream, kernrt.ResidentGrid(), addArgsOf(16)), kernrt.ErrLimit,
		"launch add_kernel (sm_90a cubin) on "+h200+", grid (as many as run at once): the device runs no program of this kernel at once")
}

func TestCooperativeGridTooLarge(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := add(t, func(m *kernrt.Image) { m.Cooperative = true })
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(addPrograms), addArgsOf(16)))
	must(t, kernrt.Launch(k, stream, kernrt.ResidentGrid(), addArgsOf(16)))
	const text = "the programs of a cooperative launch run all at once, of which the device holds 2112; launch no more, or ResidentGrid"
	err := kernrt.Launch(k, stream, kernrt.Grid2D(addPrograms, 2), addArgsOf(16))
	wantCall(t, err, "cuLaunchKernelEx")
	wantError(t, err, kernrt.ErrLimit, loadedOnH200+"(2112, 2, 1): "+text+": cuLaunchKernelEx: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE (720): too many blocks in cooperative launch")
	if n := len(d.Launches()); n != 2 {
		t.Errorf("%d launches, want 2", n)
	}
}

// An error says which of several variants was launched.
func TestErrorsNameTheVariant(t *testing.T) {
	d, _, stream := onDevice0(t)
	k := add(t)
	k.Variants = append(k.Variants, k.Variants[0])
	k.Variants[1] = kernrt.Variant{Images: slices.Clone(k.Variants[0].Images)}
	for n, text := range map[int32]string{16: "(variant 1, sm_90a cubin)", 17: "(variant 2, sm_90a cubin)"} {
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(n)))
		d.FailNext("cuLaunchKernelEx", 701, 0)
		err := kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(n))
		wantCall(t, err, "cuLaunchKernelEx")
		if !strings.HasPrefix(err.Error(), "launch add_kernel "+text+" on ") {
			t.Errorf("error %v does not say %s", err, text)
		}
	}
}
