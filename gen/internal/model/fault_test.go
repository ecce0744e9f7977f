package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/artefact"
	"github.com/kerngen/kerngen/gen/internal/diag"
)

// TestFaults breaks one thing in a good image and expects the very error.
func TestFaults(t *testing.T) {
	const remake = "; recompile the kernel so that all its files come from one run"
	type image = artefact.Image
	param := func(p artefact.SidecarParam) func(*image) {
		return func(im *image) { im.Sidecar.Params[1] = p }
	}
	tests := []struct {
		name      string
		described bool
		breaks    func(*image)
		want      string
	}{
		// The image as a whole.
		{"hip", false, func(im *image) { im.Meta.Backend, im.Meta.Arch = "hip", 0 },
			`a/scale.json: scale is compiled for backend "hip"; kerngen launches cuda kernels only; recompile it for an NVIDIA target`},
		{"warp size", false, func(im *image) { im.Meta.WarpSize = 64 },
			"a/scale.json: scale is compiled for warps of 64 threads, but NVIDIA's have 32" + remake},
		{"instrumented", false, func(im *image) { im.Meta.Instrumentation = "gsan" },
			`a/scale.json: scale is instrumented ("gsan"), which can change its parameters; recompile it without TRITON_INSTRUMENTATION_MODE`},
		{"version", false, func(im *image) { im.Meta.TritonVersion = "next" },
			`a/scale.json: triton_version: "next" is not a version`},
		{"no code", false, func(im *image) { im.PTX, im.Cubin = nil, nil },
			"a/scale.json: scale has neither scale.cubin nor scale.ptx beside it: there is nothing to launch; copy the whole folder that Triton wrote"},
		{"no parameters", false, func(im *image) { im.TTIR, im.Source = nil, nil },
			"a/scale.json: nothing says what scale takes; put scale.ttir or scale.kerngen.json beside it, or tell with --signature 'scale=NAME: TYPE, …'; " +
				"the code takes 5 parameters, of 8, 4, 4, 8, 8 bytes, the last of which may be scratch pointers"},

		// Names.
		{"ttir of another kernel", false, func(im *image) { im.TTIR.Name = "other" },
			`a/scale.ttir: the public function is "other", but scale.json says "scale"` + remake},
		{"source of another kernel", false, func(im *image) { im.Source.Name = "other" },
			`a/scale.source: the public function is "other", but scale.json says "scale"` + remake},
		{"ptx of another kernel", false, func(im *image) { im.PTX.Entry = "other" },
			`a/scale.ptx: the entry is "other", but scale.json says "scale"` + remake},
		{"cubin of another kernel", false, func(im *image) { im.Cubin.Symbol = "other" },
			`a/scale.cubin: the kernel is "other", but scale.json says "scale"` + remake},
		{"sidecar of another kernel", true, func(im *image) { im.Sidecar.Kernel = "other" },
			`a/scale.kerngen.json: describes kernel "other", but scale.json says "scale"; recompile the kernel, or keep the files' names where @jit(repr=…) renames it`},
		{"sidecar of another release", true, func(im *image) { im.Sidecar.Triton = "3.5.1" },
			`a/scale.kerngen.json: is of Triton "3.5.1", but scale.json of "3.6.0"` + remake},

		// Targets.
		{"cubin of another architecture", false, func(im *image) { im.Cubin.Arch = 86 },
			"a/scale.cubin: is for sm_86, but scale.json says 80" + remake},
		{"ptx of another architecture", false, func(im *image) { im.PTX.Target = "sm_75" },
			"a/scale.ptx: is for sm_75, but scale.json says 80" + remake},
		{"ptx of a family", false, func(im *image) { retarget(im, 100).PTX.Target = "sm_100f" },
			`a/scale.ptx: unknown target "sm_100f"; kerngen knows sm_80 and the like, and sm_90a for one architecture only`},
		{"ptx of no architecture", false, func(im *image) { im.PTX.Target = "compute_80" },
			`a/scale.ptx: unknown target "compute_80"; kerngen knows sm_80 and the like, and sm_90a for one architecture only`},
		{"cubin narrower than ptx", false, func(im *image) { retarget(im, 90).PTX.Target = "sm_90" },
			"a/scale.cubin: is for sm_90a, but scale.ptx for sm_90" + remake},
		{"ptx options without a cubin", false, func(im *image) { im.Cubin, im.Meta.PTXOptions = nil, "-O1" },
			`a/scale.json: scale was compiled with ptx_options "-O1", which the driver's compiler cannot apply to scale.ptx; give the cubin too, or recompile without ptx_options`},
		{"ambiguous stride without a cubin", false, func(im *image) { im.Cubin, im.PTX.SetsStride, im.PTX.Version = nil, true, "8.4" },
			"a/scale.ptx: sets a tensor map's stride in PTX 8.4, where compilers before CUDA 12.5 and later ones take the number for different strides; " +
				"give the cubin too, or recompile with Triton 3.4 or later"},

		// Host tensor descriptors; descriptor_test.go breaks images that take them.
		{"descriptor without its parts", false, func(im *image) {
			im.TTIR.Args[0].Type, im.Source.Args[0].Type = "!tt.tensordesc<tensor<64x64xf16>>", "!tt.tensordesc<tensor<64x64xf16>>"
			im.TTIR.Args[0].Divisibility, im.Source.Args[0].Divisibility = 0, 0
		}, "a/scale.ttir:7: argument x is a tensor descriptor, but its extents and strides do not follow it" + remake},
		{"map of the program's own", false, func(im *image) {
			im.TTIR.Args[0] = artefact.Arg{SSA: "arg0", Type: "!tt.ptr<i8, 0>", TensorMap: true, Line: 7}
		}, "a/scale.ttir:7: parameter %arg0 of scale is a tensor map that no file tells how to encode; recompile with Triton 3.4 or later, and pass a tensor descriptor"},
		{"descriptor told by its parts", false, func(im *image) {
			im.TTIR.Args[1].Name, im.TTIR.Args[2].Name, im.Source = "x.shape.0", "x.stride.0", nil
		}, "a/scale.ttir:7: argument x is a part of a host tensor descriptor, which only scale.source tells; put scale.source or scale.kerngen.json beside it"},
		{"descriptor in the metadata", false, func(im *image) { im.Meta.Descriptors = make([]artefact.Descriptor, 2) },
			"a/scale.json: tensordesc_meta has 2 entries, but scale.ttir has 0 tensor descriptors" + remake},
		{"descriptor in the sidecar", true, param(artefact.SidecarParam{Name: "n", Type: "tensordesc<fp16[64, 64]>"}),
			"a/scale.kerngen.json: 11 arguments are passed, but scale.ttir has 3" + remake},

		// The TTIR by itself.
		{"unknown type", false, func(im *image) { im.TTIR.Args[1].Type, im.Source.Args[1].Type = "i128", "i128" },
			`a/scale.ttir:7: argument n: unknown TTIR type "i128"`},
		{"shared pointer", false, func(im *image) {
			im.TTIR.Args[0].Type, im.Source.Args[0].Type = "!tt.ptr<f32, 3>", "!tt.ptr<f32, 3>"
		},
			`a/scale.ttir:7: argument x: TTIR type "!tt.ptr<f32, 3>" points into address space 3, not global memory`},
		{"pointer to const pointers", false, func(im *image) {
			im.TTIR.Args[0].Type, im.Source = `!tt.ptr<!tt.ptr<f32, "constant">>`, nil
		}, `a/scale.ttir:7: argument x: TTIR type "!tt.ptr<!tt.ptr<f32, \"constant\">>" has const below another pointer, which Triton's signatures cannot say`},
		{"pointer range", false, func(im *image) { im.TTIR.Args[0].PointerRange = 32 },
			"a/scale.ttir:7: argument x has tt.pointer_range 32, a promise on the memory behind it that a launch cannot check; recompile the kernel for an NVIDIA target, or without it"},
		{"fp8 scalar", false, func(im *image) { im.TTIR.Args[1].Type, im.Source.Args[1].Type = "f8E5M2", "f8E5M2" },
			`a/scale.ttir:7: argument n: type "fp8e5" cannot be passed by value; Triton passes 8-bit floats through pointers only`},
		{"no names", false, func(im *image) {
			im.TTIR.Args[1] = artefact.Arg{SSA: "arg1", Type: "i32", Line: 7}
			im.Source = nil
		}, "scale: no file names the arguments of these images; Triton's do since 3.5; name them, without constants, with --signature 'scale=NAME, NAME, NAME'; " +
			"or put a NAME.kerngen.json beside each, or recompile with a later Triton\n  a/scale: *fp32:16, i32, fp32"},
		{"repeated name apart", false, func(im *image) {
			*im = *newImage("a/scale", []artefact.Arg{arg("x", "i32", 0), arg("y", "i32", 0), arg("x", "i32", 0)})
		}, "a/scale.ttir:7: two arguments that do not follow each other are both named x" + remake},
		{"repeated name undecided", false, func(im *image) {
			*im = *newImage("a/scale", []artefact.Arg{arg("x", "i32", 0), arg("x", "i32", 0)})
			im.Source = nil
		}, "a/scale.ttir:7: 2 arguments are named x: a tuple or a host tensor descriptor, which only scale.source tells; put scale.source or scale.kerngen.json beside it"},
		{"divisible by 8", false, func(im *image) { promise(im, 0, 8) },
			"a/scale.ttir:7: x is promised to be divisible by 8; kerngen checks 16 only; recompile with 16 or without the promise"},
		{"divisible float", false, func(im *image) { promise(im, 2, 16) },
			"a/scale.ttir:7: f is promised to be divisible by 16, but fp32 is neither a pointer nor an integer" + remake},
		{"source with other arguments", false, func(im *image) { im.Source.Args = im.Source.Args[:2] },
			"a/scale.source: scale has 2 arguments, but 3 in scale.ttir" + remake},
		{"source with another type", false, func(im *image) { im.Source.Args[0].Type = "!tt.ptr<f16>" },
			"a/scale.source:7: argument 0 is x: !tt.ptr<f16> divisible by 16, but x: !tt.ptr<f32> divisible by 16 in scale.ttir" + remake},

		// The sidecar.
		{"sidecar: count", true, func(im *image) { im.Sidecar.Params = im.Sidecar.Params[1:] },
			"a/scale.kerngen.json: 2 arguments are passed, but scale.ttir has 3" + remake},
		{"sidecar: name", true, func(im *image) { im.TTIR.Args[1].Name, im.Source = "m", nil },
			"a/scale.ttir:7: argument 1 is m, but n in scale.kerngen.json" + remake},
		{"sidecar: width", true, param(artefact.SidecarParam{Name: "n", Type: "i64"}),
			"a/scale.ttir:7: argument n is i32, but i64 in scale.kerngen.json" + remake},
		{"sidecar: const that the TTIR lacks", true, func(im *image) {
			im.Meta.TritonVersion, im.Sidecar.Triton, im.Sidecar.Params[0].Type = "3.9.0", "3.9.0", "*kfp32"
		}, "a/scale.ttir:7: argument x is !tt.ptr<f32>, but *kfp32 in scale.kerngen.json" + remake},
		{"sidecar: no const", true, func(im *image) { im.TTIR.Args[0].Type, im.Source = `!tt.ptr<f32, "constant">`, nil },
			`a/scale.ttir:7: argument x is !tt.ptr<f32, "constant">, but *fp32 in scale.kerngen.json` + remake},
		{"sidecar: fp8 spelled as before 3.2", true, func(im *image) {
			im.TTIR.Args[0].Type, im.Sidecar.Params[0].Type, im.Source = "!tt.ptr<f8E4M3FNUZ>", "*fp8e4nv", nil
		}, "a/scale.ttir:7: argument x is !tt.ptr<f8E4M3FNUZ>, but *fp8e4nv in scale.kerngen.json" + remake},
		{"sidecar: of no release", true, func(im *image) { im.Meta.TritonVersion, im.Sidecar.Triton = "", "next" },
			`a/scale.kerngen.json: triton: "next" is not a version`},
		{"sidecar: pointer", true, param(artefact.SidecarParam{Name: "n", Type: "*i32"}),
			"a/scale.ttir:7: argument n is i32, but *i32 in scale.kerngen.json" + remake},
		{"sidecar: promise missing", true, func(im *image) { im.Sidecar.Params[0].DivisibleBy = 0 },
			"a/scale.ttir:7: argument x has tt.divisibility 16, but 0 in scale.kerngen.json" + remake},
		{"sidecar: promise invented", true, func(im *image) { im.Sidecar.Params[1].DivisibleBy = 16 },
			"a/scale.ttir:7: argument n has tt.divisibility 0, but 16 in scale.kerngen.json" + remake},
		{"sidecar: promise of 8", true, func(im *image) { im.Sidecar.Params[1].DivisibleBy = 8 },
			"a/scale.kerngen.json: parameter n is promised to be divisible by 8; kerngen checks 16 only; recompile with 16 or without the promise"},
		{"sidecar: unknown TTIR type", true, func(im *image) { im.TTIR.Args[1].Type, im.Source = "index", nil },
			`a/scale.ttir:7: argument n: unknown TTIR type "index"`},
		{"sidecar: unknown type", true, param(artefact.SidecarParam{Name: "n", Type: "*fp7"}),
			`a/scale.kerngen.json: parameter n: unknown type "*fp7"; Triton's are i1, i8, i16, i32, i64, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e5, fp8e4b8, fp8e5b16, fp8e4b15, and pointers to them such as *fp32`},
		{"sidecar: fp8 scalar", true, param(artefact.SidecarParam{Name: "n", Type: "fp8e4nv"}),
			`a/scale.kerngen.json: parameter n: type "fp8e4nv" cannot be passed by value; Triton passes 8-bit floats through pointers only`},
		{"sidecar: no name", true, param(artefact.SidecarParam{Type: "i32"}),
			"a/scale.kerngen.json: a parameter has no name" + remake},
		{"sidecar: one name twice", true, param(artefact.SidecarParam{Name: "x", Type: "i32"}),
			"a/scale.kerngen.json: two parameters are named x" + remake},
		{"sidecar: no kind", true, param(artefact.SidecarParam{Name: "n"}),
			"a/scale.kerngen.json: parameter n has 0 of type, constant and tuple; it must have one" + remake},
		{"sidecar: two kinds", true, param(artefact.SidecarParam{Name: "n", Type: "i32", Constant: &artefact.Constant{None: true}}),
			"a/scale.kerngen.json: parameter n has 2 of type, constant and tuple; it must have one" + remake},
		{"sidecar: no value", true, param(artefact.SidecarParam{Name: "n", Constant: &artefact.Constant{}}),
			"a/scale.kerngen.json: constant n: 0 values; it must have one" + remake},
		{"sidecar: unknown element type", true, param(artefact.SidecarParam{Name: "n", Constant: &artefact.Constant{DType: "fp7"}}),
			`a/scale.kerngen.json: constant n: unknown type "fp7"; Triton's are i1, i8, i16, i32, i64, u8, u16, u32, u64, fp16, bf16, fp32, fp64, fp8e4nv, fp8e5, fp8e4b8, fp8e5b16, fp8e4b15` + remake},
		{"sidecar: folded float", true, func(im *image) { fold(im, 2, "one") },
			"a/scale.kerngen.json: parameter f is folded at one, but fp32 is not an integer" + remake},
		{"sidecar: absent integer", true, func(im *image) { fold(im, 1, "absent") },
			"a/scale.kerngen.json: parameter n is absent, but u32 is not a pointer" + remake},
		{"sidecar: folded otherwise", true, func(im *image) { im.Sidecar.Params[1].Folded = "two" },
			`a/scale.kerngen.json: parameter n is folded "two"; kerngen knows one and absent` + remake},
		{"sidecar: folded and promised", true, func(im *image) { fold(im, 1, "one").Sidecar.Params[1].DivisibleBy = 16 },
			"a/scale.kerngen.json: parameter n is both folded away and promised to be divisible by 16" + remake},
		{"sidecar: nullable integer", true, func(im *image) { im.Sidecar.Params[1].Nullable = true },
			"a/scale.kerngen.json: parameter n is nullable, but u32 is not a pointer; remove nullable"},

		// Parameters of the code.
		{"ptx and cubin differ in count", false, func(im *image) { im.Cubin.Params = im.Cubin.Params[:4] },
			"a/scale.cubin: takes 4 parameters, but the entry in scale.ptx 5" + remake},
		{"fewer parameters than arguments", false, func(im *image) {
			im.PTX.Params, im.Cubin.Params = im.PTX.Params[:2], im.Cubin.Params[:2]
		}, "a/scale.ptx: takes 2 parameters, but scale.ttir has 3 arguments, after which come 0 to 2 scratch pointers" + remake},
		{"too many parameters", false, func(im *image) { take(im, "!tt.ptr<i8>") },
			"a/scale.ptx: takes 6 parameters, but scale.ttir has 3 arguments, after which come 0 to 2 scratch pointers" + remake},
		{"too many parameters in a cubin alone", true, func(im *image) { take(im, "i64"); im.PTX, im.TTIR, im.Source = nil, nil, nil },
			"a/scale.cubin: takes 6 parameters, but scale.kerngen.json has 3 arguments, after which come 0 to 2 scratch pointers" + remake},
		{"ptx width", false, func(im *image) { im.PTX.Params[1].Type, im.PTX.Params[1].Size = ".u64", 8 },
			"a/scale.ptx:13: parameter 1 is .u64 of 8 bytes, but n is i32 in scale.ttir, which is .u32 or .b32 of 4" + remake},
		{"ptx order", false, func(im *image) { p := im.PTX.Params; p[1].Type, p[2].Type = p[2].Type, p[1].Type },
			"a/scale.ptx:13: parameter 1 is .f32 of 4 bytes, but n is i32 in scale.ttir, which is .u32 or .b32 of 4" + remake + "\n" +
				"a/scale.ptx:14: parameter 2 is .u32 of 4 bytes, but f is fp32 in scale.ttir, which is .f32 or .b32 of 4" + remake},
		{"ptx pointer lost", false, func(im *image) { im.PTX.Params[0].Pointer = false },
			"a/scale.ptx:12: parameter 0 is not a pointer, but x is *fp32 in scale.ttir" + remake},
		{"ptx pointer gained", false, func(im *image) { im.PTX.Params[1].Pointer = true },
			"a/scale.ptx:13: parameter 1 is a pointer, but n is i32 in scale.ttir" + remake},
		{"hidden parameter of 4 bytes", false, func(im *image) { im.PTX.Params[3] = artefact.PTXParam{Type: ".u32", Size: 4, Line: 15} },
			"a/scale.ptx:15: parameter 3 follows the arguments of scale.ttir and should be a scratch pointer, but is .u32 of 4 bytes" + remake},
		{"hidden integer", false, func(im *image) { im.PTX.Params[4].Pointer = false },
			"a/scale.ptx:16: parameter 4 follows the arguments of scale.ttir and should be a scratch pointer, but is .u64 of 8 bytes" + remake},
		{"cubin ordinal", false, func(im *image) { im.Cubin.Params[1].Ordinal = 2 },
			"a/scale.cubin: lacks parameter 1" + remake},
		{"cubin width", false, func(im *image) { im.Cubin.Params[1].Size = 8 },
			"a/scale.cubin: parameter 1 has 8 bytes, but is n of 4 bytes by scale.ttir" + remake},
		{"cubin hidden width", false, func(im *image) { im.Cubin.Params[4].Size = 4 },
			"a/scale.cubin: parameter 4 has 4 bytes, but is a scratch pointer of 8 bytes by scale.ttir" + remake},
		{"cubin overlap", false, func(im *image) { im.Cubin.Params[1].Offset = 4 },
			"a/scale.cubin: parameter 1 (n of 4 bytes) lies at offset 4, after one that ends at 8" + remake},
		{"cubin alignment", false, func(im *image) { im.Cubin.Params[1].Offset = 10 },
			"a/scale.cubin: parameter 1 (n of 4 bytes) lies at offset 10, which is not a multiple of its size" + remake},

		// The launch.
		{"no warps", false, func(im *image) { im.Meta.NumWarps = 0 },
			"a/scale.json: scale has 0 warps; a CTA has 1 to 32" + remake},
		{"too many warps", false, func(im *image) { im.Meta.NumWarps = 64 },
			"a/scale.json: scale has 64 warps; a CTA has 1 to 32" + remake},
		{"warps beyond an integer's range", false, func(im *image) { im.Meta.NumWarps = 1<<59 + 4 },
			"a/scale.json: scale has 576460752303423492 warps; a CTA has 1 to 32" + remake},
		{"reqntid", false, func(im *image) { im.PTX.ReqNTID[0] = 256 },
			"a/scale.ptx: .reqntid is [256 1 1], but 4 warps in scale.json make [128 1 1]" + remake},
		{"maxntid", false, func(im *image) { im.PTX.MaxNTID = [3]int{128, 2, 1} },
			"a/scale.ptx: .maxntid is [128 2 1], but 4 warps in scale.json make [128 1 1]" + remake},
		{"cubin threads", false, func(im *image) { im.Cubin.ReqNTID[0] = 64 },
			"a/scale.cubin: the required CTA size is [64 1 1], but 4 warps in scale.json make [128 1 1]" + remake},
		{"threads unknown", false, func(im *image) { im.PTX, im.Cubin.ReqNTID = nil, [3]int{} },
			"a/scale.json: no file says for how many threads scale was compiled, so its 4 warps cannot be checked; put scale.ptx beside it"},
		{"no CTAs", false, func(im *image) { im.Meta.NumCTAs = 0 },
			"a/scale.json: num_ctas is 0; a cluster has 1 to 16 CTAs" + remake},
		{"cluster dims", false, func(im *image) { im.Meta.NumCTAs = 2 },
			"a/scale.json: cluster_dims [1 1 1] do not make num_ctas 2" + remake},
		{"cluster on sm_80", false, func(im *image) { cluster(im, 2) },
			"a/scale.json: num_ctas is 2, but sm_80 has no clusters; recompile with num_ctas=1 or for sm_90 and later"},
		{"cluster in ptx", false, func(im *image) { cluster(retarget(im, 90), 2).PTX.Cluster[0] = 4 },
			"a/scale.ptx: is compiled for clusters of [4 1 1], but scale.json says [2 1 1]" + remake},
		{"cluster in cubin", false, func(im *image) { retarget(im, 90).Cubin.Cluster = [3]int{2, 1, 1} },
			"a/scale.cubin: is compiled for clusters of [2 1 1], but scale.json says [1 1 1]" + remake},
		{"explicit cluster", false, func(im *image) { im.PTX.ExplicitCluster = true },
			"a/scale.ptx: requires a cluster, but scale.json says num_ctas 1" + remake},
		{"cluster not in code", false, func(im *image) {
			cluster(retarget(im, 90), 2)
			im.PTX.Cluster, im.Cubin.Cluster = [3]int{}, [3]int{}
		}, "a/scale.json: num_ctas is 2, but the code is not compiled for clusters" + remake},
		{"negative shared memory", false, func(im *image) { im.Meta.Shared = -1 },
			"a/scale.json: scale needs -1 bytes of shared memory; no architecture has more than 262144; recompile with smaller blocks or fewer stages"},
		{"shared memory", false, func(im *image) { im.Meta.Shared, im.PTX.UsesShared = 262145, true },
			"a/scale.json: scale needs 262145 bytes of shared memory; no architecture has more than 262144; recompile with smaller blocks or fewer stages"},
		{"tensor memory", false, func(im *image) { im.Meta.TensorMemory = 513 },
			"a/scale.json: scale needs 513 columns of tensor memory; there are 512; recompile with smaller blocks"},
		{"global scratch forgotten", false, func(im *image) { im.PTX.Params[3].Used = true },
			"a/scale.json: needs no global scratch, but the code uses its pointer to it" + remake},
		{"profile scratch forgotten", false, func(im *image) { im.PTX.Params[4].Used = true },
			"a/scale.json: needs no profile scratch, but the code uses its pointer to it" + remake},
		{"shared memory forgotten", false, func(im *image) { im.Meta.Shared, im.PTX.UsesShared = 0, true },
			"a/scale.json: needs no shared memory, but the code uses some" + remake},
		{"shared memory that nothing uses", false, func(im *image) { im.Meta.Shared = 64 },
			"a/scale.json: needs 64 bytes of shared memory, but the code uses none" + remake},
		{"scratch that nothing uses", false, func(im *image) { im.Meta.GlobalScratch = artefact.Scratch{Size: 64, Align: 8} },
			"a/scale.json: needs 64 bytes of global scratch, but the code does not use its pointer to it" + remake},
		{"profile scratch that nothing uses", false, func(im *image) {
			im.Meta.ProfileScratch, im.PTX.Params[3].Used = artefact.Scratch{Size: 64, Align: 8}, true
			im.Meta.GlobalScratch = artefact.Scratch{Size: 64, Align: 8}
		}, "a/scale.json: needs 64 bytes of profile scratch, but the code does not use its pointer to it" + remake},
		{"source in place of the ttir", false, func(im *image) { im.TTIR, im.Source.Args[1].Type = nil, "i128" },
			`a/scale.source:7: argument n: unknown TTIR type "i128"`},
		{"source of another kernel in its place", false, func(im *image) { im.TTIR, im.Source.Name = nil, "other" },
			`a/scale.source: the public function is "other", but scale.json says "scale"` + remake},
		{"source of another width in its place", false, func(im *image) { im.TTIR, im.Cubin, im.Source.Args[1].Type = nil, nil, "i64" },
			"a/scale.ptx:13: parameter 1 is .u32 of 4 bytes, but n is i64 in scale.source, which is .u64 or .b64 of 8" + remake},
		{"negative scratch", false, func(im *image) { im.Meta.GlobalScratch.Size = -1 },
			"a/scale.json: global scratch of -1 bytes" + remake},
		{"scratch alignment", false, func(im *image) { im.Meta.ProfileScratch = artefact.Scratch{Size: 8, Align: 12} },
			"a/scale.json: profile scratch is aligned to 12 bytes, which is not a power of two" + remake},
		{"global scratch not taken", false, func(im *image) {
			im.Meta.GlobalScratch.Size = 256
			im.PTX.Params, im.Cubin.Params = im.PTX.Params[:3], im.Cubin.Params[:3]
		}, "a/scale.json: needs 256 bytes of global scratch, but the code takes 0 scratch pointers" + remake},
		{"profile scratch not taken", false, func(im *image) {
			im.Meta.ProfileScratch.Size = 256
			im.PTX.Params, im.Cubin.Params = im.PTX.Params[:4], im.Cubin.Params[:4]
		}, "a/scale.json: needs 256 bytes of profile scratch, but the code takes 1 scratch pointers" + remake},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			im := scale("a")
			if tt.described {
				im = describedScale("a")
			}
			if _, _, err := Build([]*artefact.Image{im}, Options{}); err != nil {
				t.Fatalf("the image is broken from the start: %v", err)
			}
			tt.breaks(im)
			kernels, _, err := Build([]*artefact.Image{im}, Options{})
			if err == nil {
				t.Fatalf("Build accepts it: %+v", kernels)
			}
			if !diag.IsUser(err) {
				t.Errorf("not a fault of the user's: %v", err)
			}
			if diff := cmp.Diff(strings.Split(tt.want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// cluster makes the image one of n CTAs.
func cluster(im *artefact.Image, n int) *artefact.Image {
	shape := [3]int{n, 1, 1}
	im.Meta.NumCTAs, im.Meta.ClusterDims = n, shape
	im.PTX.Cluster, im.PTX.ExplicitCluster, im.Cubin.Cluster = shape, true, shape
	return im
}
