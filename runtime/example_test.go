package kernrt_test

import (
	"errors"
	"fmt"
	"os"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// A program that uses a GPU where there is one. It starts on a machine without
// a driver, too.
func Example() {
	dev, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoGPU) {
		return // compute on the CPU
	} else if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close() // closes its streams and frees its buffers
	if err := double(dev, []float32{1, 2, 3, 4}); err != nil {
		fmt.Println(err)
	}
	// Output:
}

// A kernel that takes a tensor descriptor is told where a tensor lies and how, here
// the upper left quarter of a matrix. The Launch function of a generated package
// takes the result; a launch refuses what no tensor map can describe.
func ExampleNewTensorDesc() {
	matrix := kernrt.PtrFromAddr[kernrt.Float16](0x7f0000000000) // of a Buffer: buffer.Ptr()
	const rows, columns = 1024, 768
	whole := kernrt.NewTensorDesc(matrix, rows, columns)
	quarter := kernrt.NewTensorDesc(matrix, rows/2, columns/2).WithStrides(columns, 1).WithNaN()
	fmt.Println(whole)
	fmt.Println(quarter)
	// Output:
	// [1024 768] elements with strides [768 1] at 0x7f0000000000
	// [512 384] elements with strides [768 1] at 0x7f0000000000, NaN outside
}

// double copies values to the device and back; between the copies a program
// calls the Launch function of a generated package with x.Ptr().
func double(dev *kernrt.Device, values []float32) error {
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	x, err := kernrt.Alloc[float32](dev, len(values))
	if err != nil {
		return err
	}
	if err := x.CopyFrom(stream, values); err != nil {
		return err
	}
	// err = vec.LaunchDouble(stream, kernrt.Grid1D(1), x.Ptr(), int32(len(values)))
	return x.CopyTo(stream, values)
}

// launchAdd is what a generated package has for a kernel; there the image is
// embedded.
func launchAdd(stream *kernrt.Stream, grid kernrt.Grid, x, y, out kernrt.Ptr[float32], n int32) error {
	args := addArgs{x, y, out, n}
	return kernrt.Launch(&exampleKernel, stream, grid, &args)
}

var exampleKernel = kernrt.Kernel{
	Name: "add",
	Params: []kernrt.Param{
		{Name: "x", Type: "*fp32"}, {Name: "y", Type: "*fp32"}, {Name: "out", Type: "*fp32"}, {Name: "n", Type: "i32"},
	},
	Variants: []kernrt.Variant{
		{
			Guards: []kernrt.Guard{{Param: 0, Is: kernrt.DivisibleBy16}, {Param: 1, Is: kernrt.DivisibleBy16}, {Param: 2, Is: kernrt.DivisibleBy16}},
			Images: []kernrt.Image{exampleImage},
		},
		{Images: []kernrt.Image{exampleImage}},
	},
}

var exampleImage = kernrt.Image{
	Target: "sm_80", PTX: true, Code: &examplePTX, Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4,
}

var examplePTX string

// A test that the variant for aligned pointers is the one that a program's call
// launches, on a device that is simulated.
func ExampleDevice_Explain() {
	ptx, err := os.ReadFile("testdata/add.sm80.ptx")
	if err != nil {
		fmt.Println(err)
		return
	}
	examplePTX = string(ptx)
	dev, err := sim.Open(sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	x := kernrt.PtrFromAddr[float32](0x1000)
	explained, err := dev.Explain(func(stream *kernrt.Stream) error {
		return errors.Join(
			launchAdd(stream, kernrt.Grid1D(1), x, x, x, 1000),
			launchAdd(stream, kernrt.Grid1D(1), x.Add(1), x, x, 999),
		)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if e := explained[0]; e.Variant != 1 || e.Image.Target != "sm_80" {
		fmt.Println("the aligned call launches", e)
	}
	fmt.Println(explained[1])
	// Output:
	// add on simulated device (device 0, sm_80), grid (1, 1, 1): variant 2, as sm_80 PTX
	//   not variant 1: x = 0x1004 is not divisible by 16, as the kernel was compiled for
}
