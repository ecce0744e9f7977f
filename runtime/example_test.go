package kernrt_test

import (
	"errors"
	"fmt"

	kernrt "github.com/kerngen/kerngen/runtime"
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
