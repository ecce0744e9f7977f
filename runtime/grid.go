package kernrt

import "fmt"

// Grid is how many programs of a kernel a launch runs, in up to three
// dimensions: what Triton's kernel[grid] takes. A kernel whose CTAs form
// clusters runs one cluster a program. Grid1D, Grid2D and Grid3D make one; the
// zero Grid stands for the one that the kernel declares, and is refused where it
// declares none. A dimension of 0 makes a launch that does nothing and
// succeeds; a negative one is an error of the launch.
type Grid struct {
	x, y, z  int
	set      bool
	resident bool // as many in x as the device runs at once
}

// Grid1D is a grid of x programs.
func Grid1D(x int) Grid { return Grid{x: x, y: 1, z: 1, set: true} }

// Grid2D is a grid of x by y programs.
func Grid2D(x, y int) Grid { return Grid{x: x, y: y, z: 1, set: true} }

// Grid3D is a grid of x by y by z programs.
func Grid3D(x, y, z int) Grid { return Grid{x: x, y: y, z: z, set: true} }

// ResidentGrid is a one-dimensional grid of as many programs as the device runs at
// once of what is launched: for kernels that share work out among however many
// programs there are, and the largest grid of a cooperative one. See OccupancyOf
// for how many that is.
func ResidentGrid() Grid { return Grid{x: 1, y: 1, z: 1, set: true, resident: true} }

// String is the grid as Triton writes it: "(128, 1, 1)".
func (g Grid) String() string {
	if g.resident {
		return "(as many as run at once)"
	}
	return fmt.Sprintf("(%d, %d, %d)", g.x, g.y, g.z)
}

// check takes a grid that runs nothing apart: a dimension of zero is right, one
// that is negative or was never set is not.
func (g Grid) check() error {
	switch {
	case !g.set:
		return faultf(ErrArgument, "the grid is not set; make it with Grid1D, Grid2D or Grid3D")
	case g.x < 0 || g.y < 0 || g.z < 0:
		return faultf(ErrArgument, "the grid has a negative dimension")
	}
	return nil
}

// Cdiv is a divided by b, rounded up: how many blocks of b cover a elements. As
// in Triton, neither is negative; b is not 0.
func Cdiv[T int | int32 | int64](a, b T) T {
	n := a / b
	if a%b != 0 {
		n++
	}
	return n
}
