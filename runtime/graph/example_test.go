package graph_test

import (
	"fmt"
	"os"

	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/graph"
	"github.com/kerngen/kerngen/runtime/sim"
)

// What a generated package has for a kernel, and its Launch function.
var exampleCode string

var exampleAdd = kernrt.Kernel{
	Name: "add",
	Params: []kernrt.Param{
		{Name: "x", Type: "*fp32"}, {Name: "y", Type: "*fp32"}, {Name: "out", Type: "*fp32"}, {Name: "n", Type: "i32"},
	},
	Variants: []kernrt.Variant{{Guards: []kernrt.Guard{{Param: 3, Is: kernrt.DivisibleBy16}}, Images: []kernrt.Image{{
		Target: "sm_80", PTX: true, Code: &exampleCode, Symbol: "add_kernel", Args: []int{0, 1, 2, 3}, Hidden: 2, NumWarps: 4,
	}}}},
}

func launchAdd(stream *kernrt.Stream, x, y, out kernrt.Ptr[float32], n int32) error {
	return kernrt.Launch(&exampleAdd, stream, kernrt.Grid1D(1), &addArgs{x, y, out, n})
}

// A launch and the copies around it are captured, replayed on new numbers, and
// replayed once more with another argument. The device is a simulated one.
func Example() {
	if err := replay(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [2 4 6]
	// [11 12 13]
}

func replay() error {
	code, err := os.ReadFile("../testdata/add.sm80.ptx")
	if err != nil {
		return err
	}
	const n = 16
	exampleCode = string(code)
	dev, err := sim.Open(sim.Options{})
	if err != nil {
		return err
	}
	defer dev.Close() // with all that was made from it, graphs too
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	host, err := kernrt.AllocHost[float32](dev, n)
	if err != nil {
		return err
	}
	x, err := kernrt.Alloc[float32](dev, n)
	if err != nil {
		return err
	}
	tens, err := kernrt.Alloc[float32](dev, n)
	if err != nil {
		return err
	}

	if err := tens.Fill(stream, 10); err != nil {
		return err
	}

	var add *graph.Node[addArgs]
	g, err := graph.Capture(stream, func() (err error) {
		if err := x.CopyFromAsync(stream, host); err != nil {
			return err
		}
		add, err = graph.Record[addArgs](stream, func() error {
			return launchAdd(stream, x.Ptr(), x.Ptr(), x.Ptr(), n)
		})
		if err != nil {
			return err
		}
		return x.CopyToAsync(stream, host)
	})
	if err != nil {
		return err
	}
	exec, err := g.Instantiate()
	if err != nil {
		return err
	}
	for range 2 {
		copy(host.Values(), []float32{1, 2, 3})
		if err := exec.Launch(stream); err != nil {
			return err
		}
		if err := stream.Synchronize(); err != nil {
			return err
		}
		fmt.Println(host.Values()[:3])
		if err := add.Update(exec, kernrt.Grid1D(1), &addArgs{x.Ptr(), tens.Ptr(), x.Ptr(), n}); err != nil {
			return err
		}
	}
	return nil
}
