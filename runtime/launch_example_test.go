package kernrt_test

import (
	"fmt"
	"os"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// onSimulated runs an example on a simulated device, with the code of
// exampleKernel. On a GPU all is the same but for the Open.
func onSimulated(do func(*kernrt.Device, *kernrt.Stream) error) {
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
	stream, err := dev.NewStream()
	if err == nil {
		err = do(dev, stream)
	}
	if err != nil {
		fmt.Println(err)
	}
}

// A program that learns the name of its kernel at run time, from a model's file
// say, launches it with values that are checked as a generated function's are.
func ExampleNewArgs() {
	registry := func() map[string]*kernrt.Kernel { // a generated package's Kernels
		return map[string]*kernrt.Kernel{"add": &exampleKernel}
	}
	onSimulated(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		x, err := kernrt.Upload(stream, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
		if err != nil {
			return err
		}
		args, err := kernrt.NewArgs(registry()["add"])
		if err != nil {
			return err
		}
		for i, p := range args.Kernel().Params {
			var value any = x.Ptr()
			if p.Type == "i32" {
				value = x.Len()
			}
			if err := args.Set(i, value); err != nil {
				return err
			}
		}
		if err := args.Launch(stream, kernrt.Grid1D(1)); err != nil {
			return err
		}
		sums, err := x.Download(stream)
		fmt.Println(sums)
		fmt.Println(args.Set(3, int64(1)<<40))
		return err
	})
	// Output:
	// [0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30]
	// add: n is i32, which cannot be 1099511627776
}

// A persistent kernel is launched with as many programs as run at once, and shares
// the work among them: with ResidentGrid, or with a number that the program works
// out from the occupancy.
func ExampleOccupancyOf() {
	onSimulated(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		x, err := kernrt.Upload(stream, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
		if err != nil {
			return err
		}
		args := &addArgs{x.Ptr(), x.Ptr(), x.Ptr(), 16}
		resident, err := kernrt.OccupancyOf(&exampleKernel, dev, args)
		if err != nil {
			return err
		}
		fmt.Println("fills the device:", resident.Programs == resident.CTAsPerSM*dev.Info().SMCount)
		return kernrt.Launch(&exampleKernel, stream, kernrt.Grid1D(min(resident.Programs, 1)), args)
	})
	// Output:
	// fills the device: true
}

// Memory that is copied while the program goes on is pinned; a part of it is
// copied to a part of a buffer.
func ExampleHostBuffer() {
	onSimulated(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		host, err := kernrt.AllocHost[int32](dev, 6)
		if err != nil {
			return err
		}
		x, err := kernrt.Alloc[int32](dev, 6)
		if err != nil {
			return err
		}
		if err := x.Fill(stream, 7); err != nil {
			return err
		}
		copy(host.Values(), []int32{1, 2, 3})
		some, err := host.Slice(0, 3)
		if err != nil {
			return err
		}
		middle, err := x.Slice(2, 5)
		if err != nil {
			return err
		}
		if err := middle.CopyFromAsync(stream, some); err != nil {
			return err
		}
		if err := x.CopyToAsync(stream, host); err != nil {
			return err
		}
		// Until the stream is done, host is the device's.
		if err := stream.Synchronize(); err != nil {
			return err
		}
		fmt.Println(host.Values(), dev.MemoryStats().Pinned, "bytes pinned")
		return nil
	})
	// Output:
	// [7 7 1 2 3 7] 24 bytes pinned
}
