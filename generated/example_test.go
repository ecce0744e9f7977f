package generated_test

import (
	"fmt"

	"github.com/kerngen/kerngen/generated/cooperative"
	"github.com/kerngen/kerngen/generated/tensor"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// onSimulated runs an example on a simulated device; on a GPU all is the same but
// for the Open.
func onSimulated(do func(*kernrt.Device, *kernrt.Stream) error) {
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

// A kernel that takes tensor descriptors copies a part of a matrix, whose rows are
// padded; what lies outside that part reads as zero.
func Example_tensorDescriptors() {
	const rows, columns, pitch = 2, 8, 12
	onSimulated(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		values := make([]float32, rows*pitch)
		for i := range values {
			values[i] = float32(i)
		}
		matrix, err := kernrt.Upload(stream, values)
		if err != nil {
			return err
		}
		out, err := kernrt.Alloc[float32](dev, rows*columns)
		if err != nil {
			return err
		}
		x := kernrt.NewTensorDesc(matrix.Ptr(), rows, columns).WithStrides(pitch, 1)
		y := kernrt.NewTensorDesc(out.Ptr(), rows, columns)
		if err := tensor.LaunchCopy2(stream, kernrt.Grid2D(1, 1), x, y, 1, 4); err != nil {
			return err
		}
		moved, err := out.Download(stream)
		if err != nil {
			return err
		}
		fmt.Println(moved[:columns])
		fmt.Println(moved[columns:])
		return nil
	})
	// Output:
	// [16 17 18 19 0 0 0 0]
	// [0 0 0 0 0 0 0 0]
}

// A cooperative kernel's programs wait for one another, so all of them must run at
// once: the occupancy says how many may.
func Example_cooperativeGrid() {
	onSimulated(func(dev *kernrt.Device, stream *kernrt.Stream) error {
		x, err := kernrt.Upload(stream, []float32{1, 2, 5})
		if err != nil {
			return err
		}
		partial, err := kernrt.Alloc[float32](dev, cooperative.NormalizeMaxPrograms)
		if err != nil {
			return err
		}
		arrived, err := kernrt.Upload(stream, []int64{0})
		if err != nil {
			return err
		}
		normalize := cooperative.Kernels()[0]
		occupancy, err := kernrt.OccupancyOf(normalize, dev, &cooperative.NormalizeArgs{
			XPtr: x.Ptr(), OutPtr: x.Ptr(), PartialPtr: partial.Ptr(), ArrivedPtr: arrived.Ptr(), N: 3,
		})
		if err != nil {
			return err
		}
		launch := func(programs int) error {
			return cooperative.LaunchNormalize(stream, kernrt.Grid1D(programs), x.Ptr(), x.Ptr(), partial.Ptr(), arrived.Ptr(), 3)
		}
		if err := launch(occupancy.Programs + 1); err == nil {
			fmt.Println("a grid that is too large is not refused")
		}
		if err := launch(2); err != nil {
			return err
		}
		shares, err := x.Download(stream)
		fmt.Println(shares)
		return err
	})
	// Output:
	// [0.125 0.25 0.625]
}
