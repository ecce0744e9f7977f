package kernrt_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	kernrt "github.com/kerngen/kerngen/runtime"
)

// A service waits for the device no longer than its client does.
func ExampleStream_SynchronizeContext() {
	serve := func(ctx context.Context, stream *kernrt.Stream) error {
		// err := vec.LaunchAdd(stream, …)
		err := stream.SynchronizeContext(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the client is gone; what was queued is still running: %w", err)
		}
		return err
	}
	onGPU(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return serve(ctx, stream)
	})
	// Output:
}

// Two streams at once, each with a channel that says when it is done.
func ExampleStream_Done() {
	onGPU(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		other, err := dev.NewStream(kernrt.WithPriority(-1))
		if err != nil {
			return err
		}
		// launches on both
		first, second := stream.Done(), other.Done()
		for range 2 {
			select {
			case err = <-first:
				first = nil
			case err = <-second:
				second = nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	// Output:
}

// One stream waits for another, and the device tells how long that took.
func ExampleEvent() {
	onGPU(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		begin, err := dev.NewEvent()
		if err != nil {
			return err
		}
		end, err := dev.NewEvent()
		if err != nil {
			return err
		}
		consumer, err := dev.NewStream()
		if err != nil {
			return err
		}
		// A launch stands between the two Records.
		if err := errors.Join(begin.Record(stream), end.Record(stream), consumer.Wait(end)); err != nil {
			return err
		}
		// What consumer launches from here on sees what stream's launch wrote.
		if err := end.Synchronize(); err != nil {
			return err
		}
		took, err := end.Since(begin)
		if err == nil && took < 0 {
			fmt.Println("time ran backwards:", took)
		}
		return err
	})
	// Output:
}

// Memory in the order of a stream, and pinned memory on the host: nothing waits
// but Synchronize.
func ExamplePool() {
	onGPU(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		pool, err := dev.NewPool(1 << 30) // bytes that it keeps for later
		if errors.Is(err, kernrt.ErrLimit) {
			return nil // a device without pools
		} else if err != nil {
			return err
		}
		defer pool.Close()
		host, err := kernrt.AllocHost[float32](dev, 4)
		if err != nil {
			return err
		}
		copy(host.Values(), []float32{1, 2, 3, 4})
		x, err := kernrt.AllocAsync[float32](pool, stream, 4)
		if err != nil {
			return err
		}
		if err := x.CopyFromAsync(stream, host); err != nil {
			return err
		}
		// err = vec.LaunchDouble(stream, kernrt.Grid1D(1), x.Ptr(), 4)
		if err := x.CopyToAsync(stream, host); err != nil {
			return err
		}
		if err := x.FreeAsync(stream); err != nil { // once the copy is done
			return err
		}
		return stream.Synchronize() // from here on host.Values() has the result
	})
	// Output:
}

// Rows that a tensor descriptor wants padded to a multiple of 16 bytes.
func ExampleSlice_CopyRowsFrom() {
	onGPU(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		const rows, width, pitch = 3, 5, 8
		x, err := kernrt.Alloc[float32](dev, rows*pitch)
		if err != nil {
			return err
		}
		if err := x.Fill(stream, 0); err != nil { // the padding
			return err
		}
		return x.All().CopyRowsFrom(stream, make([]float32, rows*width), kernrt.Rows{Count: rows, Width: width, ToPitch: pitch})
	})
	// Output:
}

// onGPU runs an example where there is a GPU.
func onGPU(example func(*kernrt.Device, *kernrt.Stream) error) {
	dev, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoGPU) {
		return
	} else if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err == nil {
		err = example(dev, stream)
	}
	if err != nil {
		fmt.Println(err)
	}
}
