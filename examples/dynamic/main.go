// Command dynamic chooses kernels at run time, as an interpreter or a model
// runner does: it runs a little program of kernels' names and the registers they
// work on.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/kerngen/kerngen/generated/softmax"
	"github.com/kerngen/kerngen/generated/vec"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

const n = 1000 // elements of each register

// program is lines of a kernel and its arguments: registers r0 to r3, and n.
const program = `
add_fp32 r0 r1 r2 n
add_fp32 r2 r2 r3 n
softmax_fp32 r1 r3 n n n
`

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "dynamic:", err)
		os.Exit(1)
	}
}

func run() error {
	kernels := map[string]*kernrt.Kernel{}
	for _, k := range append(vec.Kernels(), softmax.Kernels()...) {
		kernels[k.Name] = k
	}
	device, err := kernrt.Open(0)
	if errors.Is(err, kernrt.ErrNoGPU) {
		fmt.Printf("There is no GPU here: %v.\n", err)
		fmt.Println("A simulated device runs the kernels' PTX, and checks it.")
		device, err = sim.Open(sim.Options{})
	}
	if err != nil {
		return err
	}
	defer device.Close()
	stream, err := device.NewStream()
	if err != nil {
		return err
	}

	registers := map[string]*kernrt.Buffer[float32]{}
	for _, name := range []string{"r0", "r1", "r2", "r3"} {
		if registers[name], err = kernrt.Alloc[float32](device, n); err != nil {
			return err
		}
		if err := registers[name].Fill(stream, 0.5); err != nil {
			return err
		}
	}
	for line := range strings.Lines(strings.TrimSpace(program)) {
		words := strings.Fields(line)
		k, ok := kernels[words[0]]
		if !ok {
			return fmt.Errorf("there is no kernel %q", words[0])
		}
		if err := launch(stream, k, registers, words[1:]); err != nil {
			return err
		}
	}
	// 0.5 + 0.5 = 1, 1 + 1 = 2, and of n equal numbers each is the n-th part.
	for name, want := range map[string]float32{"r2": 1, "r3": 2, "r1": 1.0 / n} {
		got := make([]float32, n)
		if err := registers[name].CopyTo(stream, got); err != nil {
			return err
		}
		for i, v := range got {
			if diff := v - want; diff < -1e-6 || diff > 1e-6 {
				return fmt.Errorf("element %d of %s is %v, want %v", i, name, v, want)
			}
		}
	}
	fmt.Printf("%v launched kernels by name: all numbers are right.\n", device)
	return nil
}

// launch launches k with arguments by their names.
func launch(stream *kernrt.Stream, k *kernrt.Kernel, registers map[string]*kernrt.Buffer[float32], names []string) error {
	args, err := kernrt.NewArgs(k)
	if err != nil {
		return err
	}
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = n
		if register, ok := registers[name]; ok {
			values[i] = register.Ptr()
		}
	}
	if err := args.SetAll(values...); err != nil {
		return err
	}
	// A kernel that declares its grid is launched on that; softmax has one program for
	// its only row.
	var grid kernrt.Grid
	if k.Name == "softmax_fp32" {
		grid = kernrt.Grid1D(1)
	}
	return args.Launch(stream, grid)
}
