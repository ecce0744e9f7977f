package kernrt_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

func TestLoadOncePerDevice(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	k := add(t)
	streams := []*kernrt.Stream{newStream(t, open(t, 0)), newStream(t, open(t, 1))}
	if n := d.Count("cuModuleLoadDataEx"); n != 0 {
		t.Errorf("%d loads before the first launch", n)
	}
	var wait sync.WaitGroup
	start := make(chan struct{})
	for i := range 32 {
		wait.Go(func() {
			<-start
			if err := kernrt.Launch(k, streams[i%2], kernrt.Grid1D(1), addArgsOf(16)); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wait.Wait()
	if n := d.Count("cuModuleLoadDataEx"); n != 2 {
		t.Errorf("%d loads, want one a device", n)
	}
	contexts := map[uintptr]int{}
	for _, l := range d.Launches() {
		contexts[l.Context]++
	}
	if len(contexts) != 2 || len(d.Launches()) != 32 {
		t.Errorf("launches by context: %v, want 16 in each of two", contexts)
	}
}

func addImages(t *testing.T) (sm80, sm90, sm100, ptx80, ptx90 kernrt.Image) {
	image := func(target, file string) kernrt.Image {
		return kernrt.Image{Target: target, PTX: strings.HasSuffix(file, "ptx"), Code: code(t, file), Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4}
	}
	return image("sm_80", "add.sm80.cubin"), image("sm_90a", "add.sm90.cubin"), image("sm_100a", "add.sm100.cubin"),
		image("sm_80", "add.sm80.ptx"), image("sm_90a", "add.sm90.ptx")
}

func TestCandidateThatTheDriverTakes(t *testing.T) {
	sm80, sm90, sm100, ptx80, ptx90 := addImages(t)
	all := []kernrt.Image{ptx80, sm100, sm80, ptx90, sm90}
	const no = "CUDA_ERROR_NO_BINARY_FOR_GPU (209): no kernel image is available for execution on the device"
	tests := []struct {
		name         string
		major, minor int
		images       []kernrt.Image
		fail         []int // codes of the first loads, 0 for none
		target       int   // what is loaded
		ptx          bool
		attempts     int
		err          string
	}{
		{"exact", 9, 0, all, nil, 90, false, 1, ""},
		{"exact of another", 10, 0, all, nil, 100, false, 1, ""},
		{"same major", 8, 6, all, nil, 80, false, 1, ""},
		{"later minor has PTX alone", 10, 3, all, nil, 80, true, 1, ""},
		{"newer", 12, 0, all, nil, 80, true, 1, ""},
		{"refused binary gives way to PTX of its architecture", 9, 0, all, []int{209}, 90, true, 2, ""},
		{"and that to older PTX", 9, 0, all, []int{200, 222}, 80, true, 3, ""},
		{"a driver without its compiler", 9, 0, []kernrt.Image{ptx90, ptx80}, []int{221}, 80, true, 2, ""},
		{"none left", 9, 0, all, []int{209, 222, 218}, 0, false, 3, h200 + " with its driver, CUDA 13.0, takes none of the images: " +
			"sm_90a cubin: cuModuleLoadDataEx: " + no + "; " +
			"sm_90a PTX: cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): the provided PTX was compiled with an unsupported toolchain.; " +
			"sm_80 PTX: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := driver(t)
			d.SetAttribute(0, 75, test.major)
			d.SetAttribute(0, 76, test.minor)
			stream := newStream(t, open(t, 0))
			for _, code := range test.fail {
				d.FailNext("cuModuleLoadDataEx", code, 0)
			}
			k := addOf(test.images...)
			err := kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16))
			if n := d.Count("cuModuleLoadDataEx"); n != test.attempts {
				t.Errorf("%d attempts to load, want %d", n, test.attempts)
			}
			if test.err != "" {
				wantError(t, err, kernrt.ErrNoImage, onH200+"(1, 1, 1): "+test.err)
				again := kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16))
				if again == nil || again.Error() != err.Error() || d.Count("cuModuleLoadDataEx") != test.attempts {
					t.Errorf("a later launch asks the driver again, or says %v", again)
				}
				return
			}
			must(t, err)
			if l := d.Loads(); len(l) != 1 || l[0].Target != test.target || l[0].PTX != test.ptx {
				t.Errorf("loaded %+v, want target %d, PTX %t", l, test.target, test.ptx)
			}
		})
	}
}

// What ails the device and not the image is not blamed on the image.
func TestFailedLoadsAreNoRefusals(t *testing.T) {
	_, sm90, _, ptx80, _ := addImages(t)
	for _, code := range []int{2, 700, 719, 999} {
		d, _, stream := onDevice0(t)
		d.FailNext("cuModuleLoadDataEx", code, 0)
		k := addOf(sm90, ptx80)
		err := kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16))
		wantCall(t, err, "cuModuleLoadDataEx")
		if errors.Is(err, kernrt.ErrNoImage) || errors.Is(err, kernrt.ErrOutOfMemory) != (code == 2) {
			t.Errorf("error %v is of a wrong kind", err)
		}
		if n := d.Count("cuModuleLoadDataEx"); n != 1 {
			t.Errorf("%d attempts to load after code %d, want 1", n, code)
		}
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
		must(t, stream.Device().Close())
	}
}

func TestCompilersLogIsShown(t *testing.T) {
	d := driver(t)
	d.SetDriverVersion(11080)
	stream := newStream(t, open(t, 0))
	_, _, _, ptx80, _ := addImages(t)
	err := kernrt.Launch(addOf(ptx80), stream, kernrt.Grid1D(1), addArgsOf(16))
	wantError(t, err, kernrt.ErrNoImage, onH200+"(1, 1, 1): "+h200+" with its driver, CUDA 11.8, takes none of the images: sm_80 PTX: "+
		"cuModuleLoadDataEx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): the provided PTX was compiled with an unsupported toolchain.: "+
		"fake driver: the PTX version is newer than the driver")
}

type narrowArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         int16
}

func TestParametersAreComparedAtLoad(t *testing.T) {
	const again = "; generate the package again"
	hidden := func(n int) func(*kernrt.Image) { return func(m *kernrt.Image) { m.Hidden = n } }
	tests := []struct {
		name   string
		change func(*kernrt.Image)
		text   string
	}{
		{"fewer", hidden(0), "the image takes more than the 4 parameters that would be passed" + again},
		{"one fewer", hidden(1), "the image takes more than the 5 parameters that would be passed" + again},
		{"more", func(m *kernrt.Image) {
			s := strings.Replace(*ptx("", "*fp32", "*fp32", "*fp32", "i32"), ", .param .b64 p5", "", 1)
			m.Code, m.Symbol, m.PTX, m.Target = &s, "kernel", true, "sm_80"
		}, "the image takes 5 parameters, but 6 would be passed" + again},
		{"wider", func(m *kernrt.Image) {
			m.Code, m.Symbol, m.PTX, m.Target = ptx("", "*fp32", "*fp32", "*fp32", "i64"), "kernel", true, "sm_80"
		}, "the image's parameter 3 has 8 bytes, but 4 would be passed" + again},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, stream := onDevice0(t)
			k := add(t, test.change)
			image := k.Variants[0].Images[0].String()
			for range 2 {
				err := kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16))
				wantError(t, err, kernrt.ErrMalformed, onH200+"(1, 1, 1): image "+image+": "+test.text)
				noModules(t)
			}
		})
	}
	t.Run("narrower", func(t *testing.T) {
		_, _, stream := onDevice0(t)
		k := add(t)
		k.Params[3].Type = "i16"
		p := kernrt.PtrFromAddr[float32](memory)
		err := kernrt.Launch(k, stream, kernrt.Grid1D(1), &narrowArgs{p, p, p, 16})
		wantError(t, err, kernrt.ErrMalformed, onH200+"(1, 1, 1): image sm_90a cubin: the image's parameter 3 has 4 bytes, but 2 would be passed"+again)
	})
}

func noModules(t *testing.T) {
	t.Helper()
	for _, leak := range fake.Leaks() {
		if leak.Kind == "module" {
			t.Error("a module stayed loaded")
		}
	}
}

func TestDriverTooOldToTellParameters(t *testing.T) {
	if !inOwnProcess(t, func() string { return fakeLibrary(t, "FAKE_VERSION=12030") }) {
		return
	}
	d, _, stream := onDevice0(t)
	must(t, kernrt.Launch(scalars(t), stream, kernrt.Grid1D(1), &scalarsArgs{Out: kernrt.PtrFromAddr[float64](memory)}))
	if n := len(only(t, d).Params); n != 16 {
		t.Errorf("%d parameters, want 16", n)
	}
}

func TestFailedLoadLeavesNothing(t *testing.T) {
	for _, call := range []string{"cuModuleGetFunction", "cuFuncGetParamInfo", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuOccupancyMaxPotentialClusterSize"} {
		d, _, stream := onDevice0(t)
		k := matmul(t)
		d.FailNext(call, 999, 0)
		wantCall(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), matmulArgsOf()), call)
		noModules(t)
		must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), matmulArgsOf()))
		must(t, stream.Device().Close())
	}
}

func TestSharedMemory(t *testing.T) {
	const optin = 232448
	tests := []struct {
		name           string
		shared, static int
		set            bool
		most           int // of what a block may ask for
		err            string
	}{
		{"below", 49151, 0, false, optin, ""},
		{"at", 49152, 0, false, optin, ""},
		{"above", 49153, 0, true, optin, ""},
		{"at, static added", 49052, 100, false, optin, ""},
		{"above, static added", 49053, 100, true, optin, ""},
		{"static alone", 0, 49152, false, optin, ""},
		{"all", optin, 0, true, optin, ""},
		{"all, static added", optin - 100, 100, true, optin, ""},
		{"beyond", optin + 1, 0, false, optin, "232449 + 0 bytes of dynamic and static shared memory, but " + h200 + " has 232448"},
		{"beyond, static added", optin - 99, 100, false, optin, "232349 + 100 bytes of dynamic and static shared memory, but " + h200 + " has 232448"},
		{"beyond a smaller device", 65536, 0, false, 49152, "65536 + 0 bytes of dynamic and static shared memory, but " + h200 + " has 49152"},
		{"beyond all numbers", 1<<63 - 1, 100, false, optin, "9223372036854775807 + 100 bytes of dynamic and static shared memory, but " + h200 + " has 232448"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := driver(t)
			d.SetAttribute(0, 97, test.most)
			stream := newStream(t, open(t, 0))
			k := matmul(t, func(m *kernrt.Image) {
				s := withStatic(t, *m.Code, "matmul_kernel", uint64(test.static))
				m.Code, m.Shared = &s, test.shared
			})
			err := kernrt.Launch(k, stream, kernrt.Grid1D(1), matmulArgsOf())
			if got := d.Count("cuFuncSetAttribute") == 1; got != test.set {
				t.Errorf("asked for more: %t, want %t", got, test.set)
			}
			if test.err != "" {
				wantError(t, err, kernrt.ErrLimit, "launch matmul_kernel on "+h200+", grid (1, 1, 1): image sm_90a cubin: a CTA needs "+test.err+
					"; compile the kernel with smaller blocks or fewer stages")
				noModules(t)
				return
			}
			must(t, err)
			if l := only(t, d); int(l.Shared) != test.shared {
				t.Errorf("launched with %d bytes, want %d", l.Shared, test.shared)
			}
		})
	}
}

func TestClusterBeyondTheDevice(t *testing.T) {
	for _, test := range []struct {
		cluster, largest int
		text             string
	}{
		{16, 8, "a cluster has 16 CTAs, but " + h200 + " runs at most 8 of this kernel; compile it with fewer"},
		{4, 2, "a cluster has 4 CTAs, but " + h200 + " runs at most 2 of this kernel; compile it with fewer"},
	} {
		d := driver(t)
		d.SetLargestCluster(0, test.largest)
		stream := newStream(t, open(t, 0))
		err := kernrt.Launch(add(t, func(m *kernrt.Image) { m.Cluster = [3]int{test.cluster, 1, 1} }), stream, kernrt.Grid1D(1), addArgsOf(16))
		wantError(t, err, kernrt.ErrLimit, onH200+"(1, 1, 1): image sm_90a cubin: "+test.text)
		must(t, stream.Device().Close())
	}
	_, _, stream := onDevice0(t)
	k := matmul(t)
	err := kernrt.Launch(k, stream, kernrt.Grid1D(1<<30), matmulArgsOf())
	wantError(t, err, kernrt.ErrLimit, "launch matmul_kernel (sm_90a cubin) on "+h200+", grid (1073741824, 1, 1): a grid has at most 1073741823, 65535 and 65535 programs, "+
		"each a cluster of [2 1 1] CTAs in x, y and z on this device")
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1<<30-1), matmulArgsOf()))
}

func TestKernelOnTwoDevices(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	d.SetAttribute(1, 75, 8) // the second is an sm_80
	sm80, sm90, _, _, _ := addImages(t)
	k := addOf(sm80, sm90)
	first, second := newStream(t, open(t, 0)), newStream(t, open(t, 1))
	launch := func(s *kernrt.Stream) { t.Helper(); must(t, kernrt.Launch(k, s, kernrt.Grid1D(1), addArgsOf(16))) }
	launch(first)
	launch(second)
	launch(first)
	if diff := cmp.Diff([]int{90, 80}, targets(d)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	// The first one's end is not the second one's, and a device opened again
	// loads again.
	must(t, first.Device().Close())
	launch(second)
	again := newStream(t, open(t, 0))
	launch(again)
	launch(second)
	if diff := cmp.Diff([]int{90, 80, 90}, targets(d)); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	must(t, second.Device().Close())
	launch(again)
}

func targets(d *fakecuda.Driver) []int {
	var all []int
	for _, l := range d.Loads() {
		all = append(all, l.Target)
	}
	return all
}
