// Command streams divides a vector among goroutines, each with a stream and a
// part of its own, so that copies and kernels of different parts may overlap.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

const (
	n     = 1 << 20
	parts = 4
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "streams:", err)
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

	// One allocation, shared: a Slice of it knows its bounds and owns nothing.
	buffer, err := kernrt.Alloc[float32](device, n)
	if err != nil {
		return err
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}

	var wg sync.WaitGroup
	errs := make([]error, parts)
	for p := range parts {
		low, high := p*n/parts, (p+1)*n/parts
		wg.Go(func() {
			part, err := buffer.Slice(low, high)
			if err == nil {
				err = double(device, part, values[low:high])
			}
			errs[p] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}

	for i, got := range values {
		if want := 2 * float32(i); got != want {
			return fmt.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
	fmt.Printf("%v doubled %d numbers on %d streams: all are right.\n", device, n, parts)
	return nil
}

// double doubles values on a stream of its own, by way of part.
func double(device *kernrt.Device, part kernrt.Slice[float32], values []float32) error {
	stream, err := device.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close() // waits for what is queued
	if err := part.CopyFrom(stream, values); err != nil {
		return err
	}
	if err := vec.LaunchAdd(stream, part.Ptr(), part.Ptr(), part.Ptr(), int32(part.Len())); err != nil {
		return err
	}
	return part.CopyTo(stream, values)
}
