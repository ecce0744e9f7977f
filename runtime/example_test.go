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
