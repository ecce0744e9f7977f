package kernrt_test

import (
	_ "embed"
	"testing"

	kernrt "github.com/kerngen/kerngen/runtime"
)

//go:embed testdata/add.sm90.cubin
var addSM90 string

type addArgs struct {
	X, Y, Out kernrt.Ptr[float32]
	N         int32
}

var addKernel = kernrt.Kernel{
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
		Images: []kernrt.Image{{
			Target: "sm_90a", Code: &addSM90, Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4,
		}},
	}},
}

func BenchmarkLaunch(b *testing.B) {
	if fake == nil {
		b.Skip("no driver")
	}
	fake.Record(false)
	defer fake.Record(true)
	dev, err := kernrt.Open(0)
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	p := kernrt.PtrFromAddr[float32](0x7f0000000000)
	b.ReportAllocs()
	for b.Loop() {
		args := addArgs{p, p, p, 1024}
		if err := kernrt.Launch(&addKernel, stream, kernrt.Grid1D(1), &args); err != nil {
			b.Fatal(err)
		}
	}
}
