// Command vecadd adds two vectors on a GPU, or on a simulated one where
// there is none.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

const n = 1_000_000

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "vecadd:", err)
		os.Exit(1)
	}
}

func run() error {
	device, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoGPU) {
		fmt.Printf("There is no GPU here: %v.\n", err)
		fmt.Println("A simulated device runs the kernels' PTX, and checks it.")
		device, err = sim.Open(sim.Options{})
	}
	if err != nil {
		return err
	}
	defer device.Close() // with all streams and buffers made from it

	stream, err := device.NewStream()
	if err != nil {
		return err
	}
	x, y := make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], y[i] = float32(i), 0.5
	}
	deviceX, err := upload(stream, x)
	if err != nil {
		return err
	}
	deviceY, err := upload(stream, y)
	if err != nil {
		return err
	}
	deviceSum, err := kernrt.Alloc[float32](device, n)
	if err != nil {
		return err
	}

	// The element type and the grid follow from the arguments. The launch returns at
	// once; the copy after it waits, being on the same stream.
	if err := vec.LaunchAdd(stream, deviceX.Ptr(), deviceY.Ptr(), deviceSum.Ptr(), n); err != nil {
		return err
	}
	sum := make([]float32, n)
	if err := deviceSum.CopyTo(stream, sum); err != nil {
		return err
	}

	for i := range n {
		if want := x[i] + y[i]; sum[i] != want {
			return fmt.Errorf("element %d is %v, want %v", i, sum[i], want)
		}
	}
	fmt.Printf("%v added %d numbers: all are right.\n", device, n)
	return nil
}

// upload copies values to new memory on the stream's device.
func upload(stream *kernrt.Stream, values []float32) (*kernrt.Buffer[float32], error) {
	buffer, err := kernrt.Alloc[float32](stream.Device(), len(values))
	if err != nil {
		return nil, err
	}
	return buffer, buffer.CopyFrom(stream, values)
}
