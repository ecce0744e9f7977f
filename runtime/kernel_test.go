package kernrt_test

import (
	"bytes"
	"debug/elf"
	"embed"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// What Triton 3.6 compiled.
//
//go:embed testdata
var testdata embed.FS

func code(t testing.TB, name string) *string {
	t.Helper()
	b, err := testdata.ReadFile("testdata/" + name)
	must(t, err)
	s := string(b)
	return &s
}

type addArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         int32
}

// memory is an address for launches, of which the fake runs none.
const memory = 0x7f0000000000

func addArgsOf(n int32) *addArgs {
	p := kernrt.PtrFromAddr[float32](memory)
	return &addArgs{p, p, p, n}
}

// add is add_kernel with each change made to its only image.
func add(t testing.TB, changes ...func(*kernrt.Image)) *kernrt.Kernel {
	t.Helper()
	m := kernrt.Image{
		Target: "sm_90a", Code: code(t, "add.sm90.cubin"), Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4,
	}
	for _, change := range changes {
		change(&m)
	}
	return addOf(m)
}

func addOf(images ...kernrt.Image) *kernrt.Kernel {
	return &kernrt.Kernel{
		Name: "add_kernel",
		Params: []kernrt.Param{
			{Name: "x_ptr", Type: "*fp32"},
			{Name: "y_ptr", Type: "*fp32"},
			{Name: "out_ptr", Type: "*fp32"},
			{Name: "n_elements", Type: "i32"},
		},
		Variants: []kernrt.Variant{{
			Guards: []kernrt.Guard{
				{Param: 0, Is: kernrt.DivisibleBy16},
				{Param: 1, Is: kernrt.DivisibleBy16},
				{Param: 2, Is: kernrt.DivisibleBy16},
				{Param: 3, Is: kernrt.DivisibleBy16},
			},
			Images: images,
		}},
	}
}

type matmulArgs struct {
	A, B, C         kernrt.Ptr[kernrt.Float16]
	M, N, K         int32
	Am, Bk, StrideC int32
}

func matmulArgsOf() *matmulArgs {
	p := kernrt.PtrFromAddr[kernrt.Float16](memory)
	return &matmulArgs{p, p, p, 256, 256, 256, 256, 256, 256}
}

// matmul is a kernel whose CTAs form clusters of two, with each change made to
// its image.
func matmul(t testing.TB, changes ...func(*kernrt.Image)) *kernrt.Kernel {
	t.Helper()
	m := kernrt.Image{
		Target: "sm_90a", Code: code(t, "matmul_cta2.sm90.cubin"), Symbol: "matmul_kernel", Args: []int{0, 1, 2, 3, 4, 5, 6, 7, 8},
		Hidden: 2, NumWarps: 8, Cluster: [3]int{2, 1, 1}, Shared: 98304,
	}
	for _, change := range changes {
		change(&m)
	}
	k := &kernrt.Kernel{Name: "matmul_kernel", Variants: []kernrt.Variant{{Images: []kernrt.Image{m}}}}
	for i, name := range []string{"a_ptr", "b_ptr", "c_ptr", "M", "N", "K", "stride_am", "stride_bk", "stride_cm"} {
		p := kernrt.Param{Name: name, Type: "i32"}
		if i < 3 {
			p.Type = "*fp16"
		}
		k.Params = append(k.Params, p)
	}
	return k
}

// withStatic is a cubin that says its kernel has so many bytes of static shared
// memory beside what the system reserves.
func withStatic(t testing.TB, cubin, kernel string, static uint64) string {
	t.Helper()
	b := []byte(cubin)
	readable := append([]byte(nil), b...)
	readable[0x14] = 1 // a cubin's e_version is its own
	f, err := elf.NewFile(bytes.NewReader(readable))
	must(t, err)
	headers := binary.LittleEndian.Uint64(b[0x28:])
	for i, s := range f.Sections {
		if s.Name == ".nv.shared."+kernel {
			binary.LittleEndian.PutUint64(b[headers+uint64(i)*64+32:], s.Size+static)
			return string(b)
		}
	}
	t.Fatalf("no static shared memory of %s", kernel)
	return ""
}

// ptx is a kernel of no code that takes parameters of Triton's types and two
// scratch pointers.
func ptx(directives string, types ...string) *string {
	var params []string
	for _, t := range append(types, "*i8", "*i8") {
		size := 64
		if t[0] != '*' {
			fmt.Sscanf(strings.TrimLeft(t, "iufpb"), "%d", &size)
		}
		params = append(params, fmt.Sprintf(".param .b%d p%d", max(size, 8), len(params)))
	}
	s := ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(" + strings.Join(params, ", ") + ")\n" + directives + "\n{\n\tret;\n}\n"
	return &s
}

// kernelOf is a kernel named k whose variants have PTX images that take all
// that their guards do not fold.
func kernelOf(params []kernrt.Param, variants ...[]kernrt.Guard) *kernrt.Kernel {
	k := &kernrt.Kernel{Name: "k", Params: params}
	for _, guards := range variants {
		m := kernrt.Image{Target: "sm_80", PTX: true, Symbol: "kernel", Hidden: 2, NumWarps: 1}
		var types []string
	params:
		for i, p := range params {
			for _, g := range guards {
				if g.Param == i && g.Is != kernrt.DivisibleBy16 {
					continue params
				}
			}
			m.Args = append(m.Args, i)
			types = append(types, p.Type)
		}
		m.Code = ptx("", types...)
		k.Variants = append(k.Variants, kernrt.Variant{Guards: guards, Images: []kernrt.Image{m}})
	}
	return k
}
