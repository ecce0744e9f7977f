package kernrt_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	kernrt "github.com/kerngen/kerngen/runtime"

	"github.com/kerngen/kerngen/internal/fakecuda"
)

// explain is what Explain says of one launch, whose error it must return.
func explain(t *testing.T, dev *kernrt.Device, launch func(*kernrt.Stream) error) kernrt.Explanation {
	t.Helper()
	all, err := dev.Explain(launch)
	if len(all) != 1 || err != all[0].Err {
		t.Fatalf("explained %+v, %v; want one launch and its error", all, err)
	}
	return all[0]
}

func explainAdd(t *testing.T, dev *kernrt.Device, k *kernrt.Kernel) kernrt.Explanation {
	t.Helper()
	return explain(t, dev, func(s *kernrt.Stream) error { return kernrt.Launch(k, s, kernrt.Grid1D(2), addArgsOf(16)) })
}

func TestExplainVariants(t *testing.T) {
	p, null := kernrt.PtrFromAddr[float32](memory), kernrt.Ptr[float32]{}
	const fits, compiled = "it fits too, but variant %d comes before it", ", as the kernel was compiled for"
	tests := []struct {
		name    string
		args    variantArgs
		variant int
		guards  string
		over    []string // why the variants are passed over; "" for the chosen one
	}{
		{"first", variantArgs{p, null, 32, 1}, 1, "bias null, stride equal to 1, n divisible by 16",
			[]string{"", fmt.Sprintf(fits, 1), fmt.Sprintf(fits, 1), fmt.Sprintf(fits, 1)}},
		{"second", variantArgs{p, null, 33, 1}, 2, "stride equal to 1, x divisible by 16",
			[]string{"n = 33 is not divisible by 16" + compiled, "", fmt.Sprintf(fits, 2), "n = 33 is not divisible by 16" + compiled}},
		{"last", variantArgs{p.Add(1), p, 32, 1 << 32}, 4, "n divisible by 16", []string{
			"bias = 0x7f0000000000 is not null" + compiled + "; stride = 4294967296 is not equal to 1" + compiled,
			"stride = 4294967296 is not equal to 1" + compiled + "; x = 0x7f0000000004 is not divisible by 16" + compiled,
			"bias = 0x7f0000000000 is not null" + compiled, ""}},
		{"none", variantArgs{null, p, 33, 2}, 0, "", []string{
			"x is null; pass device memory; bias = 0x7f0000000000 is not null" + compiled + "; stride = 2 is not equal to 1" + compiled + "; n = 33 is not divisible by 16" + compiled,
			"x is null; pass device memory; stride = 2 is not equal to 1" + compiled,
			"x is null; pass device memory; bias = 0x7f0000000000 is not null" + compiled,
			"x is null; pass device memory; n = 33 is not divisible by 16" + compiled}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, dev, stream := onDevice0(t)
			k := variants()
			launch := func(s *kernrt.Stream) error { return kernrt.Launch(k, s, kernrt.Grid1D(7), &test.args) }
			got := explain(t, dev, launch)
			var over []kernrt.PassedOver
			for i, reason := range test.over {
				if reason != "" {
					over = append(over, kernrt.PassedOver{Variant: i + 1, Reason: reason})
				}
			}
			if diff := cmp.Diff(over, got.PassedOver); diff != "" {
				t.Errorf("passed over (-want +got):\n%s", diff)
			}
			if got.Kernel != "k" || got.Device != h200 || got.Grid != kernrt.Grid1D(7) || got.Variant != test.variant || got.Guards != test.guards {
				t.Errorf("explained %v", got)
			}
			if (got.Err == nil) != (test.variant > 0) || got.Image.PTX != (test.variant > 0) || len(d.Launches()) != 0 {
				t.Errorf("error %v, image %v, %d launches", got.Err, &got.Image, len(d.Launches()))
			}
			if got.Err != nil {
				wantError(t, launch(stream), kernrt.ErrArgument, got.Err.Error())
				return
			}
			loads := len(d.Loads())
			must(t, launch(stream))
			if len(d.Loads()) != loads || loads != 1 {
				t.Error("the launch loads again what was explained")
			}
		})
	}
}

// What runs where, with the driver's own word for what it refuses.
func TestExplainImages(t *testing.T) {
	sm80, sm90, sm100, ptx80, ptx90 := addImages(t)
	all := []kernrt.Image{ptx80, sm100, sm80, ptx90, sm90}
	const better = " suits the device better"
	const refused = "the driver, CUDA 13.0, does not take it: cuModuleLoadDataEx: "
	tests := []struct {
		name         string
		major, minor int
		images       []kernrt.Image
		fail         []int
		want         string // the image that is launched
		over         string
	}{
		{"exact", 9, 0, all, nil, "sm_90a cubin", "sm_80 PTX: the sm_90a cubin" + better + "\nsm_100a cubin: it runs on sm_100 alone\n" +
			"sm_80 cubin: it runs on sm_80 to sm_89\nsm_90a PTX: the sm_90a cubin" + better},
		{"newer than all cubins", 12, 0, all, nil, "sm_80 PTX", "sm_100a cubin: it runs on sm_100 alone\nsm_80 cubin: it runs on sm_80 to sm_89\n" +
			"sm_90a PTX: it runs on sm_90 alone\nsm_90a cubin: it runs on sm_90 alone"},
		{"later minor", 10, 3, []kernrt.Image{sm100, ptx80}, nil, "sm_80 PTX", "sm_100a cubin: it runs on sm_100 alone"},
		{"older than the PTX", 7, 5, []kernrt.Image{ptx80}, nil, "", ""},
		{"PTX with a suffix is no fallback", 12, 0, []kernrt.Image{sm90, ptx90}, nil, "", ""},
		{"refused", 9, 0, all, []int{200, 222}, "sm_80 PTX",
			"sm_100a cubin: it runs on sm_100 alone\nsm_80 cubin: it runs on sm_80 to sm_89\n" +
				"sm_90a PTX: " + refused + "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): the provided PTX was compiled with an unsupported toolchain.\n" +
				"sm_90a cubin: " + refused + "CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid"},
		{"all refused", 9, 0, []kernrt.Image{sm90}, []int{200}, "",
			"sm_90a cubin: " + refused + "CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid"},
		{"not loaded for another reason", 9, 0, []kernrt.Image{sm90, ptx80}, []int{999}, "",
			"sm_90a cubin: no image could be loaded\nsm_80 PTX: no image could be loaded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := driver(t)
			d.SetAttribute(0, 75, test.major)
			d.SetAttribute(0, 76, test.minor)
			dev := open(t, 0)
			for _, code := range test.fail {
				d.FailNext("cuModuleLoadDataEx", code, 0)
			}
			got := explainAdd(t, dev, addOf(test.images...))
			image := ""
			if got.Err == nil {
				image = got.Image.String()
			}
			var over []string
			for _, p := range got.PassedOver {
				if p.Image != "" {
					over = append(over, p.Image+": "+p.Reason)
				}
			}
			if image != test.want {
				t.Errorf("image %q, want %q; %v", image, test.want, got)
			}
			if diff := cmp.Diff(test.over, strings.Join(over, "\n")); diff != "" {
				t.Errorf("passed over (-want +got):\n%s", diff)
			}
			if test.want == "" && test.over == "" {
				wantReason := fmt.Sprintf("no image runs on sm_%d%d", test.major, test.minor)
				if !errors.Is(got.Err, kernrt.ErrNoImage) || !strings.HasPrefix(got.PassedOver[0].Reason, wantReason) {
					t.Errorf("explained %v, want that %s", got, wantReason)
				}
			}
		})
	}
}

// An explained launch is refused as the launch itself is.
func TestExplainRefuses(t *testing.T) {
	tests := []struct {
		name   string
		setup  func(*fakecuda.Driver)
		launch func(*kernrt.Stream) error
	}{
		{"no kernel", nil, func(s *kernrt.Stream) error {
			return kernrt.Launch((*kernrt.Kernel)(nil), s, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"no value", nil, func(s *kernrt.Stream) error {
			args, err := kernrt.NewArgs(add(t))
			must(t, err)
			return args.Launch(s, kernrt.Grid1D(1))
		}},
		{"no args", nil, func(s *kernrt.Stream) error {
			return kernrt.Launch(add(t), s, kernrt.Grid1D(1), (*addArgs)(nil))
		}},
		{"other args", nil, func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid1D(1), &mixedArgs{}) }},
		{"malformed", nil, func(s *kernrt.Stream) error {
			return kernrt.Launch(addOf(kernrt.Image{}), s, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"no grid", nil, func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid{}, addArgsOf(16)) }},
		{"negative grid", nil, func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid1D(-1), addArgsOf(16)) }},
		{"large grid", nil, func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid2D(1, 1<<20), addArgsOf(16)) }},
		{"declared grid", nil, func(s *kernrt.Stream) error { return kernrt.Launch(sizes("i32"), s, kernrt.Grid{}, sizesOf(-1)) }},
		{"large declared grid", nil, func(s *kernrt.Stream) error {
			return kernrt.Launch(sizes("1", "i32"), s, kernrt.Grid{}, sizesOf(1<<20))
		}},
		{"configuration", nil, func(s *kernrt.Stream) error {
			return kernrt.LaunchConfig(add(t), s, 3, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"null", nil, func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid1D(1), &addArgs{N: 16}) }},
		{"promise", nil, func(s *kernrt.Stream) error { return kernrt.Launch(add(t), s, kernrt.Grid1D(1), addArgsOf(17)) }},
		{"tensor", nil, func(s *kernrt.Stream) error {
			return kernrt.Launch(hostKernel(t, 6, 90), s, kernrt.Grid1D(1), &hostArgs{})
		}},
		{"symbol", nil, func(s *kernrt.Stream) error {
			return kernrt.Launch(add(t, func(m *kernrt.Image) { m.Symbol = "sub" }), s, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"image", func(d *fakecuda.Driver) { d.SetAttribute(0, 75, 8) }, func(s *kernrt.Stream) error {
			return kernrt.Launch(add(t), s, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"threads", func(d *fakecuda.Driver) { d.SetAttribute(0, 12, 1024) }, func(s *kernrt.Stream) error {
			return kernrt.Launch(add(t), s, kernrt.Grid1D(1), addArgsOf(16))
		}},
		{"scratch", nil, func(s *kernrt.Stream) error {
			k := add(t, scratch(kernrt.Scratch{Size: math.MaxInt}, kernrt.Scratch{}))
			return kernrt.Launch(k, s, kernrt.Grid1D(3), addArgsOf(16))
		}},
		{"debug", func(*fakecuda.Driver) { t.Setenv("KERNGEN_DEBUG", "1") }, func(s *kernrt.Stream) error {
			return kernrt.Launch(add(t), s, kernrt.Grid1D(1), addArgsOf(16)) // of memory that nobody allocated
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := driver(t)
			if test.setup != nil {
				test.setup(d)
			}
			dev := open(t, 0)
			stream := newStream(t, dev)
			got := explain(t, dev, test.launch)
			want := test.launch(stream)
			if want == nil || got.Err == nil || got.Err.Error() != want.Error() {
				t.Errorf("explained\n%v\nwant\n%v", got.Err, want)
			}
			if !strings.Contains(got.String(), "refused: "+want.Error()) || len(d.Launches()) != 0 {
				t.Errorf("%d launches; text %v", len(d.Launches()), got)
			}
		})
	}
}

func TestExplainGridConfigAndScratch(t *testing.T) {
	d, dev, _ := onDevice0(t)
	k := tuned(2)
	k.Configs[0].Name, k.Configs[1].Name = "BLOCK=128", "BLOCK=64"
	k.Configs[1].Grid = []string{"cdiv(m, 64)"}
	for v := range k.Variants {
		k.Variants[v].Images[0].GlobalScratch = kernrt.Scratch{Size: 100 * (v + 1), Align: 512}
	}
	p := kernrt.PtrFromAddr[float32](memory)
	args := sizedArgs{p, p, p, 1000, 1, 1}
	got := explain(t, dev, func(s *kernrt.Stream) error { return kernrt.LaunchConfig(k, s, 1, kernrt.Grid{}, &args) })
	if got.Config != "BLOCK=64" || got.Grid != kernrt.Grid1D(16) || got.Variant != 32 || got.Guards != "" || got.Scratch != 16*3200 {
		t.Errorf("explained %v", got)
	}
	if want := (kernrt.PassedOver{Config: "BLOCK=128", Reason: "another configuration is launched"}); got.PassedOver[0] != want || len(got.PassedOver) != 16 {
		t.Errorf("%d passed over, the first %+v; want 16, the first %+v", len(got.PassedOver), got.PassedOver[0], want)
	}
	if sizes := allocated(d); len(sizes) != 0 {
		t.Errorf("memory of %v bytes was allocated", sizes)
	}
	cooperative := add(t, func(m *kernrt.Image) { m.Cooperative = true })
	for grid, want := range map[kernrt.Grid]error{kernrt.ResidentGrid(): nil, kernrt.Grid1D(addPrograms + 1): kernrt.ErrLimit} {
		got := explain(t, dev, func(s *kernrt.Stream) error { return kernrt.Launch(cooperative, s, grid, addArgsOf(16)) })
		if !errors.Is(got.Err, want) || want == nil && got.Grid != kernrt.Grid1D(addPrograms) {
			t.Errorf("explained %v, want %v", got, want)
		}
	}
	got = explain(t, dev, func(s *kernrt.Stream) error { return kernrt.Launch(k, s, kernrt.Grid1D(0), &args) })
	const want = "k with BLOCK=128 on " + h200 + ", grid (0, 1, 1): nothing is launched, since the grid is empty"
	if got.Variant != 0 || !strings.HasPrefix(got.String(), want) {
		t.Errorf("explained %v, want %s", got, want)
	}
}

func TestExplainedAsText(t *testing.T) {
	_, dev, _ := onDevice0(t)
	sm80, sm90, _, _, _ := addImages(t)
	sm90.GlobalScratch = kernrt.Scratch{Size: 4096, Align: 128}
	k := addOf(sm80, sm90)
	k.Variants = append(k.Variants, kernrt.Variant{Images: []kernrt.Image{sm80}})
	const want = "add_kernel on " + h200 + ", grid (2, 1, 1): variant 1, for x_ptr divisible by 16, y_ptr divisible by 16, out_ptr divisible by 16, " +
		"n_elements divisible by 16, as sm_90a cubin, with 8192 bytes of scratch memory\n" +
		"  not variant 1 as sm_80 cubin: it runs on sm_80 to sm_89\n" +
		"  not variant 2: no image runs on sm_90; there are sm_80 cubin"
	if diff := cmp.Diff(want, explainAdd(t, dev, k).String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Its stream takes launches while it is explained, and nothing else ever.
func TestExplainingStream(t *testing.T) {
	d, dev, stream := onDevice0(t)
	b, err := kernrt.Alloc[float32](dev, 4)
	must(t, err)
	event, err := dev.NewEvent()
	must(t, err)
	d.Reset()
	calls := map[string]func(*kernrt.Stream) error{
		"copy":        func(s *kernrt.Stream) error { return b.CopyFrom(s, make([]float32, 4)) },
		"fill":        func(s *kernrt.Stream) error { return b.Fill(s, 1) },
		"synchronize": (*kernrt.Stream).Synchronize,
		"query":       func(s *kernrt.Stream) error { _, err := s.Query(); return err },
		"done":        func(s *kernrt.Stream) error { return <-s.Done() },
		"record":      event.Record,
		"wait":        func(s *kernrt.Stream) error { return s.Wait(event) },
	}
	var kept *kernrt.Stream
	k := add(t)
	all, err := dev.Explain(func(s *kernrt.Stream) error {
		kept = s
		for name, call := range calls {
			if err := call(s); !errors.Is(err, kernrt.ErrArgument) || !strings.HasSuffix(err.Error(), "the stream only explains launches; nothing else can be queued on it or waited for") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Close(); !errors.Is(err, kernrt.ErrClosed) {
			t.Errorf("close: %v", err)
		}
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if err := kernrt.Launch(k, s, kernrt.Grid1D(1), addArgsOf(16)); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		return kernrt.ErrLimit
	})
	if len(all) != 8 || err != kernrt.ErrLimit || len(d.Launches()) != 0 {
		t.Errorf("%d explained, %v, %d launches; want 8, f's error and none", len(all), err, len(d.Launches()))
	}
	wantError(t, kernrt.Launch(k, kept, kernrt.Grid1D(1), addArgsOf(16)), kernrt.ErrClosed, onH200+"(1, 1, 1): the stream is closed")
	if err := kept.Synchronize(); !errors.Is(err, kernrt.ErrClosed) {
		t.Errorf("synchronize: %v", err)
	}
	must(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), addArgsOf(16)))
	must(t, dev.Close())
	if got := explainAdd(t, dev, k); !errors.Is(got.Err, kernrt.ErrClosed) {
		t.Errorf("on a closed device: %v", got)
	}
}

func TestExplainRefusesItsOwnArguments(t *testing.T) {
	_, dev, _ := onDevice0(t)
	for _, call := range []func() ([]kernrt.Explanation, error){
		func() ([]kernrt.Explanation, error) { return dev.Explain(nil) },
		func() ([]kernrt.Explanation, error) {
			return new(kernrt.Device).Explain(func(*kernrt.Stream) error { return nil })
		},
		func() ([]kernrt.Explanation, error) {
			return (*kernrt.Device)(nil).Explain(func(*kernrt.Stream) error { return nil })
		},
	} {
		if all, err := call(); len(all) != 0 || !errors.Is(err, kernrt.ErrArgument) {
			t.Errorf("explained %v, %v", all, err)
		}
	}
}
