package names

import (
	"go/token"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kerngen/kerngen/gen/internal/diag"
	"github.com/kerngen/kerngen/gen/internal/model"
)

func TestCamel(t *testing.T) {
	for name, want := range map[string]string{
		"add_kernel":      "AddKernel",
		"_attn_fwd":       "AttnFwd",
		"n_elements":      "NElements",
		"M":               "M",
		"m":               "M",
		"arg_KV_NUM_BLKS": "ArgKvNumBlks",
		"BLOCK_SIZE":      "BlockSize",
		"BLOCK_SIZE_1":    "BlockSize1",
		"matMul":          "MatMul",
		"dO":              "DO",
		"stride_qZ":       "StrideQZ",
		"id":              "Id",
		"ptrs.0":          "Ptrs0",
		"shape.rows":      "ShapeRows",
		"_1d_conv":        "X1dConv",
		"_":               "X",
		"___":             "X",
		"核":               "X核",
		"größe":           "Größe",
		"ßx":              "Xßx",
		"éa_é":            "ÉaÉ",
		"naïve_µ":         "NaïveΜ",
		"a‿b":             "AB",
		"𝐀":               "X𝐀",
		"x__y_":           "XY",
	} {
		if got := camel(name); got != want {
			t.Errorf("camel(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFileStem(t *testing.T) {
	long := strings.Repeat("k", 400)
	for name, want := range map[string]string{
		"add_kernel": "add_kernel",
		"_attn_fwd":  "attn_fwd",
		"__1d":       "1d",
		"MatMul":     "MatMul",
		"___":        "x",
		"核_add":      "u6838_add",
		"a.b":        "a_b",
		long:         strings.Repeat("k", 191) + "_ae0e1e0e",
	} {
		got := fileStem(name)
		if name == long {
			if len(got) != maxFileStem || !strings.HasPrefix(got, want[:192]) {
				t.Errorf("fileStem of a long name = %q", got)
			}
			if fileStem(long+"x") == got {
				t.Error("two long names have one stem")
			}
			continue
		}
		if got != want {
			t.Errorf("fileStem(%q) = %q, want %q", name, got, want)
		}
	}
}

// kernel makes a kernel of one variant with a cubin and PTX.
func kernel(name string, params, constants []string) model.Kernel {
	k := model.Kernel{Name: name, Variants: []model.Variant{{Images: []model.Image{
		{Target: model.Target{SM: 80}, Kind: model.Cubin, Origin: "a/" + name},
		{Target: model.Target{SM: 90, Suffix: "a"}, Kind: model.Cubin, Origin: "b/" + name},
		{Target: model.Target{SM: 80}, Kind: model.PTX, Origin: "a/" + name},
	}}}}
	for _, p := range params {
		k.Params = append(k.Params, model.Param{Name: p, Type: model.Type{Elem: "i32"}})
	}
	for _, c := range constants {
		k.Constants = append(k.Constants, model.Constant{Name: c, Value: int64(1)})
	}
	return k
}

func TestAssign(t *testing.T) {
	k := kernel("add_kernel", []string{"x_ptr", "type", "stream", "grid", "args", "kernrt", "len", "addKernel", "N"}, []string{"BLOCK_SIZE"})
	k.Constants = append(k.Constants, model.Constant{Name: "ACT"}, model.Constant{Name: "LOW", Value: math.Inf(-1)})
	got, err := Assign([]model.Kernel{k}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []*Kernel{{
		File:      "add_kernel_kern.go",
		Launch:    "LaunchAddKernel",
		Args:      "AddKernelArgs",
		Var:       "addKernel",
		Constants: []string{"AddKernelBlockSize", "", ""},
		Params: []Param{
			{"XPtr", "xPtr"}, {"Type", "type_"}, {"Stream", "stream_"}, {"Grid", "grid_"}, {"Args", "args_"},
			{"Kernrt", "kernrt_"}, {"Len", "len_"}, {"AddKernel", "addKernel_"}, {"N", "n"},
		},
		Variants: []Variant{{[]Image{
			{"addKernelSM80", "add_kernel_sm80.cubin"},
			{"addKernelSM90a", "add_kernel_sm90a.cubin"},
			{"addKernelSM80PTX", "add_kernel_sm80.ptx.gz"},
		}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAssignConfigsAndTypes(t *testing.T) {
	k := kernel("add_kernel", []string{"x_ptr"}, nil)
	k.TypeVars = []model.TypeVar{{Name: "T"}, {Name: "out"}}
	k.Configs = make([]model.Config, 2)
	k.Instances = []model.Kernel{{Name: "add_kernel", Suffix: "fp16_i32", Variants: k.Variants}}
	k.Variants = nil
	got, err := Assign([]model.Kernel{k}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []*Kernel{{
		File: "add_kernel_kern.go", Launch: "LaunchAddKernel", Config: "LaunchAddKernelConfig", Configs: "AddKernelConfigs",
		Args: "AddKernelArgs", Var: "addKernel", TypeVars: []string{"T", "Out"}, Params: []Param{{"XPtr", "xPtr"}},
		Instances: []Instance{{"addKernelFp16I32", []Variant{{[]Image{
			{"addKernelFp16I32SM80", "add_kernel_fp16_i32_sm80.cubin"},
			{"addKernelFp16I32SM90a", "add_kernel_fp16_i32_sm90a.cubin"},
			{"addKernelFp16I32SM80PTX", "add_kernel_fp16_i32_sm80.ptx.gz"},
		}}}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAssignVariantsAreNumbered(t *testing.T) {
	k := kernel("add", nil, nil)
	k.Variants = append(k.Variants, k.Variants[0])
	got, err := Assign([]model.Kernel{k}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Image{"addV2SM90a", "add_v2_sm90a.cubin"}
	if got[0].Variants[1].Images[1] != want {
		t.Errorf("got %v, want %v", got[0].Variants[1].Images[1], want)
	}
}

func TestAssignReservedKernelNames(t *testing.T) {
	for name, want := range map[string]string{"init": "init_", "main": "main_", "kernrt": "kernrt_", "func": "func_", "copy": "copy_"} {
		got, err := Assign([]model.Kernel{kernel(name, nil, nil)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Var != want {
			t.Errorf("%s: kernel variable %q, want %q", name, got[0].Var, want)
		}
	}
}

func TestOptions(t *testing.T) {
	kernels := []model.Kernel{kernel("mm", []string{"M", "m", "ptrs.0"}, []string{"ARGS"}), kernel("add", []string{"n", "ptrs.0"}, nil)}
	got, err := Assign(kernels, Options{
		Names: map[string]string{"mm": "mat_mul"},
		Renames: map[string]string{
			"m": "rows", "mm.ARGS": "count", "n": "n_elements", "ptrs.0": "first", "add.ptrs.0": "x",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Param{{"M", "m"}, {"Rows", "rows"}, {"First", "first"}}, got[0].Params); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Param{{"NElements", "nElements"}, {"X", "x"}}, got[1].Params); d != "" {
		t.Error(d)
	}
	if got[0].Launch != "LaunchMatMul" || got[0].File != "mat_mul_kern.go" || got[0].Constants[0] != "MatMulCount" {
		t.Errorf("--name and --rename had no effect: %+v", got[0])
	}
}

func TestAssignFaults(t *testing.T) {
	one := func(k ...model.Kernel) []model.Kernel { return k }
	for _, c := range []struct {
		name    string
		kernels []model.Kernel
		o       Options
		want    string
	}{
		{"the list of kernels", one(kernel("kernels", nil, nil)), Options{},
			"kernel kernels and the list of all kernels would both have the file name kernels_kern.go; use --name kernels=NAME"},
		{"hand-written list", one(kernel("add", nil, nil)), Options{Taken: map[string]string{"Kernels": "vec/vec.go:7:6"}},
			"vec/vec.go:7:6: Kernels is declared here and wanted by the list of all kernels; rename it"},
		{"params", one(kernel("mm", []string{"M", "m"}, nil)), Options{},
			"parameter M of mm and parameter m of mm would both have the Go name M; use --rename mm.M=NAME or --rename mm.m=NAME"},
		{"underscores", one(kernel("mm", []string{"_", "__"}, nil)), Options{},
			"parameter _ of mm and parameter __ of mm would both have the Go name X; use --rename mm._=NAME or --rename mm.__=NAME"},
		{"kernels once", one(kernel("add", nil, []string{"B"}), kernel("_add", nil, []string{"B"})), Options{},
			"kernel add and kernel _add would both have the Go name LaunchAdd; use --name add=NAME or --name _add=NAME\n" +
				"kernel add and kernel _add would both have the file name add_kern.go; use --name add=NAME or --name _add=NAME"},
		{"files without case", one(kernel("addX", nil, nil), kernel("ADDX", nil, nil)), Options{},
			"kernel addX and kernel ADDX would both have the file name ADDX_kern.go; use --name addX=NAME or --name ADDX=NAME"},
		{"constant and args", one(kernel("mm", nil, []string{"ARGS"})), Options{},
			"kernel mm and constant ARGS of mm would both have the Go name MmArgs; use --name mm=NAME or --rename mm.ARGS=NAME"},
		{"launch and args", one(kernel("launch_x", nil, nil), kernel("x_args", nil, nil)), Options{},
			"kernel launch_x and kernel x_args would both have the Go name LaunchXArgs; use --name launch_x=NAME or --name x_args=NAME"},
		{"image and kernel", one(kernel("add", nil, nil), kernel("addSM80", nil, nil)), Options{},
			"image a/add of add and kernel addSM80 would both have the Go name addSM80; use --name add=NAME or --name addSM80=NAME"},
		{"hand-written", one(kernel("add", nil, nil)), Options{Taken: map[string]string{"AddArgs": "vec/vec.go:7:6"}},
			"vec/vec.go:7:6: AddArgs is declared here and wanted by kernel add; use --name add=NAME"},
		{"hand-written kernrt", one(kernel("add", nil, nil)), Options{Taken: map[string]string{"kernrt": "vec/vec.go:7:6"}},
			"vec/vec.go:7:6: kernrt is what generated files call the runtime they import; rename it"},
		{"hand-written string", one(kernel("add", nil, nil)), Options{Taken: map[string]string{"string": "vec/vec.go:7:6", "len": "vec/vec.go:8:6"}},
			"vec/vec.go:7:6: string is declared here, but means Go's own in generated files; rename it"},
		{"type variables", one(func() model.Kernel {
			k := kernel("mm", nil, nil)
			k.TypeVars = []model.TypeVar{{Name: "T"}, {Name: "t"}}
			return k
		}()), Options{}, "type variable T of mm and type variable t of mm would both have the Go name type T; use another name for it in the kernel's description"},
		{"configurations and kernel", one(func() model.Kernel {
			k := kernel("mm", nil, nil)
			k.Configs = make([]model.Config, 2)
			return k
		}(), kernel("mm_config", nil, nil)), Options{},
			"kernel mm and kernel mm_config would both have the Go name LaunchMmConfig; use --name mm=NAME or --name mm_config=NAME"},
		{"instance and kernel", one(func() model.Kernel {
			k := kernel("mm", nil, nil)
			k.Instances = []model.Kernel{{Name: "mm", Suffix: "fp16"}}
			return k
		}(), kernel("mm_fp16", nil, nil)), Options{},
			"kernel mm and kernel mm_fp16 would both have the Go name mmFp16; use --name mm=NAME or --name mm_fp16=NAME"},
		{"unused name", one(kernel("add", []string{"n"}, []string{"B"})), Options{Names: map[string]string{"sub": "x"}},
			`--name sub=x: no kernel is named "sub"; there is add(n, B)`},
		{"unused rename", one(kernel("add", []string{"n"}, []string{"B"})), Options{Renames: map[string]string{"m": "x"}},
			`--rename m=x: no parameter is named "m", or a more exact --rename names each; write PARAM or KERNEL.PARAM as in the Python source; kernels: add(n, B)`},
		{"no name", one(kernel("add", nil, nil)), Options{Names: map[string]string{"add": "a-b"}},
			`--name add=a-b: "a-b" is not a name; use letters, digits and underscores, a letter first`},
		{"empty name", one(kernel("add", nil, nil)), Options{Names: map[string]string{"add": ""}},
			`--name add=: "" is not a name; use letters, digits and underscores, a letter first`},
		{"digit first", one(kernel("add", []string{"n"}, nil)), Options{Renames: map[string]string{"n": "1n"}},
			`--rename n=1n: "1n" is not a name; use letters, digits and underscores, a letter first`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.o.Validate()
			if err == nil {
				_, err = Assign(c.kernels, c.o)
			}
			if err == nil {
				t.Fatal("no error")
			}
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Error(d)
			}
			if !diag.IsUser(err) {
				t.Error("not a user's fault")
			}
		})
	}
}

// Whatever the source holds, the names are Go's, exported or not as they must
// be, unreserved, and no two alike; else there is an error.
func TestAssignProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("abcXYZ019___.‿éß核µİſK𝐀ǆ١́�-/\x00\n")
	words := slices.Concat(predeclared, []string{"func", "type", "stream", "grid", "args", "kernrt", "init", "main", "_", "test", "arm64"})
	random := func() string {
		var b strings.Builder
		for range rng.IntN(4) {
			if rng.IntN(3) == 0 {
				b.WriteString(words[rng.IntN(len(words))])
			}
			for range rng.IntN(5) {
				b.WriteRune(alphabet[rng.IntN(len(alphabet))])
			}
		}
		if rng.IntN(50) == 0 {
			return strings.Repeat(b.String(), 60)
		}
		return b.String()
	}
	for range 20000 {
		var kernels []model.Kernel
		for range 1 + rng.IntN(2) {
			kernels = append(kernels, kernel(random(), []string{random(), random()}, []string{random()}))
		}
		named, err := Assign(kernels, Options{})
		if err != nil {
			if !diag.IsUser(err) {
				t.Fatal(err)
			}
			continue
		}
		identifiers, files := map[string]bool{}, map[string]bool{}
		unique := func(names map[string]bool, name string) {
			if names[name] {
				t.Fatalf("%q twice among %q", name, slices.Collect(maps.Keys(names)))
			}
			names[name] = true
		}
		for _, n := range named {
			for _, name := range slices.Concat([]string{n.Launch, n.Args}, n.Constants) {
				checkIdentifier(t, name, true)
				unique(identifiers, name)
			}
			checkIdentifier(t, n.Var, false)
			unique(identifiers, n.Var)
			checkFile(t, n.File)
			unique(files, strings.ToLower(n.File))
			local := map[string]bool{"stream": true, "grid": true, "args": true, "kernrt": true, n.Var: true}
			for _, p := range n.Params {
				checkIdentifier(t, p.Field, true)
				checkIdentifier(t, p.Arg, false)
				unique(local, p.Field)
				unique(local, p.Arg)
			}
			for _, image := range n.Variants[0].Images {
				checkIdentifier(t, image.Var, false)
				unique(identifiers, image.Var)
				checkFile(t, image.File)
				unique(files, strings.ToLower(image.File))
			}
		}
	}
}

func checkIdentifier(t *testing.T, name string, exported bool) {
	t.Helper()
	if !token.IsIdentifier(name) || token.IsExported(name) != exported || slices.Contains(predeclared, name) {
		t.Fatalf("%q is not a good identifier (want exported: %v)", name, exported)
	}
}

func checkFile(t *testing.T, name string) {
	t.Helper()
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c <= ' ' || strings.IndexByte(`/\*?[]":<>|'`, c) >= 0 {
			t.Fatalf("%q is not a good file name", name)
		}
	}
	if len(name) > 250 || name[0] == '_' || name[0] == '.' || strings.HasSuffix(strings.TrimSuffix(name, ".go"), "_test") {
		t.Fatalf("%q is not a good file name", name)
	}
}
