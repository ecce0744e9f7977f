// Command graph captures a copy, a launch and a copy back into a CUDA graph, and
// launches it over and over: first with new numbers, then with other arguments
// for the launch.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
	"github.com/kerngen/kerngen/runtime/sim"
)

const (
	n      = 1 << 16
	rounds = 8
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "graph:", err)
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
	defer device.Close() // with all that was made from it, graphs too
	stream, err := device.NewStream()
	if err != nil {
		return err
	}
	x, err := kernrt.Alloc[float32](device, n)
	if err != nil {
		return err
	}
	y, err := kernrt.Alloc[float32](device, n)
	if err != nil {
		return err
	}
	// What a graph copies must stay where it is: pinned memory.
	host, err := kernrt.AllocHost[float32](device, n)
	if err != nil {
		return err
	}

	var add *graph.Node[vec.AddArgs[float32]]
	g, err := graph.Capture(stream, func() error {
		if err := x.CopyFromAsync(stream, host); err != nil {
			return err
		}
		var err error
		add, err = graph.Record[vec.AddArgs[float32]](stream, func() error {
			return vec.LaunchAdd(stream, x.Ptr(), x.Ptr(), y.Ptr(), n)
		})
		if err != nil {
			return err
		}
		return y.CopyToAsync(stream, host)
	})
	if err != nil {
		return err
	}
	exec, err := g.Instantiate()
	if err != nil {
		return err
	}

	// replay launches the graph on new numbers, and wants each to be changed so.
	replay := func(change func(float32) float32) error {
		for round := range rounds {
			values := host.Values()
			for i := range values {
				values[i] = float32(i + round)
			}
			if err := exec.Launch(stream); err != nil {
				return err
			}
			if err := stream.Synchronize(); err != nil {
				return err
			}
			for i, got := range values {
				if want := change(float32(i + round)); got != want {
					return fmt.Errorf("element %d is %v, want %v", i, got, want)
				}
			}
		}
		return nil
	}
	if err := replay(func(v float32) float32 { return v + v }); err != nil {
		return err
	}
	// From here on the launch adds a vector of ones.
	ones, err := kernrt.Alloc[float32](device, n)
	if err != nil {
		return err
	}
	if err := ones.Fill(stream, 1); err != nil {
		return err
	}
	if err := add.Update(exec, kernrt.Grid{}, &vec.AddArgs[float32]{XPtr: x.Ptr(), YPtr: ones.Ptr(), OutPtr: y.Ptr(), N: n}); err != nil {
		return err
	}
	if err := replay(func(v float32) float32 { return v + 1 }); err != nil {
		return err
	}
	fmt.Printf("%v launched the graph %d times: all numbers are right.\n", device, 2*rounds)
	return nil
}
