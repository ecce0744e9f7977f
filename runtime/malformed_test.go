package kernrt_test

import (
	"errors"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

type mixedArgs struct {
	P kernrt.Ptr[float32]
	N int32
	F float32
}

func TestMalformedKernels(t *testing.T) {
	type (
		K = *kernrt.Kernel
		M = *kernrt.Image
	)
	spec := func(f func(K)) func(K) { return f }
	image := func(f func(M)) func(K) { return func(k K) { f(&k.Variants[0].Images[0]) } }
	guard := func(param int, is kernrt.GuardKind) func(K) {
		return func(k K) { k.Variants[0].Guards = []kernrt.Guard{{Param: param, Is: is}} }
	}
	grid := func(dims ...string) func(K) { return func(k K) { k.Configs = []kernrt.Config{{Grid: dims}} } }
	const v1, m1 = "variant 1: ", "variant 1: image sm_80: "
	const order = "do not name passed parameters in order"
	empty := ""
	tests := []struct {
		name   string
		change func(K)
		text   string
	}{
		{"no variants", spec(func(k K) { k.Variants = nil }), "it has no variants"},
		{"many parameters", spec(func(k K) {
			for len(k.Params) <= 4096 {
				k.Params = append(k.Params, kernrt.Param{Name: "n", Type: "i32"})
			}
		}), "4097 parameters are more than 4096"},
		{"unknown type", spec(func(k K) { k.Params[1].Type = "i33" }),
			`parameter n has unknown type "i33"; this runtime may be too old for the package`},
		{"unknown pointee", spec(func(k K) { k.Params[0].Type = "*fp33" }),
			`parameter p has unknown type "*fp33"; this runtime may be too old for the package`},
		{"const scalar", spec(func(k K) { k.Params[2].Type = "kfp32" }),
			`parameter f has unknown type "kfp32"; this runtime may be too old for the package`},
		{"no type", spec(func(k K) { k.Params[1].Type = "" }), `parameter n has unknown type ""; this runtime may be too old for the package`},
		{"nullable scalar", spec(func(k K) { k.Params[1].Nullable = true }), "parameter n is nullable but i32 is no pointer"},
		{"guard on nothing", guard(3, kernrt.DivisibleBy16), v1 + "a guard is on parameter 3 of 3"},
		{"guard on less than nothing", guard(-1, kernrt.DivisibleBy16), v1 + "a guard is on parameter -1 of 3"},
		{"float that is divisible", guard(2, kernrt.DivisibleBy16), v1 + "guard divisible by 16 does not suit parameter f, a fp32"},
		{"float that is 1", guard(2, kernrt.EqualTo1), v1 + "guard equal to 1 does not suit parameter f, a fp32"},
		{"pointer that is 1", guard(0, kernrt.EqualTo1), v1 + "guard equal to 1 does not suit parameter p, a *fp32"},
		{"integer that is null", guard(1, kernrt.Null), v1 + "guard null does not suit parameter n, a i32"},
		{"unknown guard", guard(1, 77), v1 + "guard GuardKind(77) does not suit parameter n, a i32"},
		{"configuration of none", spec(func(k K) { k.Variants[0].Config = 1 }), v1 + "it is of configuration 1 of 0"},
		{"configuration less than none", spec(func(k K) { k.Variants[0].Config = -1 }), v1 + "it is of configuration -1 of 0"},
		{"configurations out of order", spec(func(k K) {
			k.Configs = make([]kernrt.Config, 2)
			k.Variants = append(k.Variants, k.Variants[0])
			k.Variants[0].Config = 1
		}), v1 + "it is of configuration 1, which is out of order"},
		{"configuration without variants", spec(func(k K) { k.Configs = make([]kernrt.Config, 2) }), "configuration 1 has no variants"},
		{"grid of some configurations", spec(func(k K) {
			k.Configs = []kernrt.Config{{Grid: []string{"1"}}, {}}
			k.Variants = append(k.Variants, k.Variants[0])
			k.Variants[1].Config = 1
		}), "configuration 1: either all declare a grid or none does"},
		{"grid of no dimension", spec(func(k K) {
			k.Configs = []kernrt.Config{{Grid: []string{"1"}}, {Grid: []string{}}}
			k.Variants = append(k.Variants, k.Variants[0])
			k.Variants[1].Config = 1
		}), "configuration 1: either all declare a grid or none does"},
		{"grid of four dimensions", grid("1", "1", "1", "1"), "configuration 0: a grid has at most three dimensions, not 4"},
		{"grid of no expression", grid("n +"), `configuration 0: grid "n +": the expression ends where a value is missing`},
		{"grid of nothing", grid("N"), `configuration 0: grid "N" names N, which is no parameter`},
		{"grid of a pointer", grid("1", "cdiv(p, 2)"), `configuration 0: grid "cdiv(p, 2)" names p, which is *fp32, no integer`},
		{"grid of a float", grid("f"), `configuration 0: grid "f" names f, which is fp32, no integer`},
		{"no images", spec(func(k K) { k.Variants[0].Images = nil }), v1 + "it has no images"},
		{"fault in the second variant", spec(func(k K) { k.Variants = append(k.Variants, kernrt.Variant{}) }), "variant 2: it has no images"},
		{"target of no architecture", image(func(m M) { m.Target = "90a" }), `variant 1: image 90a: target "90a" is not sm_NN or sm_NNa`},
		{"target of no number", image(func(m M) { m.Target = "sm_x" }), `variant 1: image sm_x: target "sm_x" is not sm_NN or sm_NNa`},
		{"target of a small number", image(func(m M) { m.Target = "sm_9" }), `variant 1: image sm_9: target "sm_9" is not sm_NN or sm_NNa`},
		{"code that is nil", image(func(m M) { m.Code = nil }), m1 + "it has no code or no symbol"},
		{"code that is empty", image(func(m M) { m.Code = &empty }), m1 + "it has no code or no symbol"},
		{"no symbol", image(func(m M) { m.Symbol = "" }), m1 + "it has no code or no symbol"},
		{"argument twice", image(func(m M) { m.Args = []int{0, 1, 1} }), m1 + "arguments [0 1 1] " + order},
		{"arguments out of order", image(func(m M) { m.Args = []int{1, 0, 2} }), m1 + "arguments [1 0 2] " + order},
		{"argument of no parameter", image(func(m M) { m.Args = []int{0, 1, 3} }), m1 + "arguments [0 1 3] " + order},
		{"negative argument", image(func(m M) { m.Args = []int{-1} }), m1 + "arguments [-1] " + order},
		{"folded integer that is passed", guard(1, kernrt.EqualTo1), m1 + "arguments [0 1 2] " + order},
		{"absent pointer that is passed", guard(0, kernrt.Null), m1 + "arguments [0 1 2] " + order},
		{"hidden parameters", image(func(m M) { m.Hidden = 3 }), m1 + "3 hidden parameters are not 0, 1 or 2"},
		{"negative hidden parameters", image(func(m M) { m.Hidden = -1 }), m1 + "-1 hidden parameters are not 0, 1 or 2"},
		{"no warps", image(func(m M) { m.NumWarps = 0 }), m1 + "0 warps are not 1 to 64"},
		{"many warps", image(func(m M) { m.NumWarps = 65 }), m1 + "65 warps are not 1 to 64"},
		{"negative shared memory", image(func(m M) { m.Shared = -1 }), m1 + "-1 bytes of shared memory"},
		{"cluster of 17", image(func(m M) { m.Cluster = [3]int{17, 1, 1} }), m1 + "cluster [17 1 1] is not 1 to 16 CTAs"},
		{"cluster of 5 by 5", image(func(m M) { m.Cluster = [3]int{1, 5, 5} }), m1 + "cluster [1 5 5] is not 1 to 16 CTAs"},
		{"flat cluster", image(func(m M) { m.Cluster = [3]int{2, 0, 1} }), m1 + "cluster [2 0 1] is not 1 to 16 CTAs"},
		{"negative cluster", image(func(m M) { m.Cluster = [3]int{-2, -2, 1} }), m1 + "cluster [-2 -2 1] is not 1 to 16 CTAs"},
		{"cluster that overflows", image(func(m M) { m.Cluster = [3]int{1 << 32, 1 << 32, 1} }), m1 + "cluster [4294967296 4294967296 1] is not 1 to 16 CTAs"},
		{"negative scratch", image(func(m M) { m.GlobalScratch.Size = -1 }), m1 + "scratch {Size:-1 Align:0} is not a size and a power of two"},
		{"negative alignment", image(func(m M) { m.ProfileScratch.Align = -16 }), m1 + "scratch {Size:0 Align:-16} is not a size and a power of two"},
		{"odd alignment", image(func(m M) { m.GlobalScratch.Align = 24 }), m1 + "scratch {Size:0 Align:24} is not a size and a power of two"},
		{"scratch that is not passed", image(func(m M) { m.Hidden, m.GlobalScratch.Size = 0, 1 }), m1 + "it needs scratch but takes 0 hidden parameters"},
		{"profile scratch that is not passed", image(func(m M) { m.Hidden, m.ProfileScratch.Size = 1, 1 }), m1 + "it needs scratch but takes 1 hidden parameters"},
	}
	d, _, stream := onDevice0(t)
	params := func() []kernrt.Param {
		return []kernrt.Param{{Name: "p", Type: "*fp32"}, {Name: "n", Type: "i32"}, {Name: "f", Type: "fp32"}}
	}
	args := &mixedArgs{P: kernrt.PtrFromAddr[float32](memory)}
	must(t, kernrt.Launch(kernelOf(params(), nil), stream, kernrt.Grid1D(1), args))
	d.Reset()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := kernelOf(params(), nil)
			test.change(k)
			for range 2 { // every launch's error
				wantError(t, kernrt.Launch(k, stream, kernrt.Grid1D(1), args), kernrt.ErrMalformed,
					"launch k on "+h200+", grid (1, 1, 1): "+test.text)
			}
		})
	}
	if d.Count("cuModuleLoadDataEx") != 0 {
		t.Error("a malformed kernel was loaded")
	}
}

func TestArgsStructs(t *testing.T) {
	_, _, stream := onDevice0(t)
	p := kernrt.PtrFromAddr[float32](memory)
	const prefix = "launch k on " + h200 + ", grid (1, 1, 1): "
	const again = "; generate the package again"

	type pointer struct{ P kernrt.Ptr[float32] }
	type pointers struct {
		P kernrt.Ptr[kernrt.Ptr[float32]]
	}
	one := func(typ string) *kernrt.Kernel { return kernelOf([]kernrt.Param{{Name: "x", Type: typ}}, nil) }
	launch := func(typ string, args any) error {
		k := one(typ)
		switch a := args.(type) {
		case *pointer:
			return kernrt.Launch(k, stream, kernrt.Grid1D(1), a)
		case *pointers:
			return kernrt.Launch(k, stream, kernrt.Grid1D(1), a)
		}
		panic(args)
	}
	must(t, launch("*fp32", &pointer{p}))
	must(t, launch("*kfp32", &pointer{p}))
	must(t, launch("**fp32", &pointers{kernrt.PtrFromAddr[kernrt.Ptr[float32]](memory)}))
	wantError(t, launch("**fp32", &pointer{p}), kernrt.ErrMalformed,
		prefix+"field P of kernrt_test.pointer is kernrt.Ptr[float32], but parameter x is **fp32"+again)
	wantError(t, launch("*fp16", &pointer{p}), kernrt.ErrMalformed,
		prefix+"field P of kernrt_test.pointer is kernrt.Ptr[float32], but parameter x is *fp16"+again)
	wantError(t, launch("u64", &pointer{p}), kernrt.ErrMalformed,
		prefix+"field P of kernrt_test.pointer is kernrt.Ptr[float32], but parameter x is u64"+again)

	type number struct{ N uint32 }
	wantError(t, kernrt.Launch(one("i32"), stream, kernrt.Grid1D(1), &number{1}), kernrt.ErrMalformed,
		prefix+"field N of kernrt_test.number is uint32, but parameter x is i32"+again)
	wantError(t, kernrt.Launch(one("*u32"), stream, kernrt.Grid1D(1), &number{1}), kernrt.ErrMalformed,
		prefix+"field N of kernrt_test.number is uint32, but parameter x is *u32"+again)
	must(t, kernrt.Launch(one("u32"), stream, kernrt.Grid1D(1), &number{1}))

	type two struct{ A, B uint32 }
	wantError(t, kernrt.Launch(one("u32"), stream, kernrt.Grid1D(1), &two{}), kernrt.ErrMalformed,
		prefix+"args type kernrt_test.two is not a struct with a field for each of the 1 parameters"+again)
	n := uint32(1)
	wantError(t, kernrt.Launch(one("u32"), stream, kernrt.Grid1D(1), &n), kernrt.ErrMalformed,
		prefix+"args type uint32 is not a struct with a field for each of the 1 parameters"+again)
}

func TestOneArgsTypePerKernel(t *testing.T) {
	d := driver(t)
	d.SetDeviceCount(2)
	type first struct{ N uint32 }
	type second struct{ N uint32 }
	k := kernelOf([]kernrt.Param{{Name: "n", Type: "u32"}}, nil)
	must(t, kernrt.Launch(k, newStream(t, open(t, 0)), kernrt.Grid1D(1), &first{1}))
	for device := range 2 {
		err := kernrt.Launch(k, newStream(t, open(t, device)), kernrt.Grid1D(1), &second{1})
		var le *kernrt.LaunchError
		if !errors.As(err, &le) || !errors.Is(err, kernrt.ErrMalformed) || le.Err.Error() != "it was launched with another args struct before, now with kernrt_test.second" {
			t.Errorf("error %v", err)
		}
	}
	if n := len(d.Launches()); n != 1 {
		t.Errorf("%d launches, want 1", n)
	}
}
