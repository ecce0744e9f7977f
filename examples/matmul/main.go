// Command matmul multiplies two matrices of half precision on a GPU and checks
// some elements of the product.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/kerngen/kerngen/generated/matmul"
	kernrt "github.com/kerngen/kerngen/runtime"
	"github.com/kerngen/kerngen/runtime/sim"
)

// C (m x n) = A (m x k) B (k x n), in row-major order.
const m, n, k = 768, 1024, 512

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "matmul:", err)
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
	a, err := matrix(stream, m, k, elementA)
	if err != nil {
		return err
	}
	b, err := matrix(stream, k, n, elementB)
	if err != nil {
		return err
	}
	c, err := kernrt.Alloc[kernrt.Float16](device, m*n)
	if err != nil {
		return err
	}

	// Strides are in elements: from row to row, then from column to column. Columns
	// must be contiguous and sizes multiples of 16, or the launch is refused;
	// LaunchMatmulStrided takes any. The grid follows from the sizes and the tile of
	// the configuration that is launched, the first of matmul.MatmulConfigs.
	err = matmul.LaunchMatmul(stream, a.Ptr(), b.Ptr(), c.Ptr(), m, n, k, k, 1, n, 1, n, 1)
	if err != nil {
		return err
	}
	product := make([]kernrt.Float16, m*n)
	if err := c.CopyTo(stream, product); err != nil {
		return err
	}

	for _, at := range [][2]int{{0, 0}, {1, 2}, {m / 2, n / 3}, {m - 1, 0}, {m - 1, n - 1}} {
		i, j := at[0], at[1]
		var want float32
		for l := range k {
			want += elementA(i, l) * elementB(l, j)
		}
		if got := product[i*n+j].Float32(); got != want {
			return fmt.Errorf("row %d, column %d is %v, want %v", i, j, got, want)
		}
	}
	fmt.Printf("%v multiplied %d x %d by %d x %d: the elements that were checked are right.\n", device, m, k, k, n)
	return nil
}

// The elements are small whole numbers, so that sums are exact in half precision.
func elementA(row, col int) float32 { return float32((row+2*col)%5 - 1) }
func elementB(row, col int) float32 { return float32((3*row+col)%4 - 1) }

// matrix makes a matrix on the stream's device.
func matrix(stream *kernrt.Stream, rows, cols int, element func(row, col int) float32) (*kernrt.Buffer[kernrt.Float16], error) {
	values := make([]kernrt.Float16, rows*cols)
	for i := range values {
		values[i] = kernrt.NewFloat16(element(i/cols, i%cols))
	}
	buffer, err := kernrt.Alloc[kernrt.Float16](stream.Device(), len(values))
	if err != nil {
		return nil, err
	}
	return buffer, buffer.CopyFrom(stream, values)
}
